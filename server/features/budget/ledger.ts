import { dateText, startOfDay, wallDay } from '#core/budget/zone.ts'
import { DAY_MS, utcDay } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { type ExchangeRates, perUsdOn, rateChanges } from '#core/spend/exchange.ts'
import { renamedTags } from '#core/usage/renames.ts'
import type { Tags } from '#core/usage/tags.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { renamesInForce } from '../spend/renames.ts'

const { sql } = Prisma

/** Usage of one series in one span of time. `span` counts from 0. */
export type SeriesSpend = {
  span: number
  machineId: string
  memberId: string
  tags: Tags
  covered: 'plan' | 'metered' | 'unknown'
  rate: 'card' | 'override' | 'fallback' | 'zero' | 'substitute'
  /** 10^-12 US dollars. */
  cost: bigint
}
/** The same in a budget's currency: 10^-18 of its unit, exact. */
export type CurrencySpend = Omit<SeriesSpend, 'cost'> & { atto: bigint }
type Sum = { span: number; seriesId: number; cost: string }
type Series = Omit<SeriesSpend, 'span' | 'cost'> & { id: number }

/**
 * What the ledger holds between moments: `cuts` are n + 1 rising moments of n spans that touch each other. Summed from what
 * machines reported each time, so there is no counter that could be lost, doubled or forgotten. Spans between days' starts of
 * the zone that totals are kept by come from the totals of its days; of others the quarter hours themselves are read, of few
 * long ones those at their ends. All are the same sums.
 * @param together adds up what differs by machine, member and model only, under any one of them: many spans of a large fleet
 */
export async function spendBetween(
  tx: Tx,
  orgId: string,
  cuts: readonly number[],
  { together = false } = {},
): Promise<SeriesSpend[]> {
  const sums = await sumSpans({ tx, orgId, together }, cuts)
  if (sums.length === 0) return []
  const ids = `{${[...new Set(sums.map(({ seriesId }) => seriesId))].join(',')}}`
  const series = await tx.$queryRaw<Series[]>`
    select id, "machineId", "memberId", tags, covered, rate from "UsageSeries" where "orgId" = ${orgId} and id = any(${ids}::int[])`
  const renames = await renamesInForce(tx, orgId)
  const byId = new Map(series.map(({ id, tags, ...rest }) => [id, { ...rest, tags: renamedTags(renames, tags) }]))
  return sums.map(({ span, seriesId, cost }) => ({ span, ...byId.get(seriesId)!, cost: parseDecimal(cost)! }))
}

/**
 * {@link spendBetween} in a currency: each part of a span at the rate of its UTC days.
 * @throws AppError BAD_INPUT when a day has no rate
 */
export async function spendIn(
  tx: Tx,
  orgId: string,
  { currency, exchange }: { currency: string; exchange: ExchangeRates },
  cuts: readonly number[],
  options: { together?: boolean } = {},
): Promise<CurrencySpend[]> {
  const [start, end] = [cuts[0]!, cuts.at(-1)!]
  const all = [...new Set([...cuts, ...rateChanges(exchange, currency, start, end)])].sort((a, b) => a - b)
  const parts = all.slice(0, -1).map(at => ({
    span: cuts.findLastIndex(cut => cut <= at),
    perUsd: perUsdOn(exchange, currency, utcDay(at)),
  }))
  const spend = await spendBetween(tx, orgId, all, options)
  return spend.map(({ span: part, cost, ...rest }) => ({
    ...rest,
    span: parts[part]!.span,
    atto: cost * parts[part]!.perUsd,
  }))
}

type From = { tx: Tx; orgId: string; together: boolean }

/** Spans from this long on are read one by one, by totals where there are any; of shorter ones all quarter hours at once. */
const LONG_MS = 7 * DAY_MS

async function sumSpans(from: From, cuts: readonly number[]): Promise<Sum[]> {
  const { tx, orgId } = from
  const { timeZone } = await tx.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { timeZone: true } })
  const plain = cuts.map(cut => isPlainMidnight(timeZone, cut))
  const isWhole = (span: number) => plain[span]! && plain[span + 1]!
  const sums: Sum[] = []
  for (let first = 0, next = 1; first < cuts.length - 1; first = next, next = first + 1) {
    while (next < cuts.length - 1 && isWhole(next) === isWhole(first)) next++
    const run = cuts.slice(first, next + 1)
    const read = isWhole(first)
      ? ((await sumTotals(from, timeZone, run)) ?? (await sumBuckets(from, run)))
      : next - first > 1 && (run.at(-1)! - run[0]!) / (next - first) < LONG_MS
        ? await sumBuckets(from, run)
        : await sumEach(from, timeZone, run)
    for (const sum of read) sums.push({ ...sum, span: sum.span + first })
  }
  return sums
}

