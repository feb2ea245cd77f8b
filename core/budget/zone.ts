/**
 * Clocks of IANA zones. The rules of a zone come from `Intl.DateTimeFormat` with the zone named: for one set of zone data
 * the answer depends on the arguments alone, never on the machine's own zone, locale or clock.
 */
import { DAY_MS, utcDay } from '#core/day.ts'

const HOUR_MS = 3_600_000

/** How many days' starts are remembered of one zone: two years of reports. */
const STARTS_KEPT = 1000

/** What was worked out of a zone: the same whenever it is asked again. */
interface Clock {
  formatter: Intl.DateTimeFormat
  starts: Map<number, number>
}
const clocks = new Map<string, Clock>()

function clockOf(zone: string): Clock {
  let clock = clocks.get(zone)
  if (clock === undefined) {
    const formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    clock = { formatter, starts: new Map() }
    clocks.set(zone, clock)
  }
  return clock
}

/** Names only: what engines take beside them (`+02:00`) has no rules, and so no summer time. */
const ZONE_FORM = /^[A-Z][A-Za-z0-9_+-]*(?:\/[A-Z][A-Za-z0-9_+-]*){0,2}$/

/** True for the name of an IANA zone that this build knows, in its own spelling. */
export function isZone(name: string): boolean {
  if (!ZONE_FORM.test(name)) return false
  try {
    const known = clockOf(name).formatter.resolvedOptions().timeZone
    // engines take any case; two spellings of one zone would make two budgets of one window
    return known === name || known.toLowerCase() !== name.toLowerCase()
  } catch {
    return false
  }
}

/** The zones there are, for choices and for "did you mean". */
export const zoneNames = (): readonly string[] => Intl.supportedValuesOf('timeZone')

/** What a clock on the wall shows, as if it were UTC, in whole seconds (milliseconds since 1970). */
export function wallMs(zone: string, ms: number): number {
  const parts = /(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)/.exec(
    clockOf(zone).formatter.format(Math.floor(ms / 1000) * 1000),
  )!
  return Date.UTC(+parts[3]!, +parts[1]! - 1, +parts[2]!, +parts[4]!, +parts[5]!, +parts[6]!)
}

function offsetMs(zone: string, ms: number): number {
  return wallMs(zone, ms) - Math.floor(ms / 1000) * 1000
}

/** Days since 1970-01-01 of the date on the wall. */
export const wallDay = (zone: string, ms: number): number => Math.floor(wallMs(zone, ms) / DAY_MS)

/**
 * The first moment of a local date, given as days since 1970-01-01: its midnight; of two midnights the first; where
 * midnight (or the whole date) does not exist, the moment at which the clock jumps over it.
 */
export function startOfDay(zone: string, day: number): number {
  const { starts } = clockOf(zone)
  let start = starts.get(day)
  if (start === undefined) {
    start = findStart(zone, day)
    if (starts.size >= STARTS_KEPT) starts.clear()
    starts.set(day, start)
  }
  return start
}

function findStart(zone: string, day: number): number {
  const wall = day * DAY_MS
  // Offsets lie between -12 and +14 hours: these two moments stand on either side of the day's start.
  const before = offsetMs(zone, wall - 15 * HOUR_MS)
  const after = offsetMs(zone, wall + 13 * HOUR_MS)
  if (before === after) return wall - before
  if (offsetMs(zone, wall - before) === before) return wall - before
  if (offsetMs(zone, wall - after) === after) return wall - after
  let low = wall - after
  let high = wall - before
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000
    if (offsetMs(zone, middle) === before) low = middle
    else high = middle
  }
  return high
}

/** `2026-12-01`. */
export const dateText = (day: number): string => utcDay(day * DAY_MS)

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/** Days since the last Monday: 0 is Monday, 6 Sunday. 1970-01-01 was a Thursday. */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7

/** `Monday`. */
export const weekdayName = (day: number): string => WEEKDAYS[weekdayOf(day)]!
