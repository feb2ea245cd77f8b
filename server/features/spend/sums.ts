import { parseDecimal } from '#core/decimal.ts'
import { type Dimension, type Filter, OWN_DIMENSIONS, type SpendRow } from '#core/spend/group.ts'
import type { Covered, RateKind } from '#core/usage/bucket.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { cutAtRates, cutFor, type Period, type RatedPeriod, type Step } from './period.ts'

const { sql, join, raw, empty } = Prisma

/** Stands for people, and their machines, whose own figures the reader may not see: one group, so that totals are whole. */
export const WITHHELD = 'withheld'

/** Whose figures may stand by themselves. */
export type Seen = 'everybody' | ReadonlySet<string>

export type SumsAsked = {
  period: Period
  /** What rows keep apart; what is not named is added up. */
  by: readonly Dimension[]
  /** Also by steps of the zone's clock; each row then has its step's start as `day`. */
  step?: Step
  filter?: Filter
  seen?: Seen
  /**
   * UTC days, rising, from each of which another exchange rate holds. Rows are then apart by rate, too, each with the day whose
   * rate is its own: totals of whole days and months where no rate changes in them, the quarter hours where one does.
   */
  rateDays?: readonly string[]
}
/** `rateDay`: a UTC day of the rate that all of the row is converted at; there only where rates were asked for. */
export type SumRow = SpendRow & { rateDay?: string }

const FIGURES = [
  'calls',
  'partial',
  'input',
  '"cacheRead"',
  '"cacheWrite5m"',
  '"cacheWrite1h"',
  'output',
  '"webSearches"',
] as const
const SUMS = raw([...FIGURES.map(f => `sum(${f})::bigint as ${f}`), 'sum(cost) as cost'].join(', '))
const AGAIN = raw([...FIGURES.map(f => `sum(u.${f})::bigint as ${f}`), 'sum(u.cost)::text as cost'].join(', '))

/**
 * Sums of an organisation's usage over a period: from the totals of whole months and days, and from the buckets at its ends. Each
 * bucket is in exactly one row, whatever they are kept apart by, so every grouping adds up to the same total.
 */
export async function sumUsage(db: Tx, orgId: string, asked: SumsAsked): Promise<SumRow[]> {
  const { by, step, filter = {}, seen = 'everybody', rateDays = [] } = asked
  const isRated = rateDays.length > 0
  const period = isRated
    ? await cutAtRates(db, asked.period, step, rateDays)
    : { ...cutFor(asked.period, step), split: [] }
  const byMachine = [...by, ...Object.keys(filter)].some(dimension => dimension === 'member' || dimension === 'machine')
  const parts = partsOf(orgId, period, { step, byMachine, rateDays })
  if (parts.length === 0) return []
  const keys = by.map((dimension, i) => sql`${columnOf(dimension, seen)} as ${raw(`k${i}`)}`)
  const apart = [...(step ? ['u.step'] : []), ...(isRated ? ['u.rated'] : [])]
  const groups = raw([...by.map((_, i) => `k${i}`), 's.covered', 's.rate', ...apart].join(', '))
  const where = Object.entries(filter).flatMap(([dimension, values]) =>
    values === undefined || values.length === 0 ? [] : [wanted(dimension as Dimension, values, seen)],
  )
  const rows = await db.$queryRaw<Row[]>(sql`
    select ${join([...keys, raw('s.covered'), raw('s.rate'), ...(step ? [raw('u.step::text as step')] : []), ...(isRated ? [raw('u.rated')] : []), AGAIN])}
    from (${join(parts, ' union all ')}) u join "UsageSeries" s on s."orgId" = ${orgId} and s.id = u."seriesId"
    ${where.length > 0 ? sql`where ${join(where, ' and ')}` : empty}
    group by ${groups}`)
  const first = asked.period.from.toISOString().slice(0, 10)
  return rows.map(row => ({
    ...spendRow(row, by, step),
    ...(isRated ? { rateDay: row.rated === 0 ? first : rateDays[row.rated! - 1]! } : {}),
  }))
}

