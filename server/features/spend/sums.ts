import { addDays, DAY_MS, utcDay } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { type Dimension, type Filter, OWN_DIMENSIONS, type SpendRow } from '#core/spend/group.ts'
import { type Covered, QUARTERS_PER_DAY, type RateKind } from '#core/usage/bucket.ts'
import { type RenameMap, renamedValue } from '#core/usage/renames.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { cutFor, type Period, type Step } from './period.ts'
import { type CutPeriod, cutAtRates, uncut } from './rate-cuts.ts'
import { renamesInForce } from './renames.ts'

const { sql, join, raw, empty } = Prisma
const QUARTER_MS = DAY_MS / QUARTERS_PER_DAY

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
  /** What values of tags are read as; those of the rules in force where nothing else is said. */
  renames?: RenameMap
  /** UTC days, rising, from each of which another exchange rate holds: rows are then apart by rate, too. */
  rateDays?: readonly string[]
  /** Rates by which each row is converted as well, every part of it at its own. */
  rates?: Rates
}
/** `days` as above. `perUsd`: before the first of them and from each of them on; null: there is no rate. */
export type Rates = { days: readonly string[]; perUsd: readonly (bigint | null)[] }
/**
 * `rateDay`: a UTC day of the rate that all of the row is of; there only where such days were asked for. `atto`: pico-dollars times
 * their rates, exact, and `rateless` those that have none; there only where rates were asked for.
 */
export type SumRow = SpendRow & { rateDay?: string; atto?: bigint; rateless?: bigint }

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
const TAKEN_OFF = raw([...FIGURES.map(f => `-sum(${f})::bigint as ${f}`), '-sum(cost) as cost'].join(', '))
const ALONE = raw([...FIGURES, 'cost'].join(', '))
/** How a part of a period tells its figures: added up, taken off what another part has too much, or as they are. */
const TOLD = { sum: SUMS, off: TAKEN_OFF, alone: ALONE }
type Told = keyof typeof TOLD
const CONVERTED = raw('sum(u.atto)::text as atto, sum(u.rateless)::text as rateless')
const AGAIN = raw([...FIGURES.map(f => `sum(u.${f})::bigint as ${f}`), 'sum(u.cost)::text as cost'].join(', '))

/**
 * Sums of an organisation's usage over a period: from the totals of whole months and days, and from the buckets at its ends. Each
 * bucket is in exactly one row, whatever they are kept apart by, so every grouping adds up to the same total.
 */
export async function sumUsage(db: Tx, orgId: string, asked: SumsAsked): Promise<SumRow[]> {
  const { by, step, filter = {}, seen = 'everybody' } = asked
  const rateDays = asked.rates?.days ?? asked.rateDays ?? []
  // one rate for all of it needs no database
  const rates = rateDays.length > 0 ? asked.rates : undefined
  const only = rates ? undefined : asked.rates?.perUsd[0]
  const isRated = asked.rates === undefined && rateDays.length > 0
  const period =
    rateDays.length > 0 ? await cutAtRates(db, asked.period, step, rateDays) : uncut(cutFor(asked.period, step))
  const shared = sharedBy([...by, ...(Object.keys(filter) as Dimension[])])
  const parts = partsOf(orgId, period, { step, shared, rateDays, isRated, rates })
  if (parts.length === 0) return []
  const renames = asked.renames ?? (await renamesInForce(db, orgId))
  const keys = by.map((dimension, i) => sql`${columnOf(dimension, seen, renames)} as ${raw(`k${i}`)}`)
  const apart = [...(step ? ['u.step'] : []), ...(isRated ? ['u.rated'] : [])]
  const groups = raw([...by.map((_, i) => `k${i}`), 's.covered', 's.rate', ...apart].join(', '))
  const where = Object.entries(filter).flatMap(([dimension, values]) =>
    values === undefined || values.length === 0 ? [] : [wanted(dimension as Dimension, values, seen, renames)],
  )
  const rows = await db.$queryRaw<Row[]>(sql`
    select ${join([...keys, raw('s.covered'), raw('s.rate'), ...(step ? [raw('u.step::text as step')] : []), ...(isRated ? [raw('u.rated')] : []), AGAIN, ...(rates ? [CONVERTED] : [])])}
    from (${join(parts, ' union all ')}) u join "UsageSeries" s on s."orgId" = ${orgId} and s.id = u."seriesId"
    ${where.length > 0 ? sql`where ${join(where, ' and ')}` : empty}
    group by ${groups} having sum(u.calls) <> 0`)
  const first = utcDay(asked.period.from.getTime())
  return rows.map(row => {
    const spend = spendRow(row, by, step)
    return {
      ...spend,
      ...(isRated ? { rateDay: row.rated === 0 ? first : rateDays[row.rated! - 1]! } : {}),
      ...(rates ? { atto: parseDecimal(row.atto!) ?? 0n, rateless: parseDecimal(row.rateless!) ?? 0n } : {}),
      ...(only === undefined
        ? {}
        : { atto: spend.picoUsd * (only ?? 0n), rateless: only === null ? spend.picoUsd : 0n }),
    }
  })
}

