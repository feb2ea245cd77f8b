import { strengthOf } from '#core/client.ts'
import { HOOK_OFF, listed, type Report } from '#core/protocol.ts'
import type { Machine } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Happening } from '../evidence.ts'
import type { Taken } from './taken.ts'

type Row = {
  client: string
  version: string | null
  level: string
  off: string[]
  rules: { rule: string; level: string }[]
  countedOn: string | null
}

/** Whether a client holds less than its owners count on. */
export const isLost = ({ level, countedOn }: { level: string; countedOn: string | null }): boolean =>
  countedOn !== null && strengthOf(level) < strengthOf(countedOn)

/** A hook that is taken out and put back within this time is no mail. */
const SETTLE_MS = 3000

/**
 * How far each client binds on the machine. A change of level, or of what switches a hook off, is evidence; one that makes a
 * client hold less than its owners count on, or mends that, is mailed to them (jobs/hooks-mail.ts).
 */
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
  const changed: Row[] = []
  for (const [client, hook] of hooks) {
    const was = before.get(client)
    // a client that was never there is no change
    const binds = (was?.level ?? 'not-installed') === hook.level && (was?.off ?? []).join() === hook.off.join()
    if (!binds) tell(client, was?.level ?? 'not-installed', hook.level, hook.off)
    const rules = hook.rules ?? []
    if (binds && was && was.version === (hook.version ?? null) && JSON.stringify(was.rules) === JSON.stringify(rules))
      continue
    // what was lost counts until somebody was told of it and of its return
    const isMore = strengthOf(hook.level) >= strengthOf(was?.countedOn ?? 'not-installed') && !was?.lossToldAt
    changed.push({
      client,
      version: hook.version ?? null,
      level: hook.level,
      off: hook.off,
      rules,
      countedOn: isMore ? (strengthOf(hook.level) > 0 ? hook.level : null) : (was?.countedOn ?? null),
    })
  }
  for (const was of before.values()) {
    if (hooks.has(was.client) || was.level === 'not-installed') continue
    tell(was.client, was.level, 'not-installed', [])
    const { client, countedOn } = was
    changed.push({ client, version: null, level: 'not-installed', off: [], rules: [], countedOn })
  }
  if (changed.length > 0) {
    await tx.$executeRaw`
      insert into "MachineHook" ("machineId", "orgId", client, version, level, off, rules, "countedOn", "changedAt")
      select ${machine.id}, ${machine.orgId}, h.client, h.version, h.level, h.off, h.rules, h."countedOn", ${now}
      from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
        as h(client text, version text, level text, off text[], rules jsonb, "countedOn" text)
      on conflict ("machineId", client) do update set version = excluded.version, level = excluded.level, off = excluded.off,
        rules = excluded.rules, "countedOn" = excluded."countedOn",
        "changedAt" = case when "MachineHook".level = excluded.level then "MachineHook"."changedAt" else excluded."changedAt" end`
  }
  const isLess = ({ client, level, countedOn }: Row) => {
    const lossToldAt = before.get(client)?.lossToldAt ?? null
    return lossToldAt === null ? isLost({ level, countedOn }) : !isLost({ level, countedOn })
  }
  if (changed.some(isLess))
    await enqueue(
      tx,
      'machine.hooks_mail',
      { org: machine.orgId, machine: machine.id },
      { key: `hooks:${machine.id}`, runAt: new Date(now.getTime() + SETTLE_MS) },
    )
  return { happened }
}
