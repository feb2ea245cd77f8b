import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'

/** Alarms by kind and time: sent again, the larger count stands. */
export async function raiseAlarms(
  tx: Tx,
  machine: Machine,
  alarms: readonly { what: string; at: string; count: number }[],
): Promise<void> {
  const rows = new Map<string, { what: string; at: string; count: number }>()
  for (const alarm of alarms) {
    const key = `${alarm.what} ${Date.parse(alarm.at)}`
    if (alarm.count >= (rows.get(key)?.count ?? 0))
      rows.set(key, { what: alarm.what, at: alarm.at, count: alarm.count })
  }
  if (rows.size === 0) return
  await tx.$executeRaw`
    insert into "MachineAlarm" ("machineId", "orgId", what, at, count)
    select ${machine.id}, ${machine.orgId}, r.what, r.at, r.count
    from jsonb_to_recordset(${JSON.stringify([...rows.values()])}::jsonb) as r(what text, at timestamptz(3), count int)
    on conflict ("machineId", what, at) do update set count = greatest("MachineAlarm".count, excluded.count)`
}
