import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utcDay } from '#core/day.ts'
import { NO_TOKENS, picoToUsd, priceBucket, priceCall } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import {
  amountOf,
  areSound,
  type Bucket,
  bucketsByDay,
  coarsen,
  mergeBuckets,
  type PricedMeteredCall,
  quarterOf,
  quarterStart,
  totalOf,
  uniqueCalls,
} from '#core/usage/bucket.ts'
import { fromInclusive, splitWrites } from '#core/usage/convention.ts'
import { priceMetered, type UnpricedCall } from '#core/usage/price-metered.ts'
import { readUpload, toWire } from '#core/usage/upload.ts'
import { anyCall, DAY, ONE } from './any-usage.ts'

const rates = builtInRates()
const call = (over: Partial<UnpricedCall>): UnpricedCall => ({
  key: 'msg_1',
  client: 'claude-code',
  model: 'claude-opus-5-5',
  atMs: DAY,
  tokens: ONE,
  tags: {},
  covered: 'metered',
  ...over,
})
const priced = (calls: UnpricedCall[]): PricedMeteredCall[] => calls.map(c => priceMetered(rates, c))
const buckets = (calls: UnpricedCall[]): Bucket[] => [...bucketsByDay(priced(calls)).values()].flat()

describe('one call is counted once', () => {
  test('three rows of one message are one call, two messages that are alike are two', () => {
    const once = uniqueCalls([call({}), call({}), call({}), call({ key: 'msg_2', atMs: DAY + 13 })])
    expect(totalOf(buckets(once))).toMatchObject({ calls: 2, tokens: { ...ONE, input: 2 } })
  })

  test('of a stream that was written as it grew the largest counts stand, at its first moment', () => {
    const first = call({ tokens: { ...ONE, output: 5 }, partial: true })
    const last = call({ tokens: { ...ONE, output: 900 }, atMs: DAY + 60_000 })
    expect(uniqueCalls([first, last])).toEqual([{ ...first, tokens: { ...ONE, output: 900 }, partial: false }])
    expect(uniqueCalls([first, first])).toEqual([first])
  })

  test('reading the same files again, in any order, changes nothing', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 30 }), calls => {
        const once = uniqueCalls(calls)
        expect(new Set(once.map(c => c.key)).size).toBe(once.length)
        expect(uniqueCalls([...once, ...once])).toEqual(once)
        const sums = (list: UnpricedCall[]) => new Map(list.map(c => [c.key, c.tokens]))
        expect(sums(uniqueCalls([...calls].reverse()))).toEqual(sums(once))
      }),
      { numRuns: 50 },
    )
  })
})

describe('buckets', () => {
  test('lose no call and no token, and cost what the calls cost one by one', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 40 }), calls => {
        const each = priced(calls)
        const all = [...bucketsByDay(each)]
        const total = totalOf(all.flatMap(([, list]) => list))
        expect(total).toEqual(totalOf(each.map(c => ({ ...c, calls: 1, partial: c.partial ? 1 : 0 }))))
        for (const [day, list] of all)
          for (const bucket of list)
            expect(priceBucket(rates, { ...bucket, day })).toMatchObject({ picoUsd: bucket.picoUsd, rate: bucket.rate })
      }),
      { numRuns: 60 },
    )
  })

  test('of the same calls are the same bytes, in whatever order they were read', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 20 }), calls => {
        expect(buckets([...calls].reverse())).toEqual(buckets(calls))
      }),
      { numRuns: 30 },
    )
  })

  test('fit the upload, and a quarter hour belongs to the UTC day of the call', () => {
    const list = buckets([call({ model: 'a model', atMs: Date.parse('2026-11-29T23:59:59.999Z') }), call({})])
    expect(list.map(b => [b.quarter, b.model, b.rate])).toEqual([
      [0, 'claude-opus-5-5', 'card'],
      [95, 'unknown', 'fallback'],
    ])
    const days = [{ day: '2026-11-29', computedAt: '2026-11-30T00:00:00Z', buckets: list.map(toWire) }]
    const head = {
      v: 1,
      org: 'org_aaaaaaaaaaaaaaaa',
      machine: 'mac_aaaaaaaaaaaaaaaa',
      seq: 1,
      at: '2026-11-30T00:00:00Z',
    }
    expect(readUpload({ ...head, days }).days).toEqual(days)
  })

  test('merge by key, and coarser ones have the same sum', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 30 }), fc.constantFrom(2, 4, 96), (calls, quarters) => {
        const list = [...(bucketsByDay(priced(calls)).values().next().value ?? [])]
        const twice = mergeBuckets([...list, ...list])
        expect(twice.map(b => b.calls)).toEqual(list.map(b => b.calls * 2))
        expect(totalOf(coarsen(list, quarters))).toEqual(totalOf(list))
        for (const { quarter } of coarsen(list, quarters)) expect(quarter % quarters).toBe(0)
      }),
      { numRuns: 30 },
    )
  })

  test('a moment, its quarter and its day agree, before 1970 too', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 12), max: 4 * 10 ** 12 }), atMs => {
        const start = quarterStart(utcDay(atMs), quarterOf(atMs))
        expect(atMs - start).toBeGreaterThanOrEqual(0)
        expect(atMs - start).toBeLessThan(900_000)
      }),
    )
  })
})

