import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { demand, demandFresh, maySetRole } from '#core/permission.ts'
import { type Role, roleAtLeast } from '#core/role.ts'
import type { Member } from '#generated/prisma/client.ts'
import { notify } from '../bus.ts'
import type { Tx } from '../db.ts'
import { isRefusal } from '../db-refusal.ts'
import { type FeatureContext, notFound } from './context.ts'
import { personRef, recordEvidence } from './evidence.ts'
import { endApiTokens, endLogins, endPresence, lockMachines } from './member-end.ts'

export type MemberRow = {
  id: string
  name: string
  email: string
  role: Role
  joinedAt: Date
  removedAt: Date | null
  invitedBy: string | null
  lastSignedInAt: Date | null
  machines: number
  self: boolean
}
export type InvitationRow = { id: string; email: string; name: string; role: Role; expiresAt: Date; invitedBy: string }

/** Members (removed ones last) and open invitations; every member sees who else is in their organisation. */
export async function listMembers(
  ctx: FeatureContext<MemberActor>,
): Promise<{ members: MemberRow[]; invitations: InvitationRow[] }> {
  const { orgId, memberId } = ctx.actor
  const rows = await ctx.db.member.findMany({
    where: { orgId },
    include: { _count: { select: { machines: { where: { leftAt: null, revokedAt: null } } } } },
    orderBy: [{ removedAt: { sort: 'asc', nulls: 'first' } }, { role: 'desc' }, { name: 'asc' }],
  })
  const names = new Map(rows.map(row => [row.id, row.name]))
  const signedIn = await lastSignIns(ctx, rows)
  const members = rows.map(row => ({
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    joinedAt: row.joinedAt,
    removedAt: row.removedAt,
    invitedBy: (row.invitedById && names.get(row.invitedById)) ?? null,
    lastSignedInAt: signedIn.get(row.id) ?? null,
    machines: row._count.machines,
    self: row.id === memberId,
  }))
  const open = await ctx.db.invitation.findMany({
    where: { orgId, acceptedAt: null, revokedAt: null, expiresAt: { gt: ctx.now } },
    orderBy: { createdAt: 'desc' },
  })
  const invitations = open.map(row => ({
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    expiresAt: row.expiresAt,
    invitedBy: names.get(row.invitedById) ?? 'a former member',
  }))
  return { members, invitations }
}

/** Read from the ledger, where every sign-in stands; sessions themselves are dropped. */
async function lastSignIns(ctx: FeatureContext<MemberActor>, rows: readonly Member[]): Promise<Map<string, Date>> {
  const { orgId } = ctx.actor
  const found = await ctx.db.evidenceEntry.groupBy({
    by: ['subjectRef'],
    where: { orgId, kind: 'member.signed_in' },
    _max: { receivedAt: true },
  })
  const at = new Map(found.map(row => [row.subjectRef, row._max.receivedAt]))
  const last = new Map<string, Date>()
  for (const row of rows) {
    const when = at.get(await personRef(ctx.db, row.id, ctx))
    if (when) last.set(row.id, when)
  }
  return last
}

/** Locks a living member of the actor's organisation and judges whether the actor stands high enough to change them. */
async function loadBelow(tx: Tx, actor: MemberActor, id: string): Promise<Member> {
  // Not `for update`: that would keep back every row that merely names the member, whose writers hold other locks already.
  await tx.$queryRaw`select 1 from "Member" where id = ${id} and "orgId" = ${actor.orgId} for no key update`
  const member = await tx.member.findFirst({ where: { id, orgId: actor.orgId, removedAt: null } })
  if (!member) throw notFound('member')
  if (!maySetRole(actor, member.role, member.role)) {
    throw new AppError('FORBIDDEN', `${member.name} is ${member.role}, above your own role ${actor.role}.`)
  }
  return member
}

const lastOwner = () =>
  new AppError('CONFLICT', 'The last owner stays.', {
    remedy: 'Make somebody else an owner first.',
    details: { why: 'last_owner' },
  })

async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isRefusal(error, 'last_owner_stays') ? lastOwner() : error
  }
}

