import type { MachineActor } from '#core/actor.ts'
import type { FileAnswer } from '#core/protocol.ts'
import { eligibleMembers } from './approval/eligible.ts'
import { asApproval } from './approval/load.ts'
import { type FeatureContext, notFound } from './context.ts'

/** A request of the calling machine as it stands, in the form in which it was answered when it was filed. */
export async function requestOfMachine(
  ctx: FeatureContext<MachineActor>,
  input: { handle: string },
): Promise<FileAnswer> {
  const { orgId, machineId } = ctx.actor
  const row = await ctx.db.approvalRequest.findFirst({
    where: { orgId, machineId, handle: input.handle },
    include: { votes: true, org: { select: { slug: true } } },
  })
  if (!row) throw notFound('request')
  const eligible = row.state === 'pending' ? await eligibleMembers(ctx.db, asApproval(row), orgId, ctx.now) : []
  return {
    handle: row.handle,
    state: row.state,
    role: row.role as FileAnswer['role'],
    approvals: row.approvals,
    eligible: eligible.length,
    url: `${ctx.origin}/${row.org.slug}/approvals/${row.handle}`,
  }
}
