import type { Json } from '#core/json.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { endAllOfMachine } from './approval/machine.ts'
import type { FeatureContext } from './context.ts'
import { recordEvidence } from './evidence.ts'

type Why = 'member_removed' | 'laptop_lost'

/**
 * Ends everything through which a member acts, in the caller's transaction: browser sessions and sign-ins under way, every
 * token, the command's credentials, machines with their open requests and grants. Every way of losing somebody goes
 * through here, so that none leaves a key behind.
 * @returns how many of each were ended, for the evidence
 */
export async function endPresence(
  tx: Tx,
  ctx: FeatureContext,
  member: { id: string; orgId: string; email: string },
  why: Why,
): Promise<{ [key: string]: Json }> {
  const { now } = ctx
  await lockMachines(tx, member.id)
  await endLogins(tx, member.id, now)
  const tokens = await tx.token.updateMany({
    where: { memberId: member.id, revokedAt: null },
    data: { revokedAt: now },
  })
  const programs = await endApiTokens(tx, member.id, now)
  // A code that lies in the lost laptop's mail must not bring it back.
  await tx.signInAttempt.updateMany({ where: { email: member.email, usedAt: null }, data: { usedAt: now } })
  // After what begins them: whoever redeems a code or a link right now holds its row, so their session is there by now.
  const sessions = await tx.session.deleteMany({ where: { memberId: member.id } })
  const machines = await tx.machine.findMany({
    where: { memberId: member.id, leftAt: null, revokedAt: null },
    select: { id: true, label: true },
    orderBy: { id: 'asc' },
  })
  for (const { id } of machines) {
    await endAllOfMachine(tx, ctx, id, why)
    await tx.machine.update({ where: { id }, data: { revokedAt: now } })
    await notify(tx, { org: member.orgId, what: 'machine', machine: id })
    await recordEvidence(tx, ctx, { kind: 'machine.revoked', subject: { kind: 'machine', id }, data: { why } })
  }
  return { sessions: sessions.count, tokens: tokens.count + programs, machines: machines.length }
}

/**
 * Ends logins of the command that the member has confirmed and nobody fetched yet. Before their credentials are ended:
 * whoever fetches one right now holds the login's row, so it is among the tokens by then.
 */
export async function endLogins(tx: Tx, memberId: string, now: Date): Promise<void> {
  await tx.adminLogin.updateMany({ where: { memberId, takenAt: null, deniedAt: null }, data: { deniedAt: now } })
}

/** Ends the tokens for programs that a member made: whoever may not make one any more leaves none behind. @returns how many */
export async function endApiTokens(tx: Tx, memberId: string, now: Date): Promise<number> {
  // Whoever makes one right now holds the member's row, so it is there by then.
  await tx.$queryRaw`select 1 from "Member" where id = ${memberId} for no key update`
  const { count } = await tx.apiToken.updateMany({
    where: { memberId, endedAt: null, expiresAt: { gt: now } },
    data: { endedAt: now },
  })
  return count
}

/**
 * The one order of locks, which every change of several rows keeps: who may join for a member, their machines by id, requests,
 * the member, the organisation, the ledger. No machine of the member's can appear until the caller's transaction ends.
 * All of them are locked `for no key update`: a row that merely names one (a foreign key's check, at any moment of a
 * transaction) then waits for none of them.
 */
export async function lockMachines(tx: Tx, memberId: string): Promise<void> {
  await lockJoining(tx, memberId)
  await tx.$queryRaw`select 1 from "Machine" where "memberId" = ${memberId} order by id for no key update`
}

/** Held by whoever joins a machine for a member, and by whoever ends all of a member's machines. */
export async function lockJoining(tx: Tx, memberId: string): Promise<void> {
  await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`machines of ${memberId}`}, 0))::text`
}