/** Sets a member's role. It holds at their next call: sessions carry no role. */
export async function changeRole(ctx: FeatureContext, input: { id: string; role: Role }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'member.change_role')
  await translated(
    ctx.db.$transaction(async tx => {
      const member = await loadBelow(tx, actor, input.id)
      if (!maySetRole(actor, member.role, input.role)) {
        throw new AppError(
          'FORBIDDEN',
          input.role === 'owner'
            ? 'Only an owner makes an owner.'
            : `Nobody promotes above their own role; yours is ${actor.role}.`,
        )
      }
      if (member.role === input.role) return
      if ([member.role, input.role].includes('owner')) demandFresh(actor, 'owner.change', ctx.now)
      await tx.member.update({
        where: { id: member.id },
        data: { role: input.role, roleChangedBy: actor.memberId, roleChangedAt: ctx.now },
      })
      // Tokens for programs stand on the right of whoever made them, and do not come back with it.
      const tokens = roleAtLeast(input.role, 'admin') ? 0 : await endApiTokens(tx, member.id, ctx.now)
      await notify(tx, { org: actor.orgId, what: 'member' })
      await recordEvidence(tx, ctx, {
        kind: 'member.role_changed',
        subject: { kind: 'member', id: member.id },
        data: { from: member.role, to: input.role, ...(tokens > 0 ? { tokens } : {}) },
      })
    }),
  )
}

/** Removes a member. The row stays as history; everything through which they act ends with it. */
export async function removeMember(ctx: FeatureContext, input: { id: string }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'member.remove')
  await translated(
    ctx.db.$transaction(async tx => {
      const own = await tx.member.count({ where: { id: input.id, orgId: actor.orgId } })
      if (own > 0) await lockMachines(tx, input.id)
      const member = await loadBelow(tx, actor, input.id)
      if (member.role === 'owner') demandFresh(actor, 'owner.change', ctx.now)
      await deactivateMember(tx, ctx, member)
    }),
  )
}

/** The one way in which a membership ends, whichever door asked for it; the caller holds the locks of {@link lockMachines}. */
async function deactivateMember(tx: Tx, ctx: FeatureContext, member: Member): Promise<void> {
  await tx.member.update({ where: { id: member.id }, data: { removedAt: ctx.now } })
  const ended = await endPresence(tx, ctx, member, 'member_removed')
  await notify(tx, { org: member.orgId, what: 'member' })
  await recordEvidence(tx, ctx, {
    kind: 'member.removed',
    subject: { kind: 'member', id: member.id },
    data: { role: member.role, ...ended },
  })
}

/**
 * The lost laptop, one act: sessions, links, tokens and machines of the member end, requests are withdrawn, grants
 * end. Admins may do it for others, everybody with an own sign-in for themselves. The membership stays: they sign in anew.
 */
export async function reportLaptopLost(
  ctx: FeatureContext,
  input: { memberId: string },
): Promise<{ machines: number; sessions: number; tokens: number }> {
  const { actor } = ctx
  if (actor.kind !== 'member') throw new AppError('FORBIDDEN', 'Only a signed-in person can do this.')
  const own = actor.memberId === input.memberId
  if (own) demandOwnSignIn(actor)
  else demand(actor, 'laptop.lost')
  return ctx.db.$transaction(async tx => {
    const member = await tx.member.findFirst({ where: { id: input.memberId, orgId: actor.orgId, removedAt: null } })
    if (!member) throw notFound('member')
    const ended = await endPresence(tx, ctx, member, 'laptop_lost')
    await notify(tx, { org: actor.orgId, what: 'member' })
    await recordEvidence(tx, ctx, {
      kind: 'member.laptop_lost',
      subject: { kind: 'member', id: member.id },
      data: ended,
    })
    return ended as { machines: number; sessions: number; tokens: number }
  })
}

function demandOwnSignIn(actor: MemberActor): void {
  if (actor.method !== 'device_link' && actor.method !== 'admin_credential') return
  throw new AppError('FORBIDDEN', 'This session was not begun by a sign-in of your own.', {
    remedy: 'Sign in with your own account.',
  })
}

/** Ends every browser session, link and command credential of a member; machines keep working. */
export async function signOutEverywhere(ctx: FeatureContext, input: { id: string }): Promise<{ sessions: number }> {
  const { actor } = ctx
  if (actor.kind !== 'member') throw new AppError('FORBIDDEN', 'Only a signed-in person can do this.')
  if (actor.memberId === input.id) demandOwnSignIn(actor)
  else demand(actor, 'member.sign_out')
  return ctx.db.$transaction(async tx => {
    const member = actor.memberId === input.id ? { id: actor.memberId } : await loadBelow(tx, actor, input.id)
    await endLogins(tx, member.id, ctx.now)
    await tx.token.updateMany({
      where: { memberId: member.id, kind: { in: ['admin', 'deviceLink', 'console'] }, revokedAt: null },
      data: { revokedAt: ctx.now },
    })
    // After the links that begin them, as in endPresence.
    const { count } = await tx.session.deleteMany({ where: { memberId: member.id } })
    await recordEvidence(tx, ctx, {
      kind: 'member.signed_out_everywhere',
      subject: { kind: 'member', id: member.id },
      data: { sessions: count },
    })
    return { sessions: count }
  })
}
