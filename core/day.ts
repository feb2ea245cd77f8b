/**
 * Days and months of the calendar as texts, `2026-11-30` and `2026-11`: they sort as what they name. They are of UTC where a
 * moment is involved; the arithmetic holds for the days of any zone's own clock.
 */

export const DAY_MS = 86_400_000

/** The UTC day of a moment. */
export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The first millisecond of a UTC day; NaN for what is no date at all. */
export const dayStart = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** Whether a text is a day that there is: `2026-02-30` and `2026-1-1` are none. */
export function isDay(text: string | undefined): text is string {
  const ms = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? dayStart(text) : Number.NaN
  return !Number.isNaN(ms) && utcDay(ms) === text
}

/** Whether a text is a month: `2026-13` is none. */
export const isMonth = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

/** The day so many days later; earlier where `days` is below zero. */
export const addDays = (day: string, days: number): string => utcDay(dayStart(day) + days * DAY_MS)

/** The month so many months later: `2026-11` and -1 is `2026-10`. */
export function addMonths(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}

/** A month's first day, and the first day after it. */
export const daysOfMonth = (month: string): { from: string; to: string } => ({
  from: `${month}-01`,
  to: `${addMonths(month, 1)}-01`,
})

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

/** `November 2026`, of a month or of a day in it. */
export const monthWords = (month: string): string => `${MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`