test('plan, metered, unknown and unpriced never stand in one figure', () => {
  const million = { ...ONE, input: 1_000_000 }
  const total = totalOf(
    buckets([
      call({ tokens: million, covered: 'plan' }),
      call({ tokens: million, covered: 'metered' }),
      call({ tokens: million, covered: 'unknown' }),
      call({ tokens: million, covered: 'metered', model: 'nobody-knows' }),
    ]),
  )
  const per = picoToUsd(total.priced.plan)
  expect([per, picoToUsd(amountOf(total.priced, 'billed')), picoToUsd(amountOf(total.priced, 'unknown'))]).toEqual([
    per,
    per,
    per,
  ])
  expect(amountOf(total.priced, 'equivalent')).toBe(3n * total.priced.plan)
  expect(amountOf(total.bound, 'billed')).toBe(rates.bound.rates.input * 1_000_000n)
  expect(total.rates).toEqual({ card: 3, override: 0, fallback: 1, zero: 0, substitute: 0 })
})

describe('counts', () => {
  test('that no call can have are unsound', () => {
    const bad = [-1, 0.5, Number.NaN, 2 ** 53, 100_000_001].map(input => areSound({ ...ONE, input }))
    expect(bad).toEqual([false, false, false, false, false])
    expect(areSound({ ...ONE, input: 100_000_000 })).toBe(true)
  })

  test('that include cached tokens are taken apart once', () => {
    const tokens = fromInclusive({ input: 130_213, cacheRead: 128_955, cacheWrite: 1253, output: 0 })
    expect(tokens).toMatchObject({ input: 5, cacheRead: 128_955, cacheWrite5m: 1253 })
    expect(tokens.input + tokens.cacheRead + tokens.cacheWrite5m).toBe(130_213)
    expect(fromInclusive({ input: 5, cacheRead: 7, output: 0 })).toMatchObject({ input: 5, cacheRead: 7 })
  })

  test('of cache writes without a lifetime are five-minute writes', () => {
    expect(splitWrites(184_457, { fiveMinutes: 0, oneHour: 31_490 })).toEqual({
      cacheWrite5m: 152_967,
      cacheWrite1h: 31_490,
    })
    expect(splitWrites(0, { fiveMinutes: 3, oneHour: 4 })).toEqual({ cacheWrite5m: 3, cacheWrite1h: 4 })
  })
})

test('a sum of calls is priced as small ones, whatever it comes to: how large each was nobody knows', () => {
  const sum = call({ model: 'claude-sonnet-4-5', tokens: { ...NO_TOKENS, input: 1_000_000 } })
  const cost = (isSum: boolean) => {
    const { picoUsd, long } = priceMetered(rates, sum, { isSum })
    return [picoToUsd(picoUsd), long]
  }
  expect([cost(true), cost(false)]).toEqual([
    ['3', false],
    ['6', true],
  ])
})

test('a call is priced by the provider that its client names', () => {
  const tokens = { ...ONE, input: 1_000_000 }
  expect(priceMetered(rates, call({ provider: 'github-copilot', tokens }))).toMatchObject({
    provider: 'other',
    rate: 'card',
  })
  expect(priceMetered(rates, call({ provider: undefined, tokens }))).toMatchObject({
    provider: 'anthropic',
    rate: 'card',
  })
  expect(priceCall(rates, { model: 'claude-opus-5-5', provider: 'openai', atMs: DAY, tokens }).rate).toBe('fallback')
})
