import type { CrossedFigure } from '#core/approval/request.ts'
import { FIGURES } from '#core/figure.ts'
import { tierRank } from '#core/model-tier.ts'
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

type Count = Report['counts'][number]
const keyOf = (row: { hour: string | Date; client: string; action: string; sessionRef: string }) =>
  `${new Date(row.hour).toISOString()} ${row.client} ${row.action} ${row.sessionRef}`

/**
 * Counts since the machine's last report, added to the hour they belong to; each report is taken exactly once, so nothing is
 * counted twice. Of the figures the one nearest to holding is kept. Hours of a clock that is far ahead, or older than the
 * preview looks back, are left out.
 */
export async function takeCounts(tx: Tx, machine: Machine, reported: readonly Count[], now: Date): Promise<void> {
  const rows = new Map<string, Count>()
  for (const count of reported) {
    const hourMs = Math.floor(Date.parse(count.hour) / HOUR_MS) * HOUR_MS
    if (hourMs > now.getTime() + HOUR_MS || hourMs < now.getTime() - KEPT_DAYS * 24 * HOUR_MS) continue
    add(rows, { ...count, hour: new Date(hourMs).toISOString() })
  }
  if (rows.size === 0) return
  const sessions = [...new Set([...rows.values()].map(row => row.sessionRef))]
  const hours = [...new Set([...rows.values()].map(row => row.hour))]
  const kept = await tx.hourlyCount.findMany({
    where: { machineId: machine.id, sessionRef: { in: sessions }, hour: { in: hours } },
  })
  for (const row of kept)
    if (rows.has(keyOf(row))) add(rows, { ...row, hour: row.hour.toISOString() } as unknown as Count)
  await tx.$executeRaw`
    insert into "HourlyCount" ("machineId", "orgId", hour, client, action, "sessionRef", calls, figures)
    select ${machine.id}, ${machine.orgId}, r.hour, r.client, r.action, r."sessionRef", r.calls, r.figures
    from jsonb_to_recordset(${JSON.stringify([...rows.values()])}::jsonb)
      as r(hour timestamptz, client text, action text, "sessionRef" text, calls int, figures jsonb)
    on conflict ("machineId", hour, client, action, "sessionRef") do update set calls = excluded.calls, figures = excluded.figures`
}

function add(rows: Map<string, Count>, count: Count): void {
  const before = rows.get(keyOf(count))
  const calls = Math.min(1_000_000_000, (before?.calls ?? 0) + count.calls)
  rows.set(keyOf(count), { ...count, calls, figures: worstOf([...(before?.figures ?? []), ...count.figures]) })
}

/** One of each figure: the highest, or the lowest of what is left of a plan. */
function worstOf(figures: readonly CrossedFigure[]): CrossedFigure[] {
  const worst = new Map<string, CrossedFigure>()
  for (const figure of figures) {
    const key = `${figure.name} ${figure.qualifier ?? ''}`
    const held = worst.get(key)
    if (!held || isWorse(figure, held)) worst.set(key, figure)
  }
  return [...worst.values()].slice(0, 16)
}

function isWorse(a: CrossedFigure, than: CrossedFigure): boolean {
  if (a.unit === 'tier') return tierRank(a.value) > tierRank(than.value)
  const difference = Number(a.value) - Number(than.value)
  return FIGURES[a.name].worst === 'min' ? difference < 0 : difference > 0
}
