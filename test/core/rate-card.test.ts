import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DEFAULT_UNPRICED,
  NO_TOKENS,
  PRICE_AXES,
  picoToUsd,
  priceBucket,
  priceCall,
  type RateEntry,
  type RateFigures,
  type RateRow,
  type UsageTokens,
} from '#core/pricing.ts'
import { builtInRates, RATE_CARD } from '#core/rate-card/built-in.ts'
import { compileRates } from '#core/rate-card/compile.ts'
import { nearMiss } from '#core/rate-card/near-miss.ts'
import { anyTokens } from './usage/any-usage.ts'

const row = (id: string, entries: RateEntry[], more: Partial<RateRow> = {}): RateRow => ({
  provider: 'anthropic',
  id,
  entries,
  ...more,
})
const at = (day: string) => Date.parse(`${day}T12:00:00Z`)
const million = { ...NO_TOKENS, input: 1_000_000 }
const card = {
  name: 'card',
  rows: [
    row(
      'm',
      [
        { from: '2026-01-01', input: '10', output: '10' },
        { from: '2026-06-01', input: '8', output: '8' },
      ],
      { aliases: ['m-latest'] },
    ),
    row('n', [{ input: '3', output: '15' }]),
  ],
}
const withOverrides = (...rows: RateRow[]) => compileRates(card, DEFAULT_UNPRICED, { name: 'org', rows })
const priceOn = (rates: ReturnType<typeof withOverrides>, model: string, day: string) => {
  const { picoUsd, rate } = priceCall(rates, { model, atMs: at(day), tokens: million })
  // the same for the whole day, from its first moment
  expect(priceBucket(rates, { model, day, long: false, tokens: million })).toMatchObject({ picoUsd, rate })
  return `${picoToUsd(picoUsd)} ${rate}`
}

