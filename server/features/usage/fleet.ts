import { DAY_MS, utcDay } from '#core/day.ts'
import type { Db, Tx } from '../../db.ts'

const FIGURES = [
  'calls',
  'partial',
  'input',
  '"cacheRead"',
  '"cacheWrite5m"',
  '"cacheWrite1h"',
  'output',
  '"webSearches"',
  'cost',
]
const ADDED = FIGURES.map(figure => `sum(t.${figure})`).join(', ')

type Span = 'day' | 'month'

/**
 * Totals that many series share, from the machines' own of one start: of `fleet`, series that differ by machine only; of `machine`,
 * all of a machine that differ neither in cover nor in the kind of their price. Added up under the first of them. $1 org, $2 zone,
 * $3 start.
 */
const ROLLED = {
  fleet: { machine: `''`, apart: 's.client, s.provider, s.model, s.long, s.covered, s."coverBy", s.rate, s."tagsKey"' },
  machine: { machine: 't."machineId"', apart: 't."machineId", s.covered, s.rate' },
}
const rolled = (of: keyof typeof ROLLED, span: Span) => `
  insert into "UsageTotal" ("orgId", zone, span, start, "machineId", "seriesId", ${FIGURES.join(', ')})
  select $1, $2, '${of}-${span}', $3::date, ${ROLLED[of].machine}, min(s.id), ${ADDED}
  from "UsageTotal" t join "UsageSeries" s on s."orgId" = t."orgId" and s.id = t."seriesId"
  where t."orgId" = $1 and t.zone = $2 and t.span = '${span}' and t.start = $3::date
  group by ${ROLLED[of].apart}`

/** Dates of one round; the rest waits for the next. */
const AT_ONCE = 500

type StaleDate = { orgId: string; zone: string; day: string }

/**
 * Makes the fleet's totals anew for dates that machines' usage has changed. Today and yesterday are left as they are, marked: they
 * change all the time, and reports read their machines' totals. Until a date is made anew, reports do so for it too.
 * @param failed is told of an organisation of which a date cannot be made, which keeps no other waiting; without it that is thrown
 * @returns how many dates were made
 */
export async function makeFleetTotals(
  db: Db,
  now: Date,
  failed?: (error: unknown, orgId: string) => void,
): Promise<number> {
  const before = utcDay(now.getTime() - 2 * DAY_MS)
  const out = new Set<string>()
  for (let made = 0; ; ) {
    const dates = await db.$queryRaw<StaleDate[]>`
      select distinct "orgId", zone, day::text from "UsageStale"
      where day < ${before}::date and "orgId" <> all(${[...out]}::text[]) order by 1, 2, 3 limit ${AT_ONCE}`
    const known = out.size
    for (const date of dates) {
      if (out.has(date.orgId)) continue
      try {
        await db.$transaction(tx => makeDate(tx, date))
        made++
      } catch (error) {
        if (!failed) throw error
        out.add(date.orgId)
        failed(error, date.orgId)
      }
    }
    // what failed may have stood before others
    if (out.size === known || made >= AT_ONCE) return made
  }
}

/** One date: the mark goes and the totals come in one transaction, so that what is unmarked is right. */
async function makeDate(tx: Tx, { orgId, zone, day }: StaleDate): Promise<void> {
  // One at a time for an organisation: the last date of a month must see that it is the last.
  await tx.$executeRaw`select pg_advisory_xact_lock(hashtext('fleet totals'), hashtext(${orgId}))`
  // Waits for whoever is changing this date; what they leave is read below.
  await tx.$executeRaw`delete from "UsageStale" where "orgId" = ${orgId} and zone = ${zone} and day = ${day}::date`
  await remake(tx, 'day', orgId, zone, day)
  const month = `${day.slice(0, 7)}-01`
  // No two transactions are called the same, so that whoever keeps what they made of the month notices.
  await tx.$executeRaw`
    insert into "UsageMark" ("orgId", zone, month, made) values (${orgId}, ${zone}, ${month}::date, pg_current_xact_id()::text::bigint)
    on conflict ("orgId", zone, month) do update set made = excluded.made`
  const [rest] = await tx.$queryRaw<{ marked: boolean }[]>`
    select exists (select from "UsageStale" where "orgId" = ${orgId} and zone = ${zone}
      and day >= ${month}::date and day < (${month}::date + interval '1 month')) as marked`
  if (!rest!.marked) await remake(tx, 'month', orgId, zone, month)
}

async function remake(tx: Tx, span: Span, orgId: string, zone: string, start: string): Promise<void> {
  for (const whose of ['fleet', 'machine'] as const) {
    await tx.$executeRaw`
      delete from "UsageTotal" where "orgId" = ${orgId} and zone = ${zone} and span = ${`${whose}-${span}`} and start = ${start}::date`
    await tx.$executeRawUnsafe(rolled(whose, span), orgId, zone, start)
  }
}

/**
 * Marks dates of a machine whose totals are about to change. The mark's row is locked even when it stands already, so that nobody
 * takes it away before this transaction is over.
 */
export async function markStale(
  tx: Tx,
  { orgId, machineId }: { orgId: string; machineId: string },
  zone: string,
  dates: readonly string[],
): Promise<void> {
  await tx.$executeRaw`
    insert into "UsageStale" ("orgId", zone, day, "machineId")
    select ${orgId}, ${zone}, d, ${machineId} from unnest(${`{${dates.join(',')}}`}::date[]) d order by d
    on conflict ("orgId", zone, day, "machineId") do update set zone = excluded.zone`
}
