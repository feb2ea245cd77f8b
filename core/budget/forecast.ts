import { DAY_MS, dayStart } from '#core/day.ts'
import { dateText, startOfDay, wallDay, weekdayOf } from './zone.ts'

/** What was spent on one whole local day. A day between two others that is not there had no spend. */
export interface DaySpend {
  /** `2026-12-01`, in the budget's zone. */
  date: string
  /** 10^-12 of the budget's currency. */
  cost: bigint
}

/**
 * What a window will have cost at its end. `low` and `high` are what it comes to if the rest goes like the quietest and the
 * busiest part of the days it is made from: the spread that there was, not a promise.
 */
export type Forecast =
  | {
      state: 'too_early'
      /** Whole days known so far; {@link MIN_DAYS} are needed. */
      days: number
    }
  | {
      state: 'forecast'
      /** `weekday`: each day as its weekday was on average; `run_rate`: each as the average day; `over`: the window has ended. */
      method: 'weekday' | 'run_rate' | 'over'
      expected: bigint
      low: bigint
      high: bigint
      /** Whole days it is made from. */
      days: number
      /** The local date on which the limit is reached, if it is before the window ends. */
      reachedOn?: string
    }

/** Fewer whole days than this say nothing. */
export const MIN_DAYS = 3
/** Two of each weekday. */
const WEEKDAY_DAYS = 14
/** Eight weeks: older habits are not today's. */
const HISTORY_DAYS = 56

/**
 * Carries the spend so far to the window's end: the rest of today by the part of it that is left, then each day that follows.
 * With two weeks of history each day costs what its weekday did on average; with three days or more, what the average day did;
 * with fewer it is too early. Pure and exact: fractions are rounded up.
 */
export function forecast(input: {
  window: { start: number; end: number }
  zone: string
  now: number
  /** Spent in the window so far. */
  used: bigint
  /** Days before today, from inside the window and before it. */
  days: readonly DaySpend[]
  limit?: bigint
}): Forecast {
  const { window, zone, now, used, limit } = input
  const today = wallDay(zone, Math.min(now, window.end - 1))
  const history = historyBefore(today, input.days)
  if (now >= window.end) {
    return { state: 'forecast', method: 'over', expected: used, low: used, high: used, days: history.length }
  }
  if (history.length < MIN_DAYS) return { state: 'too_early', days: history.length }
  const method = history.length >= WEEKDAY_DAYS ? 'weekday' : 'run_rate'
  const rate = method === 'weekday' ? weekdayRate(history, today) : averageRate(history)
  let rest = 0n
  let reachedOn = limit !== undefined && used >= limit ? dateText(today) : undefined
  for (let day = today; startOfDay(zone, day) < window.end; day++) {
    const [start, end] = [startOfDay(zone, day), startOfDay(zone, day + 1)]
    if (end <= now) continue
    const left = BigInt(end - Math.max(start, now))
    rest += partOf(rate(day), left, BigInt(end - start))
    if (limit !== undefined && used + rest >= limit) reachedOn ??= dateText(day)
  }
  const [quiet, mean, busy] = spread(history, method)
  const scaled = (by: bigint) => used + (mean === 0n ? 0n : partOf(rest, by, mean))
  return {
    state: 'forecast',
    method,
    expected: used + rest,
    low: scaled(quiet),
    high: scaled(busy),
    days: history.length,
    ...(reachedOn === undefined ? {} : { reachedOn }),
  }
}

/** The days up to yesterday, oldest first, gaps as zero; whole weeks once there are two. */
function historyBefore(today: number, days: readonly DaySpend[]): bigint[] {
  const costs = new Map<number, bigint>()
  for (const { date, cost } of days) {
    const day = dayStart(date) / DAY_MS
    if (day < today && day >= today - HISTORY_DAYS) costs.set(day, (costs.get(day) ?? 0n) + cost)
  }
  if (costs.size === 0) return []
  const known = today - Math.min(...costs.keys())
  const taken = known >= WEEKDAY_DAYS ? known - (known % 7) : known
  return Array.from({ length: taken }, (_, i) => costs.get(today - taken + i) ?? 0n)
}

type Fraction = readonly [bigint, bigint]

function weekdayRate(history: readonly bigint[], today: number): (day: number) => Fraction {
  const sums = Array.from({ length: 7 }, () => 0n)
  history.forEach((cost, i) => {
    sums[weekdayOf(today - history.length + i)]! += cost
  })
  const weeks = BigInt(history.length / 7)
  return day => [sums[weekdayOf(day)]!, weeks]
}

function averageRate(history: readonly bigint[]): () => Fraction {
  const sum = total(history)
  return () => [sum, BigInt(history.length)]
}

const total = (costs: readonly bigint[]): bigint => costs.reduce((sum, cost) => sum + cost, 0n)

/** `value * part / whole`, rounded up. */
function partOf(value: bigint | Fraction, part: bigint, whole: bigint): bigint {
  const [top, bottom] = typeof value === 'bigint' ? [value, 1n] : value
  const below = bottom * whole
  return (top * part + below - 1n) / below
}

/**
 * The quietest, the average and the busiest: of the weeks there are; with less than two weeks, of the older and the newer half.
 * All three to one measure, so that only their proportions count.
 */
function spread(history: readonly bigint[], method: 'weekday' | 'run_rate'): [bigint, bigint, bigint] {
  const parts =
    method === 'weekday'
      ? Array.from({ length: history.length / 7 }, (_, i) => history.slice(i * 7, i * 7 + 7))
      : [history.slice(0, history.length >> 1), history.slice(history.length >> 1)]
  const days = BigInt(history.length)
  const measure = parts.reduce((product, part) => product * BigInt(part.length), 1n)
  const rates = parts.map(part => (total(part) * days * measure) / BigInt(part.length))
  const mean = total(history) * measure
  const sorted = [...rates].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return [sorted[0]!, mean, sorted.at(-1)!]
}