async function sumEach(from: From, timeZone: string, cuts: readonly number[]): Promise<Sum[]> {
  const sums: Sum[] = []
  for (const [span, start] of cuts.slice(0, -1).entries())
    for (const sum of await sumSpan(from, timeZone, [start, cuts[span + 1]!])) sums.push({ ...sum, span })
  return sums
}

/** One span: the totals of its whole days, and the quarter hours at its ends. */
async function sumSpan(from: From, timeZone: string, [start, end]: readonly [number, number]): Promise<Sum[]> {
  const first = plainMidnightFrom(timeZone, start)
  const last = wholeDaysUntil(timeZone, first, end)
  const middle = last > first ? await sumTotals(from, timeZone, [first, last]) : undefined
  if (middle === undefined) return sumBuckets(from, [start, end])
  const ends = [
    [start, first],
    [last, end],
  ].filter(([begin, close]) => begin! < close!)
  for (const part of ends) middle.push(...(await sumBuckets(from, part)))
  return middle
}

/** The first undisputed day's start at a moment or after it. */
function plainMidnightFrom(zone: string, ms: number): number {
  for (let day = wallDay(zone, ms); ; day++) {
    const start = startOfDay(zone, day)
    if (start >= ms && isPlainMidnight(zone, start)) return start
  }
}

/** The last undisputed day's start at a moment or before it; `first` when there is none between. */
function wholeDaysUntil(zone: string, first: number, ms: number): number {
  for (let day = wallDay(zone, ms); ; day--) {
    const start = startOfDay(zone, day)
    if (start <= first) return first
    if (start <= ms && isPlainMidnight(zone, start)) return start
  }
}

const QUARTER_MS = DAY_MS / 96

/**
 * Whether a moment is a day's start about which every reckoning of dates agrees: before it the old date and after it the new
 * one, for the hours around it. Where a clock is set back over midnight they differ.
 */
function isPlainMidnight(zone: string, ms: number): boolean {
  const day = wallDay(zone, ms)
  for (let i = 0; i < 12; i++) {
    if (wallDay(zone, ms + i * QUARTER_MS) !== day || wallDay(zone, ms - 1 - i * QUARTER_MS) !== day - 1) return false
  }
  return true
}

/** Sums by span and series as they are handed on. */
const handOn = ({ orgId, together }: From, sums: Prisma.Sql): Prisma.Sql =>
  together
    ? sql`select q.span, min(s.id) as "seriesId", sum(q.cost)::text as cost
        from (${sums}) q join "UsageSeries" s on s."orgId" = ${orgId} and s.id = q."seriesId" group by q.span, s."tagsKey", s.covered, s.rate`
    : sql`select q.span, q."seriesId", q.cost::text as cost from (${sums}) q`

/** From totals by day. Undefined when they are not kept by this zone (any more): one statement sees both at one moment. */
async function sumTotals(from: From, zone: string, cuts: readonly number[]): Promise<Sum[] | undefined> {
  const { tx, orgId } = from
  const dates = `{${cuts.map(cut => dateText(wallDay(zone, cut))).join(',')}}`
  const sums = sql`
    select width_bucket(start, ${dates}::date[]) - 1 as span, "seriesId", sum(cost) as cost from "UsageTotal"
    where "orgId" = ${orgId} and zone = ${zone} and span = 'day' and start >= (${dates}::date[])[1] and start < (${dates}::date[])[${cuts.length}::int]
    group by 1, 2`
  const [kept, ...rest] = await tx.$queryRaw<Sum[]>(sql`
    select -1 as span, 0 as "seriesId", '0' as cost from "Organisation" where id = ${orgId} and "timeZone" = ${zone}
    union all ${handOn(from, sums)} order by 1, 2`)
  return kept?.span === -1 ? rest : undefined
}

function sumBuckets(from: From, cuts: readonly number[]): Promise<Sum[]> {
  const { tx, orgId } = from
  const moments = `{${cuts.map(cut => new Date(cut).toISOString()).join(',')}}`
  const [first, end] = [cuts[0]!, cuts.at(-1)!]
  // The days are bounds by themselves too, so that other months' partitions are not opened.
  const sums = sql`
    select width_bucket(at, ${moments}::timestamptz[]) - 1 as span, "seriesId", sum(cost) as cost
    from (select "seriesId", cost, (day + quarter * interval '15 minutes') at time zone 'UTC' as at from "UsageBucket"
      where "orgId" = ${orgId} and day >= ${utcDay(first)}::date and day <= ${utcDay(end)}::date) b
    where at >= ${new Date(first)} and at < ${new Date(end)} group by 1, 2`
  return tx.$queryRaw<Sum[]>(handOn(from, sums))
}
