import type { MemberActor } from '#core/actor.ts'
import { normaliseEmail } from '#core/email.ts'
import { AppError } from '#core/error.ts'
import { INVITATION_MS } from '#core/limits.ts'
import { demand, demandFresh, maySetRole } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import type { Role } from '#core/role.ts'
import { makeToken, tokenKind } from '#core/token.ts'
import type { Invitation, Member } from '#generated/prisma/client.ts'
import { notify } from '../bus.ts'
import { isUniqueViolation, type Tx } from '../db.ts'
import { enqueue } from '../jobs/queue.ts'
import { hashToken } from '../keys/token-hash.ts'
import { type FeatureContext, newId, notFound, type Visit } from './context.ts'
import { recordEvidence } from './evidence.ts'

const open = (now: Date) => ({ acceptedAt: null, revokedAt: null, expiresAt: { gt: now } })

/**
 * Invites an address; never above one's own role. Inviting it again replaces the open invitation, so that there is one link
 * and one role. The mailed link only names the invitation: it is accepted by signing in as that address.
 */
export const inviteMember = (ctx: FeatureContext, input: Invited): Promise<{ id: string; expiresAt: Date }> =>
  ctx.db.$transaction(tx => inviteIn(tx, ctx, input))

type Invited = { email: string; name: string; role: Role }

/** {@link inviteMember} as a part of a larger transaction. */
export async function inviteIn(tx: Tx, ctx: FeatureContext, input: Invited): Promise<{ id: string; expiresAt: Date }> {
  const { actor } = ctx
  demand(actor, 'member.invite')
  const email = normaliseEmail(input.email)
  const name = plainName(input.name)
  if (name === '') throw new AppError('BAD_INPUT', 'An invitation needs a name.')
  demandRole(actor, input.role)
  if (input.role === 'owner') demandFresh(actor, 'owner.change', ctx.now)
  const id = newId(ctx, 'invitation')
  const token = makeToken('invitation', ctx.random(32))
  const expiresAt = new Date(ctx.now.getTime() + INVITATION_MS)
  await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`invite ${actor.orgId} ${email}`}, 0))::text`
  // Whoever accepts one right now holds its row, so they are a member by then.
  await tx.$queryRaw`select 1 from "Invitation" where "orgId" = ${actor.orgId} and email = ${email} order by id for update`
  if (await tx.member.findFirst({ where: { orgId: actor.orgId, email, removedAt: null }, select: { id: true } })) {
    throw new AppError('CONFLICT', 'This address is a member already.')
  }
  for (const old of await tx.invitation.findMany({ where: { orgId: actor.orgId, email, ...open(ctx.now) } }))
    await revoke(tx, ctx, old, 'replaced')
  await tx.invitation.create({
    data: {
      id,
      orgId: actor.orgId,
      email,
      name,
      role: input.role,
      tokenHash: hashToken(token),
      invitedById: actor.memberId,
      createdAt: ctx.now,
      expiresAt,
    },
  })
  await enqueue(tx, 'invitation.mail', { invitation: id, token }, { org: actor.orgId })
  await notify(tx, { org: actor.orgId, what: 'member' })
  await recordEvidence(tx, ctx, {
    kind: 'member.invited',
    subject: { kind: 'invitation', id },
    data: { role: input.role },
  })
  return { id, expiresAt }
}

function demandRole(actor: MemberActor, role: Role): void {
  if (maySetRole(actor, 'member', role)) return
  throw new AppError(
    'FORBIDDEN',
    role === 'owner' ? 'Only an owner makes an owner.' : `Nobody invites above their own role; yours is ${actor.role}.`,
  )
}

/** Ends an invitation that was not accepted; its link opens nothing from then on. */
export async function revokeInvitation(ctx: FeatureContext, input: { id: string }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'member.invite')
  await ctx.db.$transaction(async tx => {
    const row = await tx.invitation.findFirst({
      where: { id: input.id, orgId: actor.orgId, acceptedAt: null, revokedAt: null },
    })
    if (!row) throw notFound('open invitation')
    if (!maySetRole(actor, row.role, row.role))
      throw new AppError('FORBIDDEN', `This invitation is to the role ${row.role}, above yours.`)
    if (!(await revoke(tx, ctx, row, 'revoked'))) throw notFound('open invitation')
    await notify(tx, { org: actor.orgId, what: 'member' })
  })
}

/** False, and nothing is changed or recorded, where it was accepted or revoked a moment earlier. */
async function revoke(tx: Tx, ctx: FeatureContext, row: Invitation, why: 'revoked' | 'replaced'): Promise<boolean> {
  const { count } = await tx.invitation.updateMany({
    where: { id: row.id, acceptedAt: null, revokedAt: null },
    data: { revokedAt: ctx.now },
  })
  if (count === 0) return false
  await recordEvidence(tx, ctx, {
    kind: 'member.invitation_revoked',
    subject: { kind: 'invitation', id: row.id },
    data: { why },
  })
  return true
}

/** What an invitation's page shows to whoever has its link: nothing that the mail did not say. */
export async function readInvitation(
  visit: Pick<Visit, 'db' | 'now'>,
  token: string,
): Promise<
  | {
      id: string
      email: string
      name: string
      role: Role
      org: { slug: string; name: string }
      invitedBy: string
      expiresAt: Date
    }
  | undefined
> {
  if (tokenKind(token) !== 'invitation') return undefined
  const row = await visit.db.invitation.findFirst({
    where: { tokenHash: hashToken(token), ...open(visit.now) },
    include: { org: { select: { slug: true, name: true } } },
  })
  if (!row) return undefined
  const inviter = await visit.db.member.findFirst({
    where: { id: row.invitedById, orgId: row.orgId },
    select: { name: true },
  })
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    org: row.org,
    invitedBy: inviter?.name ?? 'a former member',
    expiresAt: row.expiresAt,
  }
}

/**
 * Makes the member, inside the transaction that signs the invited address in: only then, never by opening the link. An
 * invitation outlives its inviter's membership; owners and admins see it in the list and can revoke it.
 */
export async function acceptInvitation(
  tx: Tx,
  visit: Visit,
  input: { id: string; email: string },
): Promise<Member & { org: { slug: string } }> {
  const gone = new AppError('FORBIDDEN', 'This invitation is not open any more.', {
    remedy: 'Ask for a new one.',
    details: { why: 'invitation' },
  })
  await tx.$queryRaw`select 1 from "Invitation" where id = ${input.id} for update`
  const row = await tx.invitation.findFirst({ where: { id: input.id, email: input.email, ...open(visit.now) } })
  if (!row) throw gone
  const id = newId(visit, 'member')
  await tx.invitation.update({ where: { id: row.id }, data: { acceptedAt: visit.now } })
  try {
    await tx.member.create({
      data: {
        id,
        orgId: row.orgId,
        email: row.email,
        name: row.name,
        role: row.role,
        joinedAt: visit.now,
        invitedById: row.invitedById,
      },
    })
  } catch (error) {
    if (isUniqueViolation(error))
      throw new AppError('CONFLICT', 'This address is a member already.', { details: { why: 'invitation' } })
    throw error
  }
  const member = await tx.member.findUniqueOrThrow({ where: { id }, include: { org: { select: { slug: true } } } })
  await notify(tx, { org: row.orgId, what: 'member' })
  await recordEvidence(
    tx,
    { ...visit, actor: { kind: 'system', orgId: row.orgId } },
    {
      kind: 'member.joined',
      subject: { kind: 'member', id },
      data: { role: row.role, how: 'invitation', invitation: row.id },
    },
  )
  return member
}
