import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DaySpend, forecast } from '#core/budget/forecast.ts'
import { windowAt } from '#core/budget/window.ts'
import { dateText } from '#core/budget/zone.ts'
import { DAY_MS } from '#core/day.ts'

const ZONE = 'Europe/Amsterdam'
const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS
/** So many days before a date, the last being the day before it. */
const daysBefore = (date: string, costs: readonly number[]): DaySpend[] =>
  costs.map((cost, i) => ({ date: dateText(day(date) - costs.length + i), cost: BigInt(cost) }))
const december = windowAt({ kind: 'monthly' }, ZONE, Date.parse('2026-12-10T12:00:00Z'))
const midnight = (date: string) => windowAt({ kind: 'daily' }, ZONE, Date.parse(`${date}T12:00:00Z`)).start

describe('a forecast', () => {
  test('is not made from fewer than three whole days', () => {
    const at = { window: december, zone: ZONE, now: midnight('2026-12-03'), used: 20n }
    expect(forecast({ ...at, days: daysBefore('2026-12-03', [10, 10]) })).toEqual({ state: 'too_early', days: 2 })
    // today, and what lies ahead, is no whole day
    expect(
      forecast({ ...at, days: [...daysBefore('2026-12-03', [10, 10]), { date: '2026-12-03', cost: 5n }] }),
    ).toEqual({
      state: 'too_early',
      days: 2,
    })
    expect(forecast({ ...at, days: [] })).toEqual({ state: 'too_early', days: 0 })
    expect(forecast({ ...at, days: [{ date: '2026-12-05', cost: 5n }] })).toEqual({ state: 'too_early', days: 0 })
  })

  test('with few days carries the average day to the end', () => {
    const now = midnight('2026-12-11')
    const days = daysBefore('2026-12-11', [10, 10, 10, 10, 10, 10, 10, 10, 10, 10])
    expect(forecast({ window: december, zone: ZONE, now, used: 100n, days })).toEqual({
      state: 'forecast',
      method: 'run_rate',
      expected: 310n,
      low: 310n,
      high: 310n,
      days: 10,
    })
  })

  test('takes of today what is left of it', () => {
    const now = midnight('2026-12-31') + DAY_MS / 4
    const days = daysBefore('2026-12-31', [100, 100, 100, 100])
    expect(forecast({ window: december, zone: ZONE, now, used: 400n, days })).toMatchObject({ expected: 475n })
  })

  test('on a day of 25 hours takes its part of 25', () => {
    const window = windowAt({ kind: 'daily' }, ZONE, Date.parse('2026-10-25T12:00:00Z'))
    const days = daysBefore('2026-10-25', [250, 250, 250])
    expect(forecast({ window, zone: ZONE, now: window.start + 5 * 3_600_000, used: 0n, days })).toMatchObject({
      expected: 200n,
    })
  })

  test('with two weeks knows that weekends are quiet', () => {
    // 2026-12-14 is a Monday
    const week = [10, 10, 10, 10, 10, 0, 0]
    const days = daysBefore('2026-12-14', [...week, ...week])
    const result = forecast({ window: december, zone: ZONE, now: midnight('2026-12-14'), used: 100n, days })
    // 14 to 31 December hold fourteen working days
    expect(result).toMatchObject({ method: 'weekday', expected: 240n, low: 240n, high: 240n, days: 14 })
  })

  test('goes by eight weeks at most: older habits are not today’s', () => {
    const days = daysBefore('2026-12-14', [...Array(70).fill(1000), ...Array(56).fill(10)])
    const result = forecast({ window: december, zone: ZONE, now: midnight('2026-12-14'), used: 0n, days })
    expect(result).toMatchObject({ days: 56, expected: 180n, low: 180n, high: 180n })
  })

  test('rounds what is less than the smallest amount up', () => {
    const days = daysBefore('2026-12-31', [1, 0, 0])
    expect(forecast({ window: december, zone: ZONE, now: midnight('2026-12-31'), used: 1n, days })).toMatchObject({
      expected: 2n,
    })
  })

  test('spreads from the quietest to the busiest week', () => {
    const days = daysBefore('2026-12-14', [...Array(7).fill(10), ...Array(7).fill(30)])
    const result = forecast({ window: december, zone: ZONE, now: midnight('2026-12-14'), used: 0n, days })
    expect(result).toMatchObject({ expected: 18n * 20n, low: 18n * 10n, high: 18n * 30n })
  })

  test('says on which day the limit is reached, or that it is not', () => {
    const days = daysBefore('2026-12-11', Array(10).fill(10))
    const at = { window: december, zone: ZONE, now: midnight('2026-12-11'), used: 100n, days }
    expect(forecast({ ...at, limit: 150n })).toMatchObject({ reachedOn: '2026-12-15' })
    expect(forecast({ ...at, limit: 100n })).toMatchObject({ reachedOn: '2026-12-11' })
    expect(forecast({ ...at, limit: 310n })).toMatchObject({ reachedOn: '2026-12-31' })
    expect(forecast({ ...at, limit: 311n })).not.toHaveProperty('reachedOn')
  })

  test('of a window that is over is what it cost', () => {
    const result = forecast({ window: december, zone: ZONE, now: december.end, used: 77n, days: [] })
    expect(result).toMatchObject({ method: 'over', expected: 77n, low: 77n, high: 77n })
  })

  test('counts days without spend as days', () => {
    const days = [
      { date: '2026-12-01', cost: 30n },
      { date: '2026-12-10', cost: 0n },
    ]
    expect(forecast({ window: december, zone: ZONE, now: midnight('2026-12-11'), used: 30n, days })).toMatchObject({
      days: 10,
      expected: 30n + 21n * 3n,
    })
  })

  test('never lies below what is spent, and its range holds it', () => {
    const costs = fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { maxLength: 80 })
    fc.assert(
      fc.property(
        costs,
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (list, used, part) => {
          const now = december.start + Math.floor((december.end - december.start - 1) * part)
          const today = day(new Date(now + 3_600_000).toISOString().slice(0, 10))
          const days = list.map((cost, i) => ({ date: dateText(today - list.length + i), cost }))
          const result = forecast({ window: december, zone: ZONE, now, used, days })
          if (result.state === 'too_early') {
            expect(result.days).toBeLessThan(3)
            return
          }
          expect(result.expected >= used && result.low >= used).toBe(true)
          expect(result.low <= result.expected && result.expected <= result.high).toBe(true)
        },
      ),
    )
  })
})