describe("an organisation's price", () => {
  test('that ends gives way to what the card says by then, and to nothing where the card has no such model', () => {
    const ends = [{ from: '2026-03-01', until: '2026-05-01', input: '7', output: '7' }]
    const days = ['2026-02-28', '2026-03-01', '2026-04-30', '2026-05-01', '2026-06-01']
    const rates = withOverrides(row('m', ends), row('own', ends))
    expect(days.map(day => priceOn(rates, 'm', day))).toEqual([
      '10 card',
      '7 override',
      '7 override',
      '10 card',
      '8 card',
    ])
    expect(days.map(day => priceOn(rates, 'own', day).split(' ')[1])).toEqual([
      'fallback',
      'override',
      'override',
      'fallback',
      'fallback',
    ])
    const again = { from: '2026-07-01', input: '6', output: '6' }
    const twice = withOverrides(row('m', [...ends, again]), row('own', [...ends, again]))
    expect(['2026-06-30', '2026-07-01', '2027-07-01'].map(day => priceOn(twice, 'm', day))).toEqual([
      '8 card',
      '6 override',
      '6 override',
    ])
    expect(priceOn(twice, 'own', '2026-07-01')).toBe('6 override')
    const overlap = { from: '2026-04-30', input: '6', output: '6' }
    expect(() => withOverrides(row('m', [...ends, overlap]))).toThrow('two prices from 2026-04-30')
  })

  test('holds from its day on; before it the card holds, with the dates of the card', () => {
    const rates = withOverrides(row('m', [{ from: '2026-03-01', input: '7', output: '7' }]))
    expect(['2025-12-31', '2026-02-28', '2026-03-01', '2026-07-01'].map(day => priceOn(rates, 'm', day))).toEqual([
      '10 card',
      '10 card',
      '7 override',
      '7 override',
    ])
  })

  test('that begins before the card does leaves what was before it', () => {
    const rates = withOverrides(row('m', [{ from: '2025-06-01', input: '7', output: '7' }]))
    expect([priceOn(rates, 'm', '2025-05-31'), priceOn(rates, 'm', '2025-06-01')]).toEqual(['10 card', '7 override'])
  })

  test('that changes again is one line for each day, in any order', () => {
    const lines = [
      row('n', [{ from: '2026-05-01', input: '2', output: '2' }]),
      row('n', [{ from: '2026-04-01', input: '1', output: '1' }]),
    ]
    for (const rates of [withOverrides(...lines), withOverrides(...lines.reverse())])
      expect(['2026-03-31', '2026-04-01', '2026-05-01'].map(day => priceOn(rates, 'n', day))).toEqual([
        '3 card',
        '1 override',
        '2 override',
      ])
  })

  test('counts under every name that the card has for the model, save one that another line prices, in any order', () => {
    const whole = row('m', [{ input: '7', output: '7' }])
    const alias = row('m-latest', [{ from: '2026-05-01', input: '6', output: '6' }])
    expect(priceOn(withOverrides(whole), 'm-latest', '2026-03-01')).toBe('7 override')
    for (const rates of [withOverrides(whole, alias), withOverrides(alias, whole)])
      expect([
        priceOn(rates, 'm', '2026-03-01'),
        priceOn(rates, 'm-latest', '2026-03-01'),
        priceOn(rates, 'm-latest', '2026-05-01'),
      ]).toEqual(['7 override', '10 card', '6 override'])
  })

  test('the bound has an axis from models that have a price on it, and not from what stands in for one that has none', () => {
    const cards = (...rows: RateRow[]) => compileRates({ name: 'c', rows }, DEFAULT_UNPRICED).bound
    const old = row('old', [{ input: '8', output: '24' }])
    const cached = row('cached', [{ input: '5', output: '25', cacheRead: '0.5' }])
    expect(cards(old, cached).setBy).toEqual({
      input: 'old',
      output: 'cached',
      cacheRead: 'cached',
      cacheWrite5m: 'old',
      cacheWrite1h: 'old',
      webSearches: 'old',
    })
    expect(cards(old, cached).rates).toMatchObject({ cacheRead: 500_000n, cacheWrite5m: 8_000_000n })
    expect(cards(old).rates.cacheRead).toBe(8_000_000n)
    expect(picoToUsd(builtInRates().bound.rates.cacheRead * 1_000_000n)).toBe('1.5')
  })

  test('of a model of its own is none before its day: the bound holds', () => {
    const rates = withOverrides(row('own', [{ from: '2026-03-01', input: '1', output: '1' }], { aliases: ['alias'] }))
    expect(priceOn(rates, 'own', '2026-02-28')).toBe('10 fallback')
    expect([priceOn(rates, 'own', '2026-03-01'), priceOn(rates, 'alias', '2026-03-01')]).toEqual([
      '1 override',
      '1 override',
    ])
  })

  test.each([
    [
      'two prices from one day',
      [
        row('n', [
          { from: '2026-04-01', input: '1', output: '1' },
          { from: '2026-04-01', input: '2', output: '2' },
        ]),
      ],
      'two prices from 2026-04-01',
    ],
    [
      'two prices from one day in two lines',
      [row('n', [{ input: '1', output: '1' }]), row('n', [{ input: '2', output: '2' }])],
      'two prices from the beginning',
    ],
    [
      'one id for two models',
      [row('a', [{ input: '1', output: '1' }], { aliases: ['b'] }), row('b', [{ input: '2', output: '2' }])],
      'b stands for two models',
    ],
    ['no day', [row('n', [{ from: '2026-13-01', input: '1', output: '1' }])], 'bad date'],
    ['no output price', [row('n', [{ input: '1' }])], 'no output price'],
  ])('with %s is refused', (_what, rows, message) => {
    expect(() => withOverrides(...rows)).toThrow(message)
  })

  test('is never that of another provider under the same id', () => {
    const rates = withOverrides(row('n', [{ input: '1', output: '1' }], { provider: 'openai' }))
    expect(priceCall(rates, { model: 'n', provider: 'anthropic', atMs: 0, tokens: million }).rate).toBe('card')
    expect(priceCall(rates, { model: 'n', provider: 'openai', atMs: 0, tokens: million }).rate).toBe('override')
  })
})

test('the dated prices of a call are named, so that a row can say what it was priced by', () => {
  const rates = withOverrides(row('m', [{ from: '2026-03-01', input: '7', output: '7' }]))
  const entry = (day: string, model = 'm') => priceCall(rates, { model, atMs: at(day), tokens: million }).entry
  expect([entry('2026-02-01'), entry('2026-03-01'), entry('2026-03-01', 'nobody')]).toEqual([
    'card:anthropic/m@2026-01-01',
    'override:anthropic/m@2026-03-01',
    undefined,
  ])
})

