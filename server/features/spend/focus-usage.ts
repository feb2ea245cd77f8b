import { parseDecimal } from '#core/decimal.ts'
import type { FocusUsage } from '#core/focus-rows.ts'
import { type RenameMap, renamedTags } from '#core/usage/renames.ts'
import { tagsFromKey } from '#core/usage/tags.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { renamesInForce } from './renames.ts'

const { sql, empty } = Prisma

/** Sums of a UTC day, and the version of the rule set whose prices they came by. */
export type DaySum = FocusUsage & { version: number }

/** Half-open, UTC days. */
export type DayRange = { from: string; to: string }

/** UTC days of a range that have usage, in their order. */
export async function daysWithUsage(db: Tx, orgId: string, { from, to }: DayRange): Promise<string[]> {
  const rows = await db.$queryRaw<{ day: string }[]>`
    select distinct day::text from "UsageDay" where "orgId" = ${orgId} and day >= ${from}::date and day < ${to}::date order by 1`
  return rows.map(({ day }) => day)
}

/** Sums that are read at once: some megabytes as rows of text. */
const PAGE = 2000

type Key = [string, string, string, boolean, string, string, string, number]

/**
 * The sums of one UTC day that differ in client, provider, model, size, cover, kind of price, tags or the prices used, machines
 * and people together; in pages, each read in one statement, so that memory has an end however many there are.
 */
export async function* sumsOfDay(
  db: Tx,
  orgId: string,
  day: string,
  { page = PAGE }: { page?: number } = {},
): AsyncGenerator<DaySum[], void, undefined> {
  const renames = await renamesInForce(db, orgId)
  let after: Key | undefined
  for (;;) {
    const rows = await readPage(db, orgId, day, { page, after })
    if (rows.length > 0) yield rows.map(row => daySum(day, row, renames))
    const last = rows.at(-1)
    if (rows.length < page || !last) return
    after = [last.client, last.provider, last.model, last.long, last.covered, last.rate, last.tagsKey, last.version]
  }
}

type Row = {
  client: FocusUsage['client']
  provider: FocusUsage['provider']
  model: string
  long: boolean
  covered: FocusUsage['covered']
  rate: FocusUsage['rate']
  tagsKey: string
  version: number
  cost: string
} & Record<'calls' | 'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'output' | 'webSearches', bigint>

const COUNTS = ['calls', 'input', '"cacheRead"', '"cacheWrite5m"', '"cacheWrite1h"', 'output', '"webSearches"']
const COLUMNS = Prisma.raw([...COUNTS, 'cost'].join(', '))
const FIGURES = Prisma.raw(
  [...COUNTS.map(count => `sum(u.${count})::bigint as ${count}`), 'sum(u.cost)::text as cost'].join(', '),
)
const KEYS = Prisma.raw('s.client, s.provider, s.model, s.long, s.covered, s.rate, s."tagsKey"')

/** From the day's totals where they are of UTC days, else from its buckets; one statement sees the zone and what is kept by it. */
function readPage(
  db: Tx,
  orgId: string,
  day: string,
  { page, after }: { page: number; after: Key | undefined },
): Promise<Row[]> {
  const isUtc = sql`(select "timeZone" from "Organisation" where id = ${orgId}) = 'UTC'`
  return db.$queryRaw<Row[]>(sql`
    select ${KEYS}, coalesce(d."ruleVersion", 0) as version, ${FIGURES}
    from (
      select "seriesId", ${COLUMNS} from "UsageTotal"
      where ${isUtc} and "orgId" = ${orgId} and zone = 'UTC' and span = 'day' and start = ${day}::date
      union all
      select "seriesId", ${COLUMNS} from "UsageBucket" where not ${isUtc} and "orgId" = ${orgId} and day = ${day}::date
    ) u join "UsageSeries" s on s."orgId" = ${orgId} and s.id = u."seriesId"
      left join "UsageDay" d on d."orgId" = ${orgId} and d."machineId" = s."machineId" and d.day = ${day}::date
    ${after === undefined ? empty : sql`where (${KEYS}, coalesce(d."ruleVersion", 0)) > (${Prisma.join(after)})`}
    group by ${KEYS}, coalesce(d."ruleVersion", 0)
    order by ${KEYS}, coalesce(d."ruleVersion", 0)
    limit ${page}`)
}

function daySum(day: string, row: Row, renames: RenameMap): DaySum {
  const { client, provider, model, long, covered, rate, tagsKey, version, cost, calls, ...axes } = row
  return {
    day,
    client,
    provider,
    model,
    long,
    covered,
    rate,
    version,
    tags: renamedTags(renames, tagsFromKey(tagsKey)),
    calls: Number(calls),
    tokens: {
      input: Number(axes.input),
      cacheRead: Number(axes.cacheRead),
      cacheWrite5m: Number(axes.cacheWrite5m),
      cacheWrite1h: Number(axes.cacheWrite1h),
      output: Number(axes.output),
      webSearches: Number(axes.webSearches),
    },
    picoUsd: parseDecimal(cost) ?? 0n,
  }
}
