import type { Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import type { Taken } from './taken.ts'

type Row = { client: string; sessionRef: string; day: string; calls: number }

/** Calls that no hook had judged, as running totals by session and day: the highest is kept, and growth is evidence. */
export async function takeUnguarded(tx: Tx, machine: Machine, reported: Report['unguarded']): Promise<Taken> {
  const rows = new Map<string, Row>()
  for (const { client, sessionRef, day, calls } of reported) {
    const key = `${sessionRef} ${day}`
    if (calls > (rows.get(key)?.calls ?? 0)) rows.set(key, { client, sessionRef, day, calls })
  }
  if (rows.size === 0) return {}
  const json = JSON.stringify([...rows.values()])
  const grown = await tx.$queryRaw<{ client: string; added: number }[]>`
    with r as (select * from jsonb_to_recordset(${json}::jsonb) as r(client text, "sessionRef" text, day date, calls int)),
    old as (select u."sessionRef", u.day, u.calls from "UnguardedCalls" u join r using ("sessionRef", day) where u."machineId" = ${machine.id}),
    put as (
      insert into "UnguardedCalls" ("machineId", "orgId", client, "sessionRef", day, calls)
      select ${machine.id}, ${machine.orgId}, r.client, r."sessionRef", r.day, r.calls from r
      on conflict ("machineId", "sessionRef", day) do update set calls = greatest("UnguardedCalls".calls, excluded.calls)
      returning "sessionRef", day, client, calls)
    select put.client, sum(put.calls - coalesce(old.calls, 0))::int as added
    from put left join old using ("sessionRef", day) group by put.client having sum(put.calls - coalesce(old.calls, 0)) > 0 order by put.client`
  return {
    happened: grown.map(({ client, added }) => ({
      kind: 'machine.unguarded_calls',
      subject: { kind: 'machine', id: machine.id },
      data: { client, added },
    })),
  }
}
