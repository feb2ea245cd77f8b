import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { canonicalJson, parseStrictJson } from '#core/json.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import { type Bucket, totalOf } from '#core/usage/bucket.ts'
import {
  type DayToSend,
  openUpload,
  readUpload,
  releaseAt,
  splitDays,
  toWire,
  type UsageBucket,
  UsageUpload,
} from '#core/usage/upload.ts'
import { PROSE, type Schema, textsOf } from '#test/support/schema-texts.ts'
import { crypto, signAs, testKey } from '#test/support/trust.ts'

/** Fields whose pattern a made-up word could fit, each with who sets it. */
const NAMED: Record<string, string> = {
  'usage.org': 'made by the control plane',
  'usage.machine': 'made by the control plane',
  'usage.days[].buckets[].model': 'the provider’s id of a model, as the client recorded it',
  'usage.days[].buckets[].tags.key': 'the organisation’s list',
  'usage.days[].buckets[].tags.value': 'the organisation’s list',
  'usage.days[].unlisted.key': 'the organisation’s list',
}

/** What a machine had before it wrote it down. */
const ledgered = ({ cost, ...rest }: UsageBucket): Bucket => ({ ...rest, picoUsd: parseDecimal(cost)! })

const bucket: UsageBucket = {
  quarter: 95,
  client: 'claude-code',
  provider: 'anthropic',
  model: 'claude-opus-5-5',
  long: false,
  tags: { tenant: 'acme', project: 'billing-api' },
  covered: 'metered',
  rate: 'card',
  calls: 2,
  partial: 0,
  tokens: { ...NO_TOKENS, input: 6, output: 2745 },
  cost: '0.068655',
}
const upload = (over: Partial<UsageUpload> = {}): UsageUpload => ({
  v: 1,
  org: 'org_aaaaaaaaaaaaaaaa',
  machine: 'mac_aaaaaaaaaaaaaaaa',
  seq: 1,
  at: '2026-12-01T00:00:00Z',
  days: [{ day: '2026-11-30', computedAt: '2026-12-01T00:00:00Z', buckets: [bucket], unlisted: { team: '0.5' } }],
  ...over,
})
const withBucket = (over: object) =>
  upload({ days: [{ day: '2026-11-30', computedAt: '2026-12-01T00:00:00Z', buckets: [{ ...bucket, ...over }] }] })

