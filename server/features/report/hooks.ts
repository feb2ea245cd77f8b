import { HOOK_OFF, listed, type Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import type { Happening } from '../evidence.ts'
import type { Taken } from './taken.ts'

/** How far each client binds on the machine. A change of level, or of what switches a hook off, is evidence. */
export async function takeHooks(tx: Tx, machine: Machine, reported: Report['hooks'], now: Date): Promise<Taken> {
  const hooks = new Map(
    reported.map(hook => [
      hook.client as string,
      { ...hook, off: [...new Set(hook.off.map(word => listed(HOOK_OFF, word)))].sort() },
    ]),
  )
  const before = new Map(
    (await tx.machineHook.findMany({ where: { machineId: machine.id } })).map(hook => [hook.client, hook]),
  )
  const happened: Happening[] = []
  const tell = (client: string, from: string, to: string, off: string[]) =>
    happened.push({
      kind: 'machine.level_changed',
      subject: { kind: 'machine', id: machine.id },
      data: { client, from, to, off },
    })
  const changed: { client: string; version: string | null; level: string; off: string[] }[] = []
  for (const [client, hook] of hooks) {
    const was = before.get(client)
    const binds = was?.level === hook.level && was.off.join() === hook.off.join()
    if (!binds) tell(client, was?.level ?? 'not-installed', hook.level, hook.off)
    if (!binds || was?.version !== (hook.version ?? null))
      changed.push({ client, version: hook.version ?? null, level: hook.level, off: hook.off })
  }
  const gone = [...before.values()].filter(hook => !hooks.has(hook.client))
  for (const hook of gone) tell(hook.client, hook.level, 'not-installed', [])
  if (gone.length > 0)
    await tx.machineHook.deleteMany({ where: { machineId: machine.id, client: { in: gone.map(hook => hook.client) } } })
  if (changed.length > 0) {
    await tx.$executeRaw`
      insert into "MachineHook" ("machineId", "orgId", client, version, level, off, "changedAt")
      select ${machine.id}, ${machine.orgId}, h.client, h.version, h.level, h.off, ${now}
      from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) as h(client text, version text, level text, off text[])
      on conflict ("machineId", client) do update set version = excluded.version, level = excluded.level, off = excluded.off, "changedAt" = excluded."changedAt"`
  }
  return { happened }
}
