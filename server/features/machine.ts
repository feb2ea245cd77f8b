import type { MachineActor } from '#core/actor.ts'
import { demand } from '#core/permission.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { endAllOfMachine } from './approval/machine.ts'
import { type FeatureContext, notFound } from './context.ts'
import { recordEvidence } from './evidence.ts'

/** A machine leaves by itself (`holdpoint leave`): its token ends, what it asked for is withdrawn. What it reported stays. */
export async function leave(ctx: FeatureContext<MachineActor>): Promise<void> {
  await ctx.db.$transaction(async tx => {
    const ended = await endMachine(tx, ctx, ctx.actor.machineId, 'left', 'leftAt')
    if (ended)
      await recordEvidence(tx, ctx, { kind: 'machine.left', subject: { kind: 'machine', id: ctx.actor.machineId } })
  })
}

/** An admin ends a machine's membership, or a member that of a machine of their own. Repeating it changes nothing. */
export async function revokeMachine(ctx: FeatureContext, input: { id: string }): Promise<void> {
  const { orgId } = ctx.actor
  await ctx.db.$transaction(async tx => {
    const machine = await tx.machine.findFirst({ where: { id: input.id, orgId }, select: { id: true, memberId: true } })
    if (!machine) throw notFound('machine')
    const own = ctx.actor.kind === 'member' && ctx.actor.memberId === machine.memberId
    demand(ctx.actor, own ? 'machine.add' : 'machine.revoke')
    const ended = await endMachine(tx, ctx, machine.id, 'revoked', 'revokedAt')
    if (ended) await recordEvidence(tx, ctx, { kind: 'machine.revoked', subject: { kind: 'machine', id: machine.id } })
  })
}

/** Ends one machine inside a transaction; false when it had ended before. */
async function endMachine(
  tx: Tx,
  ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>,
  id: string,
  why: string,
  column: 'leftAt' | 'revokedAt',
): Promise<boolean> {
  const [row] = await tx.$queryRaw<
    { leftAt: Date | null; revokedAt: Date | null }[]
  >`select "leftAt", "revokedAt" from "Machine" where id = ${id} for no key update`
  if (!row || row.leftAt || row.revokedAt) return false
  await tx.machine.update({ where: { id }, data: { [column]: ctx.now } })
  await tx.token.updateMany({ where: { machineId: id, revokedAt: null }, data: { revokedAt: ctx.now } })
  // Look-only browser sessions that its links began end with it.
  await tx.$executeRaw`delete from "Session" where method = 'device_link' and "parentToken" in (select id from "Token" where "machineId" = ${id})`
  await notify(tx, { org: ctx.actor.orgId, what: 'machine', machine: id })
  await endAllOfMachine(tx, ctx, id, why)
  return true
}