/** Which totals tell everything that is asked about: those that machines share, those that a machine's series share, or neither. */
function sharedBy(dimensions: readonly Dimension[]): 'fleet' | 'machine' | undefined {
  const ofMachine = dimensions.filter(dimension => dimension === 'member' || dimension === 'machine')
  if (ofMachine.length === 0) return 'fleet'
  return ofMachine.length === dimensions.length ? 'machine' : undefined
}

/** The tables' parts that make up a period, each summed by series first, so that few rows meet their names. */
function partsOf(
  orgId: string,
  period: CutPeriod,
  {
    step,
    shared,
    rateDays,
    isRated,
    rates,
  }: {
    step: Step | undefined
    shared: ReturnType<typeof sharedBy>
    rateDays: readonly string[]
    isRated: boolean
    rates: Rates | undefined
  },
): Prisma.Sql[] {
  const { zone, months, days, ends, slivers } = period
  const starts = (column: string) =>
    step === 'month' || step === 'week'
      ? sql`date_trunc(${step}, ${raw(column)}::timestamp)`
      : sql`${raw(column)}::timestamp`
  const stepped = (value: () => Prisma.Sql) => (step ? sql`, ${value()} as step` : empty)
  /** Which of the rates holds: a local day with one rate is called by the same date as the UTC day that the rate is from, or later. */
  const which = (date: Prisma.Sql) => sql`width_bucket(${date}, ${list(rateDays)}::date[])`
  const rated = (date: Prisma.Sql) => (isRated ? sql`, ${which(date)} as rated` : empty)
  /** A part's figures, converted at the rate that holds on a date. */
  const figures = (told: Told, date: Prisma.Sql) => {
    if (!rates) return TOLD[told]
    const rate = sql`(${`{${rates.perUsd.map(rate => rate ?? 'null').join(',')}}`}::numeric[])[${which(date)} + 1]`
    const isComplete = !rates.perUsd.includes(null)
    const values = isComplete
      ? [sql`cost * ${rate}`, sql`0::numeric`]
      : [sql`cost * coalesce(${rate}, 0)`, sql`case when ${rate} is null then cost else 0 end`]
    const as = (value: Prisma.Sql) =>
      told === 'alone' ? value : told === 'sum' ? sql`sum(${value})` : sql`-sum(${value})`
    return sql`${TOLD[told]}, ${as(values[0]!)} as atto, ${as(values[1]!)} as rateless`
  }
  const groups = raw(['"seriesId"', ...(step ? ['step'] : []), ...(isRated ? ['rated'] : [])].join(', '))
  // by days nothing of a day's totals is added up before their names are known
  const isApart = step === 'day'
  const start = raw('start')
  const total = (span: string, part: { from: string; to: string }, which: Prisma.Sql) =>
    sql`select "seriesId"${stepped(() => starts('start'))}${rated(start)}, ${figures(isApart ? 'alone' : 'sum', start)} from "UsageTotal"
      where "orgId" = ${orgId} and zone = ${zone} and span = ${span} and start >= ${part.from}::date and start < ${part.to}::date ${which}
      ${isApart ? empty : sql`group by ${groups}`}`
  /** Shared totals where they are up to date, else each series' own. One statement sees marks and totals of one moment. */
  const totals = (span: 'day' | 'month', part: { from: string; to: string }) => {
    if (!shared) return [total(span, part, empty)]
    const stale = sql`array(select distinct date_trunc(${span}, day::timestamp)::date from "UsageStale"
      where "orgId" = ${orgId} and zone = ${zone} and day >= ${part.from}::date and day < ${part.to}::date)`
    return [
      total(`${shared}-${span}`, part, sql`and start <> all(${stale})`),
      total(span, part, sql`and start = any(${stale})`),
    ]
  }
  const parts: Prisma.Sql[] = []
  const utc = raw('day')
  /** Quarter hours of a stretch, each in its step: of one date all in the same. */
  const quarters = (stretch: { from: Date; to: Date }, day: string | undefined, told: Told) => {
    const local = sql`(((day + quarter * interval '15 minutes') at time zone 'UTC') at time zone ${zone})`
    const moment = day === undefined ? local : sql`${day}::timestamp`
    const cut = step === undefined || step === 'quarter' ? moment : sql`date_trunc(${step}, ${moment})`
    for (const { first, last, within } of utcDays(stretch)) {
      const hours = within ? sql`and quarter >= ${within[0]} and quarter < ${within[1]}` : empty
      const days = first === last ? sql`day = ${first}::date` : sql`day between ${first}::date and ${last}::date`
      parts.push(sql`select "seriesId"${stepped(() => cut)}${rated(utc)}, ${figures(told, utc)} from "UsageBucket"
        where "orgId" = ${orgId} and ${days} ${hours} group by ${groups}`)
    }
  }
  for (const part of months) parts.push(...totals('month', part))
  for (const part of days) parts.push(...totals('day', part))
  for (const { from, to, of } of ends) {
    if (of === undefined || step === 'hour' || step === 'quarter') {
      quarters({ from, to }, undefined, 'sum')
      continue
    }
    const rest = from > of.from ? { from: of.from, to: from } : { from: to, to: of.to }
    // the larger part of a date is its total less the smaller part
    if (to.getTime() - from.getTime() > rest.to.getTime() - rest.from.getTime()) {
      parts.push(...totals('day', { from: of.day, to: addDays(of.day, 1) }))
      quarters(rest, of.day, 'off')
    } else quarters({ from, to }, of.day, 'sum')
  }
  for (const { days, shift, quarters: within } of slivers) {
    const date = sql`(day + ${shift}::int)`
    const cut =
      step === undefined || step === 'day' ? sql`${date}::timestamp` : sql`date_trunc(${step}, ${date}::timestamp)`
    for (const [told, of] of [
      ['off', date],
      ['sum', utc],
    ] as const)
      parts.push(sql`select "seriesId"${stepped(() => cut)}${rated(of)}, ${figures(told, of)} from "UsageBucket"
        where "orgId" = ${orgId} and day = any(${list(days)}::date[]) and quarter >= ${within[0]} and quarter < ${within[1]} group by ${groups}`)
  }
  return parts
}

