import { addDays, addMonths, DAY_MS, dayStart } from '#core/day.ts'
import { QUARTERS_PER_DAY } from '#core/usage/bucket.ts'
import type { Tx } from '../../db.ts'
import { cutFor, type Period, type Step } from './period.ts'

type Dates = { from: string; to: string }
/**
 * Quarter hours of UTC days whose exchange rate is another than that of the date, `shift` days later, in whose totals they are. They
 * are taken off there and counted at their own.
 */
export type Slivers = { days: string[]; shift: 1 | -1; quarters: [from: number, to: number] }

/** A period as its parts of months and of days, so that in each total one exchange rate holds, apart from slivers. */
export type CutPeriod = Omit<Period, 'months'> & { months: Dates[]; slivers: Slivers[] }

/** A moment of rates' change: the date of the zone that it is in, and the date before, where it is the first moment of one. */
type Change = { before: string; after: string; utcDay: string; dayFrom: Date; dayTo: Date }

export const uncut = (period: Period): CutPeriod => ({
  ...period,
  months: period.months.from < period.months.to ? [period.months] : [],
  slivers: [],
})

/**
 * The same period for sums at exchange rates. Rates change at midnight in UTC, days of the zone at its own: of a date that two rates
 * share its totals are taken at one of them, and the hours up to UTC's midnight, or from there on, set right from the buckets. A month is
 * left whole where its rate changes at its ends only.
 * @param rateDays UTC days, rising, from each of which another rate holds
 */
export async function cutAtRates(
  db: Tx,
  whole: Period,
  step: Step | undefined,
  rateDays: readonly string[],
): Promise<CutPeriod> {
  const period = cutFor(whole, step)
  if (rateDays.length === 0 || (period.days.length === 0 && period.months.from >= period.months.to))
    return uncut(period)
  const { zone } = period
  const changes = await db.$queryRaw<Change[]>`
    select before::text, after::text, "utcDay"::text, after::timestamp at time zone ${zone} as "dayFrom", (after + 1)::timestamp at time zone ${zone} as "dayTo" from (
      select d as "utcDay", ((at - interval '1 microsecond') at time zone ${zone})::date as before, (at at time zone ${zone})::date as after from (
        select d, d::timestamp at time zone 'UTC' as at from unnest(${`{${rateDays.join(',')}}`}::date[]) d) m) c order by "utcDay"`
  const isBroken = (month: string) => changes.some(change => breaks(change, month))
  const months: Dates[] = []
  const days: Dates[] = []
  for (const part of period.days) join(days, part)
  for (let from = period.months.from; from < period.months.to; ) {
    const to = `${addMonths(from.slice(0, 7), 1)}-01`
    join(isBroken(from.slice(0, 7)) ? days : months, { from, to })
    from = to
  }
  days.sort((a, b) => (a.from < b.from ? -1 : 1))
  const isIn = (date: string) => [...months, ...days].some(part => date >= part.from && date < part.to)
  const split = changes.filter(({ before, after }) => before === after)
  const isShared = new Set(split.map(({ after }) => after))
  return {
    ...period,
    months,
    days,
    ends: period.ends.map(({ of, ...end }) => (of && !isShared.has(of.day) ? { ...end, of } : end)),
    slivers: sliversOf(split.filter(({ after }) => isIn(after))),
  }
}

/** Whether a month's total cannot be put right by the first or last hours of one of its dates. */
function breaks({ before, after, utcDay }: Change, month: string): boolean {
  if (!after.startsWith(month)) return false
  const first = `${month}-01`
  if (before !== after) return after !== first
  // totals go by the rate of their first date, in UTC: east of it that is the new one, west the old one
  return utcDay === after ? after !== first : addDays(after, 1).startsWith(month)
}

/** Adds a part to those that it may follow on. */
function join(parts: Dates[], { from, to }: Dates): void {
  const last = parts.find(part => part.to === from)
  if (last) last.to = to
  else parts.push({ from, to })
}

function sliversOf(split: readonly Change[]): Slivers[] {
  const slivers = new Map<string, Slivers>()
  for (const { after: date, utcDay, dayFrom, dayTo } of split) {
    const isEast = utcDay === date
    const day = isEast ? addDays(utcDay, -1) : utcDay
    const quarter = (at: Date) => ((at.getTime() - dayStart(day)) / DAY_MS) * QUARTERS_PER_DAY
    const quarters: [number, number] = isEast ? [quarter(dayFrom), QUARTERS_PER_DAY] : [0, quarter(dayTo)]
    const shift = isEast ? 1 : -1
    const key = `${shift} ${quarters}`
    const sliver = slivers.get(key) ?? { days: [], shift, quarters }
    sliver.days.push(day)
    slivers.set(key, sliver)
  }
  return [...slivers.values()]
}
