import { addDays, daysOfMonth } from '#core/day.ts'
import { AppError } from '#core/error.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'

const { sql } = Prisma

/** How a period is cut on a chart. Hours and quarter hours come from the buckets, all else from the totals. */
export const STEPS = ['quarter', 'hour', 'day', 'week', 'month'] as const
export type Step = (typeof STEPS)[number]

/** Moments of a zone's own clock, `2026-11-01` or `2026-11-01T08:15`; `to` is the first that is not in it any more. */
export type PeriodText = { from: string; to: string }

/**
 * A half-open period of a zone and what it is made of: whole months and whole days of the zone, which have totals, and what is
 * left at its ends, read from the buckets. All of it together is the period, and nothing is in it twice.
 */
export type Period = {
  zone: string
  from: Date
  to: Date
  months: { from: string; to: string }
  days: { from: string; to: string }[]
  ends: End[]
}

/** Less than a date of the zone, `of`: then also when that begins and ends. */
export type End = { from: Date; to: Date; of?: { day: string; from: Date; to: Date } }

const LOCAL = /^\d{4}-\d{2}-\d{2}(T\d{2}:(00|15|30|45))?$/

function localTime(text: string, name: string): string {
  const day = text.slice(0, 10)
  const ms = LOCAL.test(text) ? Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`) : Number.NaN
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day)
    throw new AppError('BAD_INPUT', `${name} is not a date, or not a quarter hour of one.`)
  return text.length === 10 ? `${text}T00:00` : text
}

/**
 * Reads a period by the zone's clock. The database knows the zone's rules: the same that the totals were made by.
 * @throws AppError BAD_INPUT for what is no quarter hour of a date, and when it ends before it begins
 */
export async function readPeriod(db: Tx, zone: string, text: PeriodText): Promise<Period> {
  const [from, to] = [localTime(text.from, 'from'), localTime(text.to, 'to')]
  return bounded(
    db,
    zone,
    sql`select ${from}::timestamp at time zone ${zone} as "from", ${to}::timestamp at time zone ${zone} as "to"`,
  )
}

/** The same between two moments, whatever zone's clock they come from. */
export const periodBetween = (db: Tx, zone: string, { from, to }: { from: Date; to: Date }): Promise<Period> =>
  bounded(db, zone, sql`select ${from}::timestamptz as "from", ${to}::timestamptz as "to"`)

async function bounded(db: Tx, zone: string, ends: Prisma.Sql): Promise<Period> {
  const [row] = await db.$queryRaw<Bounds[]>`
    select *, first::timestamp at time zone ${zone} as "firstAt", last::timestamp at time zone ${zone} as "lastAt",
      (first::date - 1)::timestamp at time zone ${zone} as "beforeAt", (last::date + 1)::timestamp at time zone ${zone} as "afterAt" from (
      select "from", "to", (case when (a::timestamp at time zone ${zone}) < "from" then a + 1 else a end)::text as first, b::text as last from (
        select "from", "to", ("from" at time zone ${zone})::date as a, ("to" at time zone ${zone})::date as b from (${ends}) p) d) w`
  return periodOf(zone, row!)
}

/** `first` and `last`: the first whole day of the zone, and the one after the last; `before` and `after`: the days around them. */
type Bounds = Record<'from' | 'to' | 'firstAt' | 'lastAt' | 'beforeAt' | 'afterAt', Date> & {
  first: string
  last: string
}

function periodOf(zone: string, { from, to, first, last, firstAt, lastAt, beforeAt, afterAt }: Bounds): Period {
  if (to < from) throw new AppError('BAD_INPUT', 'The period ends before it begins.')
  // Not one whole day: all of it comes from the buckets.
  if (first >= last) return { zone, from, to, months: { from: first, to: first }, days: [], ends: [{ from, to }] }
  const ends = [
    { from, to: firstAt, of: { day: addDays(first, -1), from: beforeAt, to: firstAt } },
    { from: lastAt, to, of: { day: last, from: lastAt, to: afterAt } },
  ].filter(end => end.from < end.to)
  const firstMonth = first.endsWith('-01') ? first : daysOfMonth(first.slice(0, 7)).to
  const lastMonth = `${last.slice(0, 7)}-01`
  if (firstMonth >= lastMonth)
    return { zone, from, to, months: { from: first, to: first }, days: [{ from: first, to: last }], ends }
  const days = [
    { from: first, to: firstMonth },
    { from: lastMonth, to: last },
  ].filter(part => part.from < part.to)
  return { zone, from, to, months: { from: firstMonth, to: lastMonth }, days, ends }
}

/** The same period without months, for steps that are shorter; or of buckets alone. */
export function cutFor(period: Period, step: Step | undefined): Period {
  const { months, days, from, to } = period
  if (step === undefined || step === 'month') return period
  const none = { from: months.from, to: months.from }
  if (step === 'hour' || step === 'quarter') return { ...period, months: none, days: [], ends: [{ from, to }] }
  if (months.from >= months.to) return period
  const [head, tail] = [days.find(part => part.to === months.from), days.find(part => part.from === months.to)]
  return { ...period, months: none, days: [{ from: head?.from ?? months.from, to: tail?.to ?? months.to }] }
}