const list = (days: readonly string[]): string => `{${days.join(',')}}`

type UtcDays = { first: string; last: string; within?: [from: number, to: number] }

/** A stretch of time as UTC days: the whole ones together, and of those at its ends the quarter hours. */
function utcDays({ from, to }: { from: Date; to: Date }): UtcDays[] {
  const [start, end] = [from.getTime() / QUARTER_MS, to.getTime() / QUARTER_MS]
  const dayOf = (quarter: number) => utcDay(quarter * QUARTER_MS)
  const part = (a: number, b: number): UtcDays => {
    const midnight = Math.floor(a / QUARTERS_PER_DAY) * QUARTERS_PER_DAY
    return { first: dayOf(a), last: dayOf(a), within: [a - midnight, b - midnight] }
  }
  const whole = {
    from: Math.ceil(start / QUARTERS_PER_DAY) * QUARTERS_PER_DAY,
    to: Math.floor(end / QUARTERS_PER_DAY) * QUARTERS_PER_DAY,
  }
  if (whole.from > whole.to) return [part(start, end)]
  return [
    ...(start < whole.from ? [part(start, whole.from)] : []),
    ...(whole.from < whole.to ? [{ first: dayOf(whole.from), last: dayOf(whole.to - 1) }] : []),
    ...(whole.to < end ? [part(whole.to, end)] : []),
  ]
}

/** A dimension's value of a series; null where it has none. */
function columnOf(dimension: Dimension, seen: Seen, renames: RenameMap): Prisma.Sql {
  if (dimension.startsWith('tag:')) {
    const key = dimension.slice(4)
    const now = Object.hasOwn(renames, key) ? renames[key] : undefined
    const recorded = sql`s.tags ->> ${key}::text`
    return now ? sql`coalesce(${JSON.stringify(now)}::jsonb ->> (${recorded}), ${recorded})` : recorded
  }
  if (dimension === 'member' || dimension === 'machine') {
    const column = raw(dimension === 'member' ? 's."memberId"' : 's."machineId"')
    return seen === 'everybody'
      ? sql`${column}`
      : sql`case when s."memberId" = any(${[...seen]}::text[]) then ${column} else ${WITHHELD} end`
  }
  if (dimension === 'day' || dimension === 'month' || !OWN_DIMENSIONS.includes(dimension as never))
    throw new Error(`${dimension} is cut by steps`)
  if (dimension === 'cover')
    return raw(`case s."coverBy" when '' then s.covered else s.covered || '/' || s."coverBy" end`)
  return raw(`s.${dimension}`)
}

function wanted(dimension: Dimension, values: readonly (string | null)[], seen: Seen, renames: RenameMap): Prisma.Sql {
  const value = columnOf(dimension, seen, renames)
  // an old name that is asked for, in an address that somebody kept, is what it is called now
  const key = dimension.startsWith('tag:') ? dimension.slice(4) : undefined
  const named = values.flatMap(one => (one === null ? [] : key === undefined ? one : renamedValue(renames, key, one)))
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
  atto?: string
  rateless?: string
  [key: `k${number}`]: string | null
}

function spendRow(row: Row, by: readonly Dimension[], step: Step | undefined): SpendRow {
  const { covered, rate, cost, calls, partial, ...rest } = row
  const tags: Record<string, string> = {}
  const own: Partial<Record<'client' | 'provider' | 'model' | 'machine' | 'member' | 'cover', string>> = {}
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
