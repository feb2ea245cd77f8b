import type { MachineActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { notify } from '../bus.ts'
import { withdrawAllPending } from './approval/machine.ts'
import type { FeatureContext } from './context.ts'
import { recordEvidence } from './evidence.ts'

/**
 * A machine has seen rules that this database does not hold: it was restored from a backup (TRUST §5). Nothing is published
 * until an owner confirms, what waits is withdrawn, everybody signs in again. Repeating it changes nothing.
 */
export async function noticeRestore(
  ctx: FeatureContext<MachineActor>,
  reported: { version: number; digest: string | undefined },
): Promise<void> {
  const { orgId } = ctx.actor
  await ctx.db.$transaction(async tx => {
    // Machines first and in order, then the organisation, then the ledger: the order that every other change takes.
    await tx.$queryRaw`
      select 1 from "Machine" where id in (select "machineId" from "ApprovalRequest" where "orgId" = ${orgId} and state = 'pending') order by id for update`
    const [org] = await tx.$queryRaw<{ restoredAt: Date | null; highestReported: number }[]>`
      select "restoredAt", "highestReported" from "Organisation" where id = ${orgId} for update`
    const newest = await tx.ruleSetVersion.findFirst({
      where: { orgId },
      orderBy: { version: 'desc' },
      select: { version: true },
    })
    const known = Math.max(newest?.version ?? 0, org!.highestReported)
    if (reported.version <= known) return
    await tx.organisation.update({
      where: { id: orgId },
      data: { highestReported: reported.version, restoredAt: org!.restoredAt ?? ctx.now },
    })
    await notify(tx, { org: orgId, what: 'settings' })
    if (org!.restoredAt) return
    await tx.session.deleteMany({ where: { orgId } })
    await withdrawAllPending(tx, ctx, 'restored')
    await recordEvidence(tx, ctx, {
      kind: 'organisation.restored',
      subject: { kind: 'organisation', id: orgId },
      data: {
        reportedVersion: reported.version,
        newestVersion: newest?.version ?? 0,
        ...(reported.digest ? { reportedDigest: reported.digest } : {}),
      },
    })
  })
}

/** An owner has looked: publishing goes on, above everything that machines have seen. */
export async function confirmRestore(ctx: FeatureContext): Promise<{ nextVersion: number }> {
  demand(ctx.actor, 'restore.confirm')
  const { orgId } = ctx.actor
  return ctx.db.$transaction(async tx => {
    const [org] = await tx.$queryRaw<{ restoredAt: Date | null; highestReported: number }[]>`
      select "restoredAt", "highestReported" from "Organisation" where id = ${orgId} for update`
    if (!org?.restoredAt)
      throw new AppError('CONFLICT', 'Nothing waits to be confirmed: this organisation is not marked as restored.')
    await tx.organisation.update({ where: { id: orgId }, data: { restoredAt: null } })
    const newest = await tx.ruleSetVersion.findFirst({
      where: { orgId },
      orderBy: { version: 'desc' },
      select: { version: true },
    })
    const nextVersion = Math.max(newest?.version ?? 0, org.highestReported) + 1
    await notify(tx, { org: orgId, what: 'settings' })
    await recordEvidence(tx, ctx, {
      kind: 'organisation.restore_confirmed',
      subject: { kind: 'organisation', id: orgId },
      data: { highestReported: org.highestReported, nextVersion },
    })
    return { nextVersion }
  })
}