describe('no field of an upload', () => {
  const texts = textsOf(UsageUpload as unknown as Schema, 'usage')

  test('can carry free text', () => {
    expect(texts.length).toBeGreaterThan(8)
    for (const { path, schema } of texts) {
      const words = NAMED[path] === undefined ? PROSE : PROSE.filter(text => /[\s\\"]|^\//.test(text))
      for (const text of words) expect(schema.safeParse(text).success, `${path} takes ${text}`).toBe(false)
    }
  })

  test('takes even one made-up word, unless it is known here who sets it', () => {
    for (const { path, schema } of texts)
      for (const word of ['delete', 'opus4', 'org_aaaaaaaaaaaaaaaa', 'mac_aaaaaaaaaaaaaaaa'])
        if (schema.safeParse(word).success) expect(Object.keys(NAMED), path).toContain(path)
  })

  test('takes a text with white space, whatever it is', () => {
    const part = fc.string({ minLength: 1 })
    for (const { schema } of texts)
      fc.assert(
        fc.property(part, part, (a, b) => !schema.safeParse(`${a} ${b}`).success),
        { numRuns: 50 },
      )
  })

  test('may be one that nobody knows, at any level', () => {
    const bucketIn = { ...bucket, note: 'x' }
    const tokensIn = { ...bucket, tokens: { ...bucket.tokens, reasoning: 1 } }
    expect(() => readUpload({ ...upload(), note: 'x' })).toThrow('its top level (unrecognized_keys)')
    for (const b of [bucketIn, tokensIn])
      expect(() => readUpload(withBucket(b))).toThrow(/at days\[0\].buckets\[0\](.tokens)? \(unrecognized_keys\)/)
  })
})

test('what is sent is what is read, byte for byte', () => {
  const text = canonicalJson(upload())
  expect(canonicalJson(readUpload(parseStrictJson(text)))).toBe(text)
})

test.each([
  ['quarter', { quarter: 96 }],
  ['quarter', { quarter: -1 }],
  ['model', { model: 'a b' }],
  ['model', { model: 'x'.repeat(101) }],
  ['provider', { provider: 'nobody' }],
  ['client', { client: 'nobody' }],
  ['rate', { rate: 'guess' }],
  ['covered', { covered: 'maybe' }],
  ['calls', { calls: 0.5 }],
  ['cost', { cost: '-1' }],
  ['cost', { cost: '1.50' }],
  ['cost', { cost: '1e3' }],
  ['cost', { cost: '0.0000000000001' }],
  ['tokens.input', { tokens: { ...NO_TOKENS, input: -1 } }],
  ['tokens.output', { tokens: { ...NO_TOKENS, output: 100_000_000_001 } }],
  ['tags.tenant', { tags: { tenant: 'Acme Corp' } }],
])('a bucket with a wrong %s is refused with its place', (place, over) => {
  expect(() => readUpload(withBucket(over))).toThrow(`days[0].buckets[0].${place}`)
})

describe('an upload is opened', () => {
  const key = testKey()
  const open = (jws: string, keys = [key.key]) => openUpload(jws, keys, crypto)

  test('under the key of its machine, and no other', () => {
    const jws = signAs(key, 'holdpoint-usage+jws', upload())
    expect(open(jws)).toEqual(upload())
    expect(() => open(jws, [testKey().key])).toThrow()
    expect(() => open(signAs(key, 'holdpoint-report+jws', upload()))).toThrow()
    expect(() => open(signAs(key, 'holdpoint-usage+jws', { ...upload(), note: 'x' }))).toThrow('does not fit')
  })

  test('unless it is too large to be looked at', () => {
    expect(() => open('x'.repeat(4 * 1024 * 1024 + 1))).toThrow('larger than 4 MiB')
  })
})

test('a refusal never repeats what stood there', () => {
  const secret = 'the merger with acme'
  for (const over of [{ model: secret }, { [secret]: 1 }, { tags: { [secret]: 'x' } }])
    try {
      readUpload(withBucket(over))
      expect.unreachable()
    } catch (error) {
      expect((error as Error).message).not.toContain('merger')
    }
})

test.each([
  ['one key twice', [bucket, { ...bucket, calls: 1 }], 'the key of a bucket above'],
  [
    'one key twice with its tags in another order',
    [bucket, { ...bucket, tags: { project: 'billing-api', tenant: 'acme' } }],
    'above',
  ],
  ['no call', [{ ...bucket, calls: 0 }], 'has no call'],
  ['more broken calls than calls', [{ ...bucket, partial: 3 }], 'more calls that broke off'],
])('a day with %s is refused', (_what, buckets, message) => {
  const days = [{ day: '2026-11-30', computedAt: '2026-12-01T00:00:00Z', buckets }]
  expect(() => readUpload(upload({ days }))).toThrow(message)
})

test('a day stands once in an upload, and there are at most 40', () => {
  const day = (i: number) => ({
    day: new Date(i * 86_400_000).toISOString().slice(0, 10),
    computedAt: upload().at,
    buckets: [],
  })
  expect(() => readUpload(upload({ days: [day(1), day(1)] }))).toThrow('days[1] is a day that stands above')
  expect(readUpload(upload({ days: Array.from({ length: 40 }, (_, i) => day(i)) })).days).toHaveLength(40)
  expect(() => readUpload(upload({ days: Array.from({ length: 41 }, (_, i) => day(i)) }))).toThrow('days')
})

test('a day is taken ten minutes before the latest of its computing, its start and its quarter hours', () => {
  const at = (day: string, computedAt: string, quarters: number[] = []) =>
    new Date(releaseAt({ day, computedAt, buckets: quarters.map(quarter => ({ ...bucket, quarter })) })).toISOString()
  expect(at('2026-11-30', '2026-11-30T23:55:00.001Z')).toBe('2026-11-30T23:45:00.001Z')
  expect(at('2026-12-01', '2026-11-30T23:45:00Z')).toBe('2026-11-30T23:50:00.000Z')
  expect(at('2026-11-30', '2026-11-30T10:00:00Z', [40, 41, 3])).toBe('2026-11-30T10:05:00.000Z')
  expect(at('2026-11-30', '2026-11-30T10:30:00Z', [40, 41, 3])).toBe('2026-11-30T10:20:00.000Z')
})

describe('days are split over uploads', () => {
  const full = (day: string, buckets: number): DayToSend => ({
    day,
    computedAt: '2026-12-01T00:00:00Z',
    buckets: Array.from(
      { length: buckets },
      (_, i): Bucket => ({ ...ledgered(bucket), quarter: i % 96, model: `m${i}` }),
    ),
  })
  const limits = { buckets: 100, days: 3, bytes: 1_000_000 }

  test('whole, in order, within every limit', () => {
    const days = [full('2026-11-03', 60), full('2026-11-01', 60), full('2026-11-02', 40), full('2026-11-04', 10)]
    const parts = splitDays(days, limits)
    expect(parts.map(part => part.map(({ day, buckets }) => `${day} ${buckets.length}`))).toEqual([
      ['2026-11-01 60', '2026-11-02 40'],
      ['2026-11-03 60', '2026-11-04 10'],
    ])
    expect(splitDays(days.slice(0, 2), { ...limits, buckets: 1000, bytes: 30_000 })).toHaveLength(2)
    expect(splitDays([full('2026-11-01', 1), full('2026-11-02', 1)], { ...limits, days: 1 })).toHaveLength(2)
    expect(splitDays([])).toEqual([])
  })

  test('and one that is too large is coarser, not lost', () => {
    const day = { ...full('2026-11-01', 0), buckets: full('', 300).buckets.map(b => ({ ...b, model: 'm' })) }
    const whole = totalOf(day.buckets)
    for (const [buckets, left] of [
      [300, 300],
      [90, 24],
      [2, 1],
    ] as const) {
      const part = splitDays([day], { ...limits, buckets })[0]![0]!
      expect(part.buckets).toHaveLength(left)
      expect(totalOf(part.buckets.map(ledgered))).toEqual(whole)
    }
  })
})

test('a bucket goes to the wire and back unchanged', () => {
  expect(toWire(ledgered(bucket))).toEqual(bucket)
})
