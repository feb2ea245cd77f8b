import { addDays } from '#core/day.ts'
import type { Tx } from '../../db.ts'
import { markStale } from './fleet.ts'

type MachineKey = { orgId: string; machineId: string }

const SUMS =
  'sum(calls)::bigint as calls, sum(partial)::bigint as partial, sum(input)::bigint as input, sum("cacheRead")::bigint as "cacheRead", sum("cacheWrite5m")::bigint as "cacheWrite5m", sum("cacheWrite1h")::bigint as "cacheWrite1h", sum(output)::bigint as output, sum("webSearches")::bigint as "webSearches", sum(cost) as cost'
const COLUMNS =
  '"orgId", zone, span, start, "machineId", "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost'

/** `sums` in the place of a machine's totals of one span; what did not change is not written. $1 org, $2 machine, $3 zone, $4 starts. */
const put = (span: 'day' | 'month', sums: string) => `
  with n as materialized (${sums}), gone as (
    delete from "UsageTotal" t where t."orgId" = $1 and t.zone = $3 and t.span = '${span}' and t.start = any($4::date[]) and t."machineId" = $2
      and not exists (select from n where n.start = t.start and n."seriesId" = t."seriesId"))
  insert into "UsageTotal" (${COLUMNS})
  select $1, $3, '${span}', start, $2, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost from n
  on conflict ("orgId", zone, span, start, "machineId", "seriesId") do update set calls = excluded.calls, partial = excluded.partial, input = excluded.input,
    "cacheRead" = excluded."cacheRead", "cacheWrite5m" = excluded."cacheWrite5m", "cacheWrite1h" = excluded."cacheWrite1h", output = excluded.output,
    "webSearches" = excluded."webSearches", cost = excluded.cost
  where ("UsageTotal".calls, "UsageTotal".partial, "UsageTotal".input, "UsageTotal"."cacheRead", "UsageTotal"."cacheWrite5m", "UsageTotal"."cacheWrite1h", "UsageTotal".output, "UsageTotal"."webSearches", "UsageTotal".cost)
    is distinct from (excluded.calls, excluded.partial, excluded.input, excluded."cacheRead", excluded."cacheWrite5m", excluded."cacheWrite1h", excluded.output, excluded."webSearches", excluded.cost)`

/** The date in a zone of a quarter hour of a UTC day. Zones of today lie whole quarter hours apart from UTC. */
const LOCAL = `(((day + quarter * interval '15 minutes') at time zone 'UTC') at time zone $3)::date`

/**
 * Makes the totals of a machine anew in which these UTC days lie: by day and by month of the zone, each from the level below.
 * Derived anew and not added to, so that they cannot drift.
 */
export async function retotal(tx: Tx, { orgId, machineId }: MachineKey, zone: string, days: string[]): Promise<void> {
  const local = zone === 'UTC' ? days : await localDays(tx, zone, days)
  if (local.length === 0) return
  await markStale(tx, { orgId, machineId }, zone, local)
  const put1 = (span: 'day' | 'month', sums: string, starts: string[], read: string[]) =>
    tx.$executeRawUnsafe(put(span, sums), orgId, machineId, zone, list(starts), list(read))
  await put1(
    'day',
    zone === 'UTC'
      ? `select day as start, "seriesId", ${SUMS} from "UsageBucket" where "orgId" = $1 and "machineId" = $2 and day = any($5::date[]) group by 1, 2`
      : `select * from (select ${LOCAL} as start, "seriesId", ${SUMS} from "UsageBucket" where "orgId" = $1 and "machineId" = $2 and day = any($5::date[]) group by 1, 2) b where start = any($4::date[])`,
    local,
    zone === 'UTC' ? days : around(local),
  )
  const months = [...new Set(local.map(day => `${day.slice(0, 7)}-01`))]
  await put1(
    'month',
    `select date_trunc('month', start)::date as start, "seriesId", ${SUMS} from "UsageTotal"
     where "orgId" = $1 and zone = $3 and span = 'day' and start = any($5::date[]) and "machineId" = $2 group by 1, 2`,
    months,
    months.flatMap(allOfMonth),
  )
}

const list = (days: readonly string[]): string => `{${days.join(',')}}`

/** The dates in the zone that UTC days overlap. */
async function localDays(tx: Tx, zone: string, days: string[]): Promise<string[]> {
  const rows = await tx.$queryRaw<{ day: string }[]>`
    select distinct (((d.day + e.part) at time zone 'UTC') at time zone ${zone})::date::text as day
    from unnest(${list(days)}::date[]) d(day), (values (interval '0'), (interval '23:45')) e(part)`
  return rows.map(row => row.day)
}

/** UTC days that may reach into dates of a zone. */
const around = (local: readonly string[]): string[] => [
  ...new Set(local.flatMap(day => [addDays(day, -1), day, addDays(day, 1)])),
]

function allOfMonth(first: string): string[] {
  const days: string[] = []
  for (let day = first; day.slice(0, 7) === first.slice(0, 7); day = addDays(day, 1)) days.push(day)
  return days
}
