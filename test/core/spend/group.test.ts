import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDecimal } from '#core/decimal.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import {
  type Dimension,
  dimensionValue,
  figureOf,
  groupBy,
  OWN_DIMENSIONS,
  parseDimension,
  type SpendRow,
  topMovers,
} from '#core/spend/group.ts'
import { bucketsByDay, type Covered, type RateKind, totalOf, type UsageTotal } from '#core/usage/bucket.ts'
import { priceMetered } from '#core/usage/price-metered.ts'
import { anyCall } from '../usage/any-usage.ts'

const rates = builtInRates()
const DIMENSIONS: Dimension[] = [...OWN_DIMENSIONS, 'tag:tenant', 'tag:project', 'tag:team', 'tag:nobody']
const anyRows = fc
  .array(fc.tuple(anyCall, fc.constantFrom('mac_a', 'mac_b'), fc.constantFrom('mem_a', undefined)), { maxLength: 40 })
  .map(calls =>
    calls.flatMap(([call, machine, member]) =>
      [...bucketsByDay([priceMetered(rates, call)])].flatMap(([day, list]) =>
        list.map((bucket): SpendRow => ({ ...bucket, day, machine, ...(member ? { member } : {}) })),
      ),
    ),
  )
const anyDimension = fc.constantFrom(...DIMENSIONS)

/** Totals added up. */
function sumOf(totals: readonly UsageTotal[]): UsageTotal {
  const sum = totalOf([])
  for (const total of totals) {
    sum.calls += total.calls
    sum.partial += total.partial
    for (const axis of Object.keys(sum.tokens) as (keyof typeof sum.tokens)[]) sum.tokens[axis] += total.tokens[axis]
    for (const side of ['priced', 'bound'] as const)
      for (const covered of Object.keys(sum.priced) as Covered[]) sum[side][covered] += total[side][covered]
    for (const rate of Object.keys(sum.rates) as RateKind[]) sum.rates[rate] += total.rates[rate]
  }
  return sum
}

describe('totals equal the ledger', () => {
  test('in every grouping', () => {
    fc.assert(
      fc.property(anyRows, anyDimension, (rows, dimension) => {
        const ledger = totalOf(rows)
        const { groups, total } = groupBy(rows, dimension)
        expect(total).toEqual(ledger)
        expect(sumOf(groups.map(group => group.total))).toEqual(ledger)
        expect(new Set(groups.map(group => group.value)).size).toBe(groups.length)
      }),
      { numRuns: 60 },
    )
  })

  test('and drilling down into a group finds that group', () => {
    fc.assert(
      fc.property(anyRows, anyDimension, anyDimension, (rows, first, second) => {
        for (const { value, total } of groupBy(rows, first).groups) {
          const inside = rows.filter(row => dimensionValue(row, first) === value)
          expect(groupBy(inside, second).total).toEqual(total)
        }
      }),
      { numRuns: 30 },
    )
  })
})

const row = (over: Partial<SpendRow> & { usd?: string }): SpendRow => ({
  calls: 1,
  partial: 0,
  tokens: NO_TOKENS,
  picoUsd: parseDecimal(over.usd ?? '1')!,
  rate: 'card',
  covered: 'metered',
  tags: {},
  ...over,
})

test('rows with several tags are counted once under each key, and unattributed is always a row', () => {
  const rows = [
    row({ usd: '3000', tags: { tenant: 'acme', project: 'a', team: 'data' } }),
    row({ usd: '2635', tags: { tenant: 'globex', project: 'a' } }),
  ]
  const amounts = (dimension: Dimension) =>
    groupBy(rows, dimension).groups.map(({ value, total }) => [value, Number(total.priced.metered / 10n ** 12n)])
  expect(amounts('tag:tenant')).toEqual([
    ['acme', 3000],
    ['globex', 2635],
    [undefined, 0],
  ])
  expect(amounts('tag:project')).toEqual([
    ['a', 5635],
    [undefined, 0],
  ])
  expect(amounts('tag:team')).toEqual([
    ['data', 3000],
    [undefined, 2635],
  ])
})

test('what is unpriced, and what nobody knows the cover of, stands beside the amount', () => {
  const rows = [
    row({ usd: '1', covered: 'metered' }),
    row({ usd: '2', covered: 'plan' }),
    row({ usd: '4', covered: 'unknown' }),
    row({ usd: '8', covered: 'metered', rate: 'fallback' }),
    row({ usd: '16', covered: 'plan', rate: 'fallback' }),
    row({ usd: '32', covered: 'unknown', rate: 'fallback' }),
    row({ usd: '0', covered: 'metered', rate: 'zero' }),
  ]
  const whole = (figure: object) => Object.values(figure).map(pico => Number(pico / 10n ** 12n))
  const { total } = groupBy(rows, 'client')
  expect(whole(figureOf(total, 'equivalent'))).toEqual([7, 56, 0, 0])
  expect(whole(figureOf(total, 'billed'))).toEqual([1, 8, 4, 32])
  expect(total.rates).toMatchObject({ fallback: 3, zero: 1 })
})

test('days stand in their order, all else the dearest first, what has no value last', () => {
  const rows = [
    row({ usd: '1', day: '2026-11-02', model: 'b' }),
    row({ usd: '5', day: '2026-11-03', model: 'a' }),
    row({ usd: '5', day: '2026-10-30', model: 'c' }),
    row({ usd: '9' }),
  ]
  const values = (dimension: Dimension) => groupBy(rows, dimension).groups.map(group => group.value)
  expect(values('day')).toEqual(['2026-10-30', '2026-11-02', '2026-11-03', undefined])
  expect(values('month')).toEqual(['2026-10', '2026-11', undefined])
  expect(values('model')).toEqual(['a', 'c', 'b', undefined])
})

test('the top movers are those that moved most, up or down', () => {
  const before = groupBy(
    [row({ usd: '10', model: 'a' }), row({ usd: '5', model: 'b' }), row({ usd: '1', model: 'c' })],
    'model',
  )
  const after = groupBy(
    [
      row({ usd: '2', model: 'a' }),
      row({ usd: '8', model: 'b' }),
      row({ usd: '1', model: 'c' }),
      row({ usd: '4', model: 'd' }),
    ],
    'model',
  )
  expect(topMovers(before, after, 'equivalent').map(mover => mover.value)).toEqual(['a', 'd', 'b'])
  expect(topMovers(before, after, 'equivalent', 1)).toHaveLength(1)
})

test.each([
  ['tenant', 'tag:tenant'],
  ['tag:cost-center', 'tag:cost-center'],
  ['model', 'model'],
  ['Model', undefined],
  ['', undefined],
  ['tag:', undefined],
])('%j is the dimension %s', (word, dimension) => {
  expect(parseDimension(word)).toBe(dimension)
})
