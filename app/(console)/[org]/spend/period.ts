/** Periods of whole days on the organisation's clock, as pages ask for them. Days are texts, `2026-11-01`; `to` is the first not in it. */

import { wallMs } from '#core/budget/zone.ts'
import { addDays, addMonths, DAY_MS, dayStart, daysOfMonth, isDay, isMonth, monthWords } from '#core/day.ts'

export type DayPeriod = { from: string; to: string }
export type ChartStep = 'hour' | 'day' | 'week' | 'month'

const QUARTER_MS = 900_000
const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
/** A longer one is cut to this: two hundred months would be no chart. */
const MAX_DAYS = 3660

const daysIn = ({ from, to }: DayPeriod): number => (dayStart(to) - dayStart(from)) / DAY_MS

/** The month that a period is exactly; undefined for any other. */
export function monthOf({ from, to }: DayPeriod): string | undefined {
  const month = from.slice(0, 7)
  return from.endsWith('-01') && to === daysOfMonth(month).to ? month : undefined
}

/** What an address asks for: `from` and `to`, both ends included, else `month`; this month where neither is one. */
export function readPeriodAsked(
  asked: { month?: string | undefined; from?: string | undefined; to?: string | undefined },
  today: string,
): DayPeriod {
  if (isDay(asked.from) && isDay(asked.to)) {
    const [first, last] = asked.from <= asked.to ? [asked.from, asked.to] : [asked.to, asked.from]
    const to = addDays(last, 1)
    return daysIn({ from: first, to }) > MAX_DAYS ? { from: addDays(to, -MAX_DAYS), to } : { from: first, to }
  }
  return daysOfMonth(isMonth(asked.month) ? asked.month : today.slice(0, 7))
}

/** The same period as an address has it. */
export function periodQuery(period: DayPeriod, today: string): Record<string, string> {
  const month = monthOf(period)
  if (month === undefined) return { from: period.from, to: addDays(period.to, -1) }
  return month === today.slice(0, 7) ? {} : { month }
}

/** How a period is cut on a chart: so that there are at most some ninety bars. */
export function stepFor(period: DayPeriod): ChartStep {
  const days = daysIn(period)
  return days <= 2 ? 'hour' : days <= 92 ? 'day' : days <= 400 ? 'week' : 'month'
}

/** Every step's start, those without spend too, as reports name them. */
export function startsOf(period: DayPeriod, step: ChartStep): string[] {
  if (step === 'month') {
    const starts: string[] = []
    for (let month = period.from.slice(0, 7); `${month}-01` < period.to; month = addMonths(month, 1))
      starts.push(`${month}-01`)
    return starts
  }
  if (step === 'hour')
    return Array.from({ length: daysIn(period) * 24 }, (_, hour) =>
      new Date(dayStart(period.from) + hour * 3_600_000).toISOString().slice(0, 16),
    )
  // Weeks begin on Mondays; 1970-01-01 was a Thursday.
  const first = step === 'week' ? addDays(period.from, -((dayStart(period.from) / DAY_MS + 3) % 7)) : period.from
  const width = step === 'week' ? 7 : 1
  return Array.from({ length: Math.ceil(daysIn({ from: first, to: period.to }) / width) }, (_, i) =>
    addDays(first, i * width),
  )
}

/**
 * What a period is compared with: the month before a month, else as many days before it. Of a period that is still under way only
 * the part before as long as what has passed of it, to the quarter hour of the zone's clock.
 */
export function periodBefore(
  period: DayPeriod,
  zone: string,
  now: number,
): { from: string; to: string; soFar: boolean } {
  const month = monthOf(period)
  const before =
    month === undefined
      ? { from: addDays(period.from, -daysIn(period)), to: period.from }
      : daysOfMonth(addMonths(month, -1))
  const wall = wallMs(zone, now)
  const passed = Math.floor((wall - dayStart(period.from)) / QUARTER_MS) * QUARTER_MS
  if (passed < 0 || wall >= dayStart(period.to)) return { ...before, soFar: false }
  const to = new Date(Math.min(dayStart(before.from) + passed, dayStart(before.to))).toISOString().slice(0, 16)
  return { from: before.from, to, soFar: true }
}

const dayWords = (day: string, year = true) =>
  `${Number(day.slice(8, 10))} ${NAMES[Number(day.slice(5, 7)) - 1]}${year ? ` ${day.slice(0, 4)}` : ''}`

/** `November 2026`, `3 Nov 2026`, `28 Oct 2026 to 3 Nov 2026`. */
export function periodWords(period: DayPeriod): string {
  const month = monthOf(period)
  if (month !== undefined) return monthWords(month)
  const last = addDays(period.to, -1)
  return period.from === last ? dayWords(last) : `${dayWords(period.from)} to ${dayWords(last)}`
}

/** A step's start in words for tables and for whoever points at its bar. */
export function startWords(start: string, step: ChartStep): string {
  if (step === 'month') return monthWords(start)
  if (step === 'hour') return `${dayWords(start, false)}, ${start.slice(11)}`
  return step === 'week' ? `week of ${dayWords(start)}` : dayWords(start)
}

/** The same for an axis, where there is little room. */
export function startMark(start: string, step: ChartStep): string {
  if (step === 'hour') return start.slice(11)
  return step === 'month' ? `${NAMES[Number(start.slice(5, 7)) - 1]} ${start.slice(2, 4)}` : dayWords(start, false)
}
