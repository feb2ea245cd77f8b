import type { MemberActor, TokenActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { REASON_MAX } from '#core/limits.ts'
import { demand, demandFresh, figuresSeenBy } from '#core/permission.ts'
import { roleAtLeast } from '#core/role.ts'
import { notify } from '../../bus.ts'
import { type FeatureContext, newId, notFound } from '../context.ts'
import { personRef, recordEvidence } from '../evidence.ts'
import type { Seen } from './sums.ts'

type Ctx = FeatureContext<MemberActor>

/** Whose own figures the actor sees right now. A program is nobody, and sees nobody's. */
export async function figuresSeenIn(ctx: FeatureContext<MemberActor | TokenActor>): Promise<Seen> {
  if (!isMember(ctx)) return new Set()
  const grants = await ctx.db.figuresGrant.findMany({
    where: { orgId: ctx.actor.orgId, holderId: ctx.actor.memberId, endedAt: null, expiresAt: { gt: ctx.now } },
    select: { holderId: true, subjectId: true, expiresAt: true, endedAt: true },
  })
  return figuresSeenBy(ctx.actor, grants, ctx.now)
}

const isMember = (ctx: FeatureContext<MemberActor | TokenActor>): ctx is Ctx => ctx.actor.kind === 'member'

export type GrantRow = {
  id: string
  holder: { id: string; name: string }
  /** Null: everybody's figures. */
  subject: { id: string; name: string } | null
  reason: string
  grantedBy: string
  createdAt: Date
  expiresAt: Date
  endedAt: Date | null
  /** Opens the reader's own figures. */
  aboutMe: boolean
}

/**
 * Grants: owners and auditors see all of them; everybody else those that open their own figures, and those they hold. A member
 * always sees who may look at their figures and why.
 */
export async function listGrants(ctx: Ctx): Promise<GrantRow[]> {
  const { orgId, memberId, role } = ctx.actor
  const all = role === 'auditor' || roleAtLeast(role, 'owner')
  const rows = await ctx.db.figuresGrant.findMany({
    where: { orgId, ...(all ? {} : { OR: [{ holderId: memberId }, { subjectId: memberId }, { subjectId: null }] }) },
    include: { holder: { select: { id: true, name: true } }, subject: { select: { id: true, name: true } } },
    orderBy: { createdAt: 'desc' },
    take: 500,
  })
  const givers = await ctx.db.member.findMany({
    where: { orgId, id: { in: rows.map(row => row.grantedById) } },
    select: { id: true, name: true },
  })
  const names = new Map(givers.map(giver => [giver.id, giver.name]))
  return rows.map(({ id, holder, subject, reason, grantedById, createdAt, expiresAt, endedAt, subjectId }) => ({
    id,
    holder,
    subject,
    reason,
    grantedBy: names.get(grantedById) ?? 'a former owner',
    createdAt,
    expiresAt,
    endedAt,
    aboutMe: subjectId === null || subjectId === memberId,
  }))
}

export type GrantAsked = { holderId: string; subjectId?: string; reason: string; days: number }

/** An owner lets somebody see individuals' figures, one person's or everybody's, for a reason and a time. */
export async function grantFigures(ctx: FeatureContext, asked: GrantAsked): Promise<{ id: string }> {
  const { actor } = ctx
  demandFresh(actor, 'figures.grant', ctx.now)
  const reason = asked.reason.trim()
  if (reason.length < 3 || reason.length > REASON_MAX)
    throw new AppError(
      'BAD_INPUT',
      `A grant needs a reason of 3 to ${REASON_MAX} characters; the people it is about see it.`,
    )
  if (!Number.isInteger(asked.days) || asked.days < 1 || asked.days > 366)
    throw new AppError('BAD_INPUT', 'A grant lasts from one day to 366.')
  return ctx.db.$transaction(async tx => {
    const living = (id: string) => tx.member.findFirst({ where: { id, orgId: actor.orgId, removedAt: null } })
    if (!(await living(asked.holderId))) throw notFound('member')
    if (
      asked.subjectId !== undefined &&
      !(await tx.member.findFirst({ where: { id: asked.subjectId, orgId: actor.orgId } }))
    )
      throw notFound('member')
    const id = newId(ctx, 'grant')
    const expiresAt = new Date(ctx.now.getTime() + asked.days * 24 * 3600_000)
    await tx.figuresGrant.create({
      data: {
        id,
        orgId: actor.orgId,
        holderId: asked.holderId,
        subjectId: asked.subjectId ?? null,
        reason,
        grantedById: actor.memberId,
        createdAt: ctx.now,
        expiresAt,
      },
    })
    await notify(tx, { org: actor.orgId, what: 'member' })
    await recordEvidence(tx, ctx, {
      kind: 'figures.granted',
      subject: { kind: 'member', id: asked.holderId },
      data: {
        grant: id,
        ...(asked.subjectId === undefined ? {} : { of: await personRef(tx, asked.subjectId, ctx) }),
        until: expiresAt.toISOString().slice(0, 10),
      },
    })
    return { id }
  })
}

/** Ends a grant: an owner's act, or the holder's own. Repeating it changes nothing. */
export async function endGrant(ctx: FeatureContext, { id }: { id: string }): Promise<void> {
  const { actor } = ctx
  if (actor.kind !== 'member') throw new AppError('FORBIDDEN', 'Only a signed-in person can do this.')
  await ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "FiguresGrant" where id = ${id} and "orgId" = ${actor.orgId} for update`
    const grant = await tx.figuresGrant.findFirst({ where: { id, orgId: actor.orgId } })
    const mine = grant?.holderId === actor.memberId
    if (!grant || !(mine || grant.subjectId === actor.memberId || roleAtLeast(actor.role, 'owner')))
      throw notFound('grant')
    // an auditor changes nothing, not even for themselves
    if (!mine || actor.method === 'device_link' || actor.role === 'auditor') demand(actor, 'figures.end_grant')
    if (grant.endedAt) return
    await tx.figuresGrant.update({ where: { id }, data: { endedAt: ctx.now, endedById: actor.memberId } })
    await notify(tx, { org: actor.orgId, what: 'member' })
    await recordEvidence(tx, ctx, {
      kind: 'figures.grant_ended',
      subject: { kind: 'member', id: grant.holderId },
      data: {
        grant: id,
        ...(grant.subjectId === null ? {} : { of: await personRef(tx, grant.subjectId, ctx) }),
      },
    })
  })
}
