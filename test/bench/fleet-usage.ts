import pg from 'pg'
import { makeMember, makeOrganisation, type TestOrganisation } from '../support/makers.ts'
import type { BenchDatabase } from './usage-database.ts'

export type Fleet = { org: TestOrganisation; machines: number; days: number; from: string; to: string; rows: number }

/** Quarter hours a machine works a day, and models in each: 64 rows a day of a machine. */
const PER_DAY = 64

/**
 * An organisation whose machines have used models for so many days, up to 2026-11-30: two models in each of 32 quarter hours a
 * day, six series a machine, twelve tenants with four projects each. Made by the database itself; rows, days and totals are those
 * that as many uploads would have left.
 */
export async function makeFleet(
  { prisma, ownerUrl }: BenchDatabase,
  { machines, days }: { machines: number; days: number },
): Promise<Fleet> {
  const org = await makeOrganisation(prisma, `fleet-${machines}-${days}`)
  const member = await makeMember(prisma, org, 'member')
  const last = Date.UTC(2026, 10, 30)
  const from = new Date(last - (days - 1) * 86_400_000).toISOString().slice(0, 10)
  const client = new pg.Client(ownerUrl)
  await client.connect()
  try {
    await client.query(`set synchronous_commit = off; set work_mem = '256MB'`)
    await client.query(
      `select usage_month(m::date) from generate_series($1::date, '2026-11-30'::date, interval '27 days') m`,
      [from],
    )
    await client.query(`select usage_month('2026-11-30')`)
    await client.query(
      `insert into "Machine" (id, "orgId", "memberId", label, platform, connector, "publicKeyX", "joinedAt", unsupported, "usageAt")
       select $1 || '_m' || n, $1, $2, 'm' || n, 'linux', '0.1.0', 'x', now(), '{}', now() from generate_series(1, $3::int) n`,
      [org.id, member, machines],
    )
    await client.query(
      `insert into "UsageSeries" ("orgId", "machineId", "memberId", client, provider, model, long, covered, rate, tags, "tagsKey")
       select $1, $1 || '_m' || n, $2, 'claude-code', 'anthropic', (array['claude-opus-4-6', 'claude-sonnet-4-6'])[1 + k % 2], false,
         (array['metered', 'plan'])[1 + n % 2], 'card', t.tags, t.tags::text
       from generate_series(1, $3::int) n, generate_series(0, 5) k,
         lateral (select jsonb_build_object('tenant', 't' || (n * 7 + k / 2) % 12, 'project', 'p' || (n * 7 + k / 2) % 48) as tags) t`,
      [org.id, member, machines],
    )
    const rows = await client.query(
      `insert into "UsageBucket" ("orgId", day, "machineId", quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost)
       select $1, d::date, s."machineId", 32 + q, s.id, 1 + q % 9, 0, 1000 + q * 17, 90000 + q * 131, 4000 + q, 0, 300 + q * 7, 0, (1000 + q * 37 + s.id % 997) * 0.000013
       from generate_series($2::date, '2026-11-30'::date, interval '1 day') d,
         (select id, "machineId", (row_number() over (partition by "machineId" order by id) - 1)::int as k from "UsageSeries" where "orgId" = $1) s,
         generate_series(0, 31) q
       where s.k / 2 = (q + extract(day from d)::int) % 3`,
      [org.id, from],
    )
    const sums = [
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
    const list = sums.join(', ')
    const added = sums.map(name => `sum(${name})`).join(', ')
    const into = `insert into "UsageTotal" ("orgId", zone, span, start, "machineId", "seriesId", ${list})`
    await client.query(
      `${into} select $1, 'UTC', 'day', day, "machineId", "seriesId", ${added} from "UsageBucket" where "orgId" = $1 group by day, "machineId", "seriesId"`,
      [org.id],
    )
    await client.query(
      `${into} select $1, 'UTC', 'month', date_trunc('month', start)::date, "machineId", "seriesId", ${added} from "UsageTotal" where "orgId" = $1 and span = 'day' group by 4, 5, 6`,
      [org.id],
    )
    const together = async (span: string, until: string) => {
      const from = `from "UsageTotal" t join "UsageSeries" s on s.id = t."seriesId" where t."orgId" = $1 and t.span = '${span}' and t.start < $2::date`
      await client.query(
        `${into} select $1, 'UTC', 'fleet-${span}', t.start, '', min(s.id), ${added} ${from} group by t.start, s.model, s.covered, s."tagsKey"`,
        [org.id, until],
      )
      await client.query(
        `${into} select $1, 'UTC', 'machine-${span}', t.start, t."machineId", min(s.id), ${added} ${from} group by t.start, t."machineId", s.covered`,
        [org.id, until],
      )
    }
    await together('day', '2026-11-29')
    await together('month', '2026-11-01')
    await client.query(
      `insert into "UsageStale" select distinct "orgId", zone, start, "machineId" from "UsageTotal" where "orgId" = $1 and span = 'day' and start >= '2026-11-29'`,
      [org.id],
    )
    await client.query(
      `insert into "UsageDay" ("orgId", "machineId", day, seq, "computedAt", "receivedAt", digest, buckets, calls, cost, "machineCost", differing, "ruleVersion", unlisted)
       select $1, "machineId", start, 1, now(), now(), 'x', ${PER_DAY}, sum(calls), sum(cost), sum(cost), 0, 0, '{}' from "UsageTotal" where "orgId" = $1 and span = 'day' group by 2, 3`,
      [org.id],
    )
    await client.query('vacuum analyze "UsageBucket", "UsageTotal", "UsageStale", "UsageSeries", "UsageDay", "Machine"')
    return { org, machines, days, from, to: '2026-12-01', rows: rows.rowCount ?? 0 }
  } finally {
    await client.end()
  }
}
