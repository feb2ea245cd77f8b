import type { MachineActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { DEVICE_LINK_MS, JOIN_TOKEN_MS } from '#core/limits.ts'
import { makeToken, tokenKind } from '#core/token.ts'
import type { Tx } from '../db.ts'
import { hashToken } from '../keys/token-hash.ts'
import { type FeatureContext, newId, type Visit } from './context.ts'
import { demandRate } from './rate.ts'
import { type BegunSession, beginSession } from './session.ts'

/** What the server prints lives as long as a join token. */
const CONSOLE_MS = JOIN_TOKEN_MS

const gone = () =>
  new AppError('EXPIRED', 'This address was used already, or is too old.', {
    remedy: 'Ask for a new one where you got it.',
    details: { why: 'link' },
  })

/** A one-time sign-in for a member who has never signed in: what the server prints at the first start, and for a new organisation's owner. */
export async function makeConsoleSignIn(
  tx: Tx,
  visit: Visit,
  member: { id: string; orgId: string },
): Promise<{ url: string; expiresAt: Date }> {
  const token = makeToken('console', visit.random(32))
  const expiresAt = new Date(visit.now.getTime() + CONSOLE_MS)
  await tx.token.updateMany({
    where: { memberId: member.id, kind: 'console', usedAt: null, revokedAt: null },
    data: { revokedAt: visit.now },
  })
  await tx.token.create({
    data: {
      id: newId(visit, 'credential'),
      kind: 'console',
      hash: hashToken(token),
      orgId: member.orgId,
      memberId: member.id,
      createdAt: visit.now,
      expiresAt,
    },
  })
  return { url: `${visit.origin}/link?t=${token}`, expiresAt }
}

/** A look-only sign-in for the member of a machine (`team web`). */
export async function makeDeviceLink(ctx: FeatureContext<MachineActor>): Promise<{ url: string; expiresAt: Date }> {
  const { actor } = ctx
  await demandRate(ctx, 'deviceLinkByMachine', actor.machineId)
  const token = makeToken('deviceLink', ctx.random(32))
  const expiresAt = new Date(ctx.now.getTime() + DEVICE_LINK_MS)
  await ctx.db.token.create({
    data: {
      id: newId(ctx, 'credential'),
      kind: 'deviceLink',
      hash: hashToken(token),
      orgId: actor.orgId,
      memberId: actor.memberId,
      machineId: actor.machineId,
      createdAt: ctx.now,
      expiresAt,
    },
  })
  return { url: `${ctx.origin}/link?t=${token}`, expiresAt }
}

/**
 * Redeems either kind, once. What a machine's link begins is a `device_link` session, which reads and withdraws its member's
 * own requests; it goes into a cookie of its own. What the server printed begins a `console` session.
 */
export async function redeemOneTime(
  visit: Visit,
  input: { token: string; kind: 'console' | 'deviceLink'; replaces?: string | undefined },
): Promise<BegunSession> {
  if (tokenKind(input.token) !== input.kind) throw gone()
  return visit.db.$transaction(async tx => {
    const hash = hashToken(input.token)
    const { count } = await tx.token.updateMany({
      where: { hash, kind: input.kind, usedAt: null, revokedAt: null, expiresAt: { gt: visit.now } },
      data: { usedAt: visit.now },
    })
    if (count === 0) throw gone()
    const token = await tx.token.findUniqueOrThrow({ where: { hash }, include: { member: true, machine: true } })
    if (token.member.removedAt || token.machine?.revokedAt || token.machine?.leftAt) throw gone()
    return beginSession(tx, visit, token.member, {
      method: input.kind === 'console' ? 'console' : 'device_link',
      authnAt: visit.now,
      demo: false,
      parentToken: token.id,
      replaces: input.replaces,
    })
  })
}