/** The tables' parts that make up a period, each summed by series first, so that few rows meet their names. */
function partsOf(
  orgId: string,
  period: RatedPeriod,
  { step, byMachine, rateDays }: { step: Step | undefined; byMachine: boolean; rateDays: readonly string[] },
): Prisma.Sql[] {
  const { zone, months, days, ends, split } = period
  const starts = (column: string) =>
    step === 'month' || step === 'week'
      ? sql`date_trunc(${step}, ${raw(column)}::timestamp)`
      : sql`${raw(column)}::timestamp`
  const stepped = (value: () => Prisma.Sql) => (step ? sql`, ${value()} as step` : empty)
  const isRated = rateDays.length > 0
  /** Which of the rates holds: a local day with one rate is called by the same date as the UTC day that the rate is from, or later. */
  const rated = (column: string) =>
    isRated ? sql`, width_bucket(${raw(column)}, ${list(rateDays)}::date[]) as rated` : empty
  const groups = raw(['"seriesId"', ...(step ? ['step'] : []), ...(isRated ? ['rated'] : [])].join(', '))
  const whole = split.length > 0 ? sql`and start <> all(${list(split)}::date[])` : empty
  const total = (span: string, part: { from: string; to: string }, which: Prisma.Sql) =>
    sql`select "seriesId"${stepped(() => starts('start'))}${rated('start')}, ${SUMS} from "UsageTotal"
      where "orgId" = ${orgId} and zone = ${zone} and span = ${span} and start >= ${part.from}::date and start < ${part.to}::date ${whole} ${which} group by ${groups}`
  /** The fleet's totals where they are up to date, else its machines'. One statement sees marks and totals of one moment. */
  const totals = (span: 'day' | 'month', part: { from: string; to: string }) => {
    if (byMachine) return [total(span, part, empty)]
    const stale = sql`array(select distinct date_trunc(${span}, day::timestamp)::date from "UsageStale"
      where "orgId" = ${orgId} and zone = ${zone} and day >= ${part.from}::date and day < ${part.to}::date)`
    return [
      total(`fleet-${span}`, part, sql`and start <> all(${stale})`),
      total(span, part, sql`and start = any(${stale})`),
    ]
  }
  const parts: Prisma.Sql[] = []
  if (months.from < months.to) parts.push(...totals('month', months))
  for (const part of days) parts.push(...totals('day', part))
  for (const end of ends) {
    const at = sql`(day + quarter * interval '15 minutes')`
    const local = sql`((${at} at time zone 'UTC') at time zone ${zone})`
    const cut = step === undefined || step === 'quarter' ? local : sql`date_trunc(${step}, ${local})`
    const [from, to] = [end.from.toISOString(), end.to.toISOString()]
    parts.push(sql`select "seriesId"${stepped(() => cut)}${rated('day')}, ${SUMS} from "UsageBucket"
      where "orgId" = ${orgId} and day >= ${from.slice(0, 10)}::date and day <= ${to.slice(0, 10)}::date
        and ${at} >= ${from.slice(0, 19)}::timestamp and ${at} < ${to.slice(0, 19)}::timestamp group by ${groups}`)
  }
  return parts
}

const list = (days: readonly string[]): string => `{${days.join(',')}}`

/** A dimension's value of a series; null where it has none. */
function columnOf(dimension: Dimension, seen: Seen): Prisma.Sql {
  if (dimension.startsWith('tag:')) return sql`s.tags ->> ${dimension.slice(4)}::text`
  if (dimension === 'member' || dimension === 'machine') {
    const column = raw(dimension === 'member' ? 's."memberId"' : 's."machineId"')
    return seen === 'everybody'
      ? sql`${column}`
      : sql`case when s."memberId" = any(${[...seen]}::text[]) then ${column} else ${WITHHELD} end`
  }
  if (dimension === 'day' || dimension === 'month' || !OWN_DIMENSIONS.includes(dimension as never))
    throw new Error(`${dimension} is cut by steps`)
  return raw(`s.${dimension}`)
}

function wanted(dimension: Dimension, values: readonly (string | null)[], seen: Seen): Prisma.Sql {
  const value = columnOf(dimension, seen)
  const named = values.filter(one => one !== null)
  const any = sql`${value} = any(${named}::text[])`
  return values.includes(null) ? sql`(${any} or ${value} is null)` : any
}

type Figures = Record<
  'calls' | 'partial' | 'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'output' | 'webSearches',
  bigint
>
type Row = Figures & {
  covered: Covered
  rate: RateKind
  cost: string
  step?: string
  rated?: number
  [key: `k${number}`]: string | null
}

function spendRow(row: Row, by: readonly Dimension[], step: Step | undefined): SpendRow {
  const { covered, rate, cost, calls, partial, ...rest } = row
  const tags: Record<string, string> = {}
  const own: Partial<Record<'client' | 'provider' | 'model' | 'machine' | 'member', string>> = {}
  for (const [i, dimension] of by.entries()) {
    const value = row[`k${i}`]
    if (value == null) continue
    if (dimension.startsWith('tag:')) tags[dimension.slice(4)] = value
    else own[dimension as 'client'] = value
  }
  return {
    ...own,
    ...(step ? { day: stepText(row.step!, step) } : {}),
    tags,
    covered,
    rate,
    calls: Number(calls),
    partial: Number(partial),
    tokens: {
      input: Number(rest.input),
      cacheRead: Number(rest.cacheRead),
      cacheWrite5m: Number(rest.cacheWrite5m),
      cacheWrite1h: Number(rest.cacheWrite1h),
      output: Number(rest.output),
      webSearches: Number(rest.webSearches),
    },
    picoUsd: parseDecimal(cost) ?? 0n,
  }
}

/** `2026-11-01`, or `2026-11-01T08:15` for steps within a day. */
const stepText = (timestamp: string, step: Step): string =>
  step === 'hour' || step === 'quarter' ? timestamp.slice(0, 16).replace(' ', 'T') : timestamp.slice(0, 10)