describe('a bucket', () => {
  test('costs what its calls cost one by one, whatever their sizes', () => {
    const rates = builtInRates()
    const models = [...rates.byId.keys()].filter(id => rates.byId.get(id)![0]!.entries.some(e => e.long))
    expect(models.length).toBeGreaterThan(10)
    fc.assert(
      fc.property(
        fc.constantFrom(...models, 'nobody'),
        fc.array(anyTokens, { minLength: 1, maxLength: 12 }),
        (model, calls) => {
          const day = '2026-11-29'
          for (const long of [true, false]) {
            const some = calls.filter(tokens => priceCall(rates, { model, atMs: at(day), tokens }).long === long)
            const sum = Object.fromEntries(
              PRICE_AXES.map(axis => [axis, some.reduce((n, tokens) => n + tokens[axis], 0)]),
            ) as UsageTokens
            const each = some.reduce((n, tokens) => n + priceCall(rates, { model, atMs: at(day), tokens }).picoUsd, 0n)
            expect(priceBucket(rates, { model, day, long, tokens: sum }).picoUsd).toBe(each)
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  test('is long above the threshold, not at it; a model without one is never', () => {
    const rates = compileRates(
      {
        name: 'c',
        rows: [row('l', [{ input: '3', output: '15', long: { above: 200_000, input: '6', output: '22.5' } }])],
      },
      DEFAULT_UNPRICED,
    )
    const long = (model: string, input: number) =>
      priceCall(rates, { model, atMs: 0, tokens: { ...NO_TOKENS, input, cacheRead: 100_000 } }).long
    expect([long('l', 100_000), long('l', 100_001), long('nobody', 10_000_000)]).toEqual([false, true, false])
  })
})

test('every price that a card can hold is read: another value is another cost', () => {
  const base: Record<keyof RateFigures, string> = {
    input: '1',
    output: '1',
    cacheRead: '1',
    cacheWrite5m: '1',
    cacheWrite1h: '1',
    webSearches: '1',
  }
  const tokens = Object.fromEntries(PRICE_AXES.map(axis => [axis, 7])) as UsageTokens
  const cost = (entry: RateEntry) =>
    priceCall(compileRates({ name: 'c', rows: [row('m', [entry])] }, DEFAULT_UNPRICED), { model: 'm', atMs: 0, tokens })
      .picoUsd
  const small = cost({ ...base, long: { above: 1000, ...base } })
  const large = cost({ ...base, long: { above: 1, ...base } })
  for (const axis of PRICE_AXES) {
    expect(cost({ ...base, [axis]: '2', long: { above: 1000, ...base } }), axis).not.toBe(small)
    expect(cost({ ...base, long: { above: 1, ...base, [axis]: '2' } }), `long ${axis}`).not.toBe(large)
  }
  // and the shipped file holds no field that nobody reads
  const known = new Set<string>([
    ...PRICE_AXES,
    'from',
    'long',
    'above',
    'provider',
    'id',
    'aliases',
    'chat',
    'entries',
  ])
  const { rows } = JSON.parse(readFileSync('core/rate-card/prices.json', 'utf8')) as { rows: object[] }
  const keys = new Set<string>()
  JSON.stringify(rows, (key, value) => {
    if (/[a-z]/i.test(key)) keys.add(key)
    return value
  })
  expect([...keys].filter(key => !known.has(key))).toEqual([])
})

describe('a near miss is said and never priced', () => {
  const rates = builtInRates()
  test.each([
    ['claude-opus-4.1', 'claude-opus-4-1'],
    ['claude-4-1-opus', 'claude-opus-4-1'],
    ['Claude_Opus_5_5', 'claude-opus-5-5'],
    ['anthropic/claude-opus-4.1', 'claude-opus-4-1'],
    ['claude-opsu-5-5', 'claude-opus-5-5'],
    ['gpt5.5', 'gpt-5.5'],
  ])('%s', (model, meant) => {
    expect(nearMiss(rates, model)).toBe(meant)
    expect(priceCall(rates, { model, atMs: 0, tokens: million }).rate).toBe('fallback')
  })

  test('another number is another model', () => {
    expect(nearMiss(rates, 'claude-haiku-9-9')).toBeUndefined()
    expect(nearMiss(rates, 'our-own-model')).toBeUndefined()
  })
})

test('each row of the shipped card is found by its own id and provider', () => {
  const rates = builtInRates()
  for (const { provider, id } of RATE_CARD.rows)
    expect(priceCall(rates, { model: id, provider, atMs: 0, tokens: million }).pricedAs, id).toEqual([id])
})

test('an id that was ever priced still is: a refresh of the card takes no model away from usage of before', () => {
  const rates = builtInRates()
  const ids = readFileSync(new URL('./ids-ever-priced.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
  expect(ids.length).toBeGreaterThan(400)
  const gone = ids.filter(id => {
    const [provider = '', ...model] = id.split('/')
    return priceCall(rates, { model: model.join('/'), provider, atMs: 0, tokens: million }).rate === 'fallback'
  })
  expect(gone).toEqual([])
  const listed = RATE_CARD.rows.flatMap(({ provider, id, aliases = [] }) =>
    [id, ...aliases].map(one => `${provider}/${one}`),
  )
  // what a refresh brings is written down with it
  expect(listed.filter(id => !ids.includes(id))).toEqual([])
})
