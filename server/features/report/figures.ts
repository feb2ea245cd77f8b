import type { Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'

/** What organisation rules did. Sent again with another end (asked, then released), the newer end stands. */
export async function takeOutcomes(tx: Tx, machine: Machine, reported: Report['outcomes']): Promise<void> {
  const rows = [...new Map(reported.map(outcome => [`${outcome.handle} ${outcome.rule}`, outcome])).values()]
  if (rows.length === 0) return
  await tx.$executeRaw`
    insert into "RuleOutcome" ("machineId", "orgId", handle, rule, client, action, "sessionRef", stage, outcome, did, at, figures)
    select ${machine.id}, ${machine.orgId}, r.handle, r.rule, r.client, r.action, r."sessionRef", r.stage, r.outcome, r.did, r.at, r.figures
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(handle text, rule text, client text, action text, "sessionRef" text, stage text, outcome text, did text, at timestamptz, figures jsonb)
    on conflict ("machineId", handle, rule) do update set outcome = excluded.outcome, did = excluded.did, at = excluded.at, figures = excluded.figures
    where "RuleOutcome".at <= excluded.at`
}

const HOUR_MS = 3600_000
const KEPT_DAYS = 31

/**
 * Running totals of an hour: the larger count, with its figures, is kept, so that a repeat adds nothing. Hours of a clock
 * that is far ahead, or older than the preview looks back, are left out.
 */
export async function takeCounts(tx: Tx, machine: Machine, reported: Report['counts'], now: Date): Promise<void> {
  const rows = new Map<string, Report['counts'][number]>()
  for (const count of reported) {
    const hourMs = Math.floor(Date.parse(count.hour) / HOUR_MS) * HOUR_MS
    if (hourMs > now.getTime() + HOUR_MS || hourMs < now.getTime() - KEPT_DAYS * 24 * HOUR_MS) continue
    const row = { ...count, hour: new Date(hourMs).toISOString() }
    const key = `${row.hour} ${row.client} ${row.action} ${row.sessionRef}`
    if (row.calls >= (rows.get(key)?.calls ?? 0)) rows.set(key, row)
  }
  if (rows.size === 0) return
  await tx.$executeRaw`
    insert into "HourlyCount" ("machineId", "orgId", hour, client, action, "sessionRef", calls, figures)
    select ${machine.id}, ${machine.orgId}, r.hour, r.client, r.action, r."sessionRef", r.calls, r.figures
    from jsonb_to_recordset(${JSON.stringify([...rows.values()])}::jsonb)
      as r(hour timestamptz, client text, action text, "sessionRef" text, calls int, figures jsonb)
    on conflict ("machineId", hour, client, action, "sessionRef") do update set calls = excluded.calls, figures = excluded.figures
    where "HourlyCount".calls <= excluded.calls`
}
