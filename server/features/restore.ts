import type { MachineActor, SystemActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import type { Json } from '#core/json.ts'
import { demandFresh } from '#core/permission.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { withdrawAllPending } from './approval/machine.ts'
import type { FeatureContext } from './context.ts'
import { recordEvidence } from './evidence.ts'

type Noticing<A extends MachineActor | SystemActor> = Pick<FeatureContext<A>, 'db' | 'now' | 'random'> & { actor: A }

/** A machine has shown signed rules that this database does not hold: it was restored from a backup. */
export async function noticeRestore(
  ctx: Noticing<MachineActor>,
  reported: { version: number; digest: string },
): Promise<void> {
  await ctx.db.$transaction(async tx => {
    const standing = await lockStanding(tx, ctx.actor.orgId)
    if (reported.version <= Math.max(standing.newest, standing.highestReported)) return
    await markRestored(tx, ctx, standing, reported.version, {
      reportedVersion: reported.version,
      newestVersion: standing.newest,
      reportedDigest: reported.digest,
    })
  })
}

/** The marks kept outside the database are ahead of its ledger, or another entry stands where the mark does. */
export async function noticeRollback(
  ctx: Noticing<SystemActor>,
  mark: { size: number; leaf: string; version: number; found: { size: number; leaf: string } },
): Promise<void> {
  await ctx.db.$transaction(async tx => {
    const standing = await lockStanding(tx, ctx.actor.orgId)
    await markRestored(tx, ctx, standing, mark.version, {
      markedSize: mark.size,
      markedLeaf: mark.leaf,
      markedVersion: mark.version,
      size: mark.found.size,
      leaf: mark.found.leaf,
    })
  })
}

type Standing = { restoredAt: Date | null; highestReported: number; newest: number }

/** Machines first and in order, then the organisation, then the ledger: the order that every other change takes. */
async function lockStanding(tx: Tx, orgId: string): Promise<Standing> {
  await tx.$queryRaw`
    select 1 from "Machine" where id in (select "machineId" from "ApprovalRequest" where "orgId" = ${orgId} and state = 'pending') order by id for no key update`
  const [org] = await tx.$queryRaw<{ restoredAt: Date | null; highestReported: number }[]>`
    select "restoredAt", "highestReported" from "Organisation" where id = ${orgId} for no key update`
  const newest = await tx.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { version: true },
  })
  return { ...org!, newest: newest?.version ?? 0 }
}

/** Nothing is published until an owner confirms, what waits is withdrawn, everybody signs in again. Once, until it is confirmed. */
async function markRestored(
  tx: Tx,
  ctx: Pick<FeatureContext<MachineActor | SystemActor>, 'actor' | 'now' | 'random'>,
  standing: Standing,
  seenVersion: number,
  data: { [key: string]: Json },
): Promise<void> {
  const { orgId } = ctx.actor
  const highestReported = Math.max(standing.highestReported, seenVersion)
  await tx.organisation.update({
    where: { id: orgId },
    data: { highestReported, restoredAt: standing.restoredAt ?? ctx.now },
  })
  await notify(tx, { org: orgId, what: 'settings' })
  if (standing.restoredAt) return
  await endSignIns(tx, orgId, ctx.now)
  await withdrawAllPending(tx, ctx, 'restored')
  await recordEvidence(tx, ctx, {
    kind: 'organisation.restored',
    subject: { kind: 'organisation', id: orgId },
    data,
  })
}

/**
 * Everything through which a person acts: a copy may hold what was ended after it was made. Machines go on; whether one of
 * them was revoked meanwhile, an owner sees on their page.
 */
async function endSignIns(tx: Tx, orgId: string, now: Date): Promise<void> {
  await tx.token.updateMany({
    where: { orgId, kind: { in: ['admin', 'deviceLink', 'join'] }, revokedAt: null },
    data: { revokedAt: now },
  })
  await tx.apiToken.updateMany({ where: { orgId, endedAt: null }, data: { endedAt: now } })
  await tx.session.deleteMany({ where: { orgId } })
}

/** An owner has looked: publishing goes on, above everything that machines have seen. */
export async function confirmRestore(ctx: FeatureContext): Promise<{ nextVersion: number }> {
  demandFresh(ctx.actor, 'restore.confirm', ctx.now)
  const { orgId } = ctx.actor
  return ctx.db.$transaction(async tx => {
    const { restoredAt, highestReported, newest } = await lockStanding(tx, orgId)
    if (!restoredAt) {
      throw new AppError('CONFLICT', 'Nothing waits to be confirmed: this organisation is not marked as restored.')
    }
    await tx.organisation.update({ where: { id: orgId }, data: { restoredAt: null } })
    const nextVersion = Math.max(newest, highestReported) + 1
    await notify(tx, { org: orgId, what: 'settings' })
    await recordEvidence(tx, ctx, {
      kind: 'organisation.restore_confirmed',
      subject: { kind: 'organisation', id: orgId },
      data: { highestReported, nextVersion },
    })
    return { nextVersion }
  })
}
