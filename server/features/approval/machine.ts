import type { MachineActor } from '#core/actor.ts'
import type { AnswersAnswer, FileAnswer } from '#core/protocol.ts'
import type { Tx } from '../../db.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { fileAnswer } from './file-request.ts'
import { lockApproval } from './load.ts'
import { endApproval } from './settle.ts'

/** How many answers and states one fetch brings; the machine asks again from the last. */
const PAGE = 200

/**
 * What a machine has not seen: signed answers, and states that only tighten. `seq` is where the stream really ends: below
 * `after` it tells that a backup was put back, and that places which the machine has seen are given anew.
 */
export async function answersAfter(
  ctx: FeatureContext<MachineActor>,
  { after }: { after: number },
): Promise<AnswersAnswer> {
  const where = { machineId: ctx.actor.machineId, seq: { gt: after } }
  const [answers, notices, machine] = await Promise.all([
    ctx.db.approvalAnswer.findMany({ where, orderBy: { seq: 'asc' }, take: PAGE, select: { seq: true, jws: true } }),
    ctx.db.approvalNotice.findMany({ where, orderBy: { seq: 'asc' }, take: PAGE }),
    ctx.db.machine.findUniqueOrThrow({ where: { id: ctx.actor.machineId }, select: { answerSeq: true } }),
  ])
  // A page that is full ends the stream there for now, so that nothing beyond it is skipped.
  const full = [answers, notices].filter(list => list.length === PAGE).map(list => list.at(-1)!.seq)
  const upTo = full.length > 0 ? Math.min(...full) : machine.answerSeq
  return {
    answers: answers.filter(a => a.seq <= upTo),
    states: notices
      .filter(n => n.seq <= upTo)
      .map(n => ({ seq: n.seq, handle: n.handle, state: n.state, at: n.at.toISOString() })),
    seq: upTo,
  }
}

/** A machine takes its open request back; never told as a person's denial. Repeating it changes nothing. */
export async function withdrawByMachine(
  ctx: FeatureContext<MachineActor>,
  input: { handle: string; why: string },
): Promise<FileAnswer> {
  await ctx.db.$transaction(async tx => {
    const locked = await lockApproval(tx, ctx.actor.orgId, input.handle)
    if (!locked || locked.row.machineId !== ctx.actor.machineId) throw notFound('request')
    if (locked.row.state !== 'pending') return
    // Nobody signed in there, so no record tells of a person.
    await endApproval(tx, { ...ctx, now: locked.now }, locked.row, 'withdrawn', { by: 'machine', why: input.why })
  })
  const where = { orgId_handle: { orgId: ctx.actor.orgId, handle: input.handle } }
  return fileAnswer(ctx, await ctx.db.approvalRequest.findUniqueOrThrow({ where, include: { votes: true } }))
}

/** A machine says that a grant was spent or has ended. Told by itself, in a signed report; idempotent. */
export async function markGrant(
  tx: Tx,
  ctx: FeatureContext<MachineActor>,
  input: { handle: string; answerId: string; what: 'used' | 'lapsed'; at: Date },
): Promise<boolean> {
  // Looked at before anything is locked: a report keeps its own machine's row, and must not wait for another's.
  const own = { orgId: ctx.actor.orgId, handle: input.handle, machineId: ctx.actor.machineId }
  if ((await tx.approvalRequest.count({ where: own })) === 0) return false
  const locked = await lockApproval(tx, ctx.actor.orgId, input.handle)
  if (!locked || locked.row.machineId !== ctx.actor.machineId || locked.row.state !== 'approved') return false
  const answer = await tx.approvalAnswer.findUnique({
    where: { answerId: input.answerId },
    select: { handle: true, orgId: true },
  })
  if (answer?.handle !== input.handle || answer.orgId !== ctx.actor.orgId) return false
  await endApproval(tx, ctx, locked.row, input.what, { answerId: input.answerId, reportedAt: input.at.toISOString() })
  return true
}

/**
 * Everything open of a machine is withdrawn and its grants end: it left, was revoked, or its laptop is lost. The record says
 * whose act that was: the machine's own, its member's, or an admin's.
 */
export async function endAllOfMachine(
  tx: Tx,
  ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>,
  machineId: string,
  why: string,
): Promise<void> {
  await tx.$queryRaw`select 1 from "Machine" where id = ${machineId} for no key update`
  const rows = await tx.approvalRequest.findMany({
    where: { machineId, state: { in: ['pending', 'approved'] } },
    include: { votes: true },
    orderBy: { receivedAt: 'asc' },
  })
  const { actor } = ctx
  for (const row of rows) {
    const by = actor.kind === 'member' ? (actor.memberId === row.memberId ? 'member' : 'admin') : actor.kind
    await endApproval(tx, ctx, row, row.state === 'pending' ? 'withdrawn' : 'revoked', { why, by })
  }
}

/** Everything pending of an organisation is withdrawn: the database was restored. */
export async function withdrawAllPending(
  tx: Tx,
  ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>,
  why: string,
): Promise<number> {
  const rows = await tx.approvalRequest.findMany({
    where: { orgId: ctx.actor.orgId, state: 'pending' },
    include: { votes: true },
    orderBy: { machineId: 'asc' },
  })
  for (const row of rows) await endApproval(tx, ctx, row, 'withdrawn', { why, by: 'system' })
  return rows.length
}
