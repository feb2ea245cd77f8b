import type { MemberActor } from '#core/actor.ts'
import { judgeRevoker } from '#core/approval/state.ts'
import { AppError } from '#core/error.ts'
import { demand, refusalError } from '#core/permission.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { lockApproval } from './load.ts'
import { endApproval } from './settle.ts'

/** The requester takes their own request back; any session of theirs may, one that a machine's link began included. */
export async function withdrawOwn(ctx: FeatureContext<MemberActor>, input: { handle: string }): Promise<void> {
  await ctx.db.$transaction(async tx => {
    const locked = await lockApproval(tx, ctx.actor.orgId, input.handle)
    if (!locked || locked.row.memberId !== ctx.actor.memberId) throw notFound('request of yours')
    if (locked.row.state !== 'pending')
      throw new AppError('NOT_PENDING', `This request is ${locked.row.state} already; nothing was changed.`)
    await endApproval(tx, { ...ctx, now: locked.now }, locked.row, 'withdrawn', { by: 'member', why: 'withdrawn' })
  })
}

/** Ends a grant that still stands; needs the role the request needed. The machine asks anew at its next crossing. */
export async function revokeGrant(ctx: FeatureContext<MemberActor>, input: { handle: string }): Promise<void> {
  demand(ctx.actor, 'approval.revoke')
  await ctx.db.$transaction(async tx => {
    const locked = await lockApproval(tx, ctx.actor.orgId, input.handle)
    if (!locked) throw notFound('request')
    const judged = judgeRevoker(locked.row.role, ctx.actor)
    if (!judged.ok) throw refusalError(judged)
    if (locked.row.state !== 'approved')
      throw new AppError('NOT_PENDING', `There is nothing to end: the request is ${locked.row.state}.`)
    await endApproval(tx, { ...ctx, now: locked.now }, locked.row, 'revoked', { by: 'member' })
  })
}
