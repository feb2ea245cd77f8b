import type { MemberActor } from '#core/actor.ts'
import type { Answer, Ceiling } from '#core/approval/answer.ts'
import type { ApprovalRequest } from '#core/approval/request.ts'
import { applyAnswer, type Settled, standingRole, type Vote } from '#core/approval/state.ts'
import { base64url } from '#core/bytes.ts'
import { AppError } from '#core/error.ts'
import { REASON_MAX } from '#core/limits.ts'
import { refusalError, whyNot } from '#core/permission.ts'
import { plainName } from '#core/plain-text.ts'
import type { LadderRole } from '#core/role.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import { sign } from '../../keys/sign.ts'
import { type FeatureContext, newId, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { demandRate } from '../rate.ts'
import { type ApprovalRecord, asAnswerer, asApproval, asVoter, lockApproval, nextAnswerSeq } from './load.ts'
import { endApproval } from './settle.ts'

export type AnswerInput = {
  handle: string
  decision: 'approve' | 'deny'
  scope: 'step' | 'session'
  until?: Ceiling[]
  reason: string
}

type Outcome = { refused?: AppError; settled: boolean; missing: number }

/**
 * A person answers: load, decide (core/approval/state.ts), commit. Row, vote, signed answer, evidence, queued mail and
 * signals are one transaction under the row's lock; a refusal is evidence too. A second click of the same kind sees the
 * first one's result.
 */
export async function answerApproval(
  ctx: FeatureContext<MemberActor>,
  input: AnswerInput,
): Promise<{ settled: boolean; missing: number }> {
  const reason = input.reason.trim()
  if (reason.length > REASON_MAX) throw new AppError('BAD_INPUT', `A reason has at most ${REASON_MAX} letters.`)
  const until = (input.until ?? []).slice(0, 8)
  await demandRate(ctx, 'answerByMember', ctx.actor.memberId)
  const outcome = await ctx.db.$transaction(tx => decide(tx, ctx, { ...input, until, reason }))
  if (outcome.refused) throw outcome.refused
  return { settled: outcome.settled, missing: outcome.missing }
}

async function decide(tx: Tx, ctx: FeatureContext<MemberActor>, input: Required<AnswerInput>): Promise<Outcome> {
  const { actor } = ctx
  const locked = await lockApproval(tx, actor.orgId, input.handle)
  if (!locked) throw notFound('request')
  const { row, now } = locked
  const at = { ...ctx, now }
  // Their roles and memberships stay as they are read here until the answer is committed.
  const people = [actor.memberId, ...row.votes.map(v => v.memberId)]
  await tx.$queryRaw`select 1 from "Member" where id = any(${people}) order by id for share`
  const member = await tx.member.findUniqueOrThrow({ where: { id: actor.memberId } })
  const voters = await tx.member.findMany({ where: { id: { in: row.votes.map(v => v.memberId) }, removedAt: null } })
  const approval = asApproval(row)
  const who = asAnswerer(actor, member)
  const roleNow = (memberId: string) => {
    const voter = voters.find(({ id }) => id === memberId)
    return voter && standingRole(approval, asVoter(voter))
  }
  const vote = { decision: input.decision, scope: input.scope, until: input.scope === 'session' ? input.until : [] }
  const result = whyNot(actor, 'approval.answer') ?? applyAnswer(approval, who, vote, roleNow, now)
  if ('ok' in result) {
    await recordEvidence(tx, at, {
      kind: 'approval.vote_refused',
      subject: { kind: 'approval', id: row.handle },
      data: { code: result.code, decision: input.decision, how: actor.how },
    })
    return { refused: refusalError(result, { state: row.state }), settled: false, missing: 0 }
  }
  if (result.kind === 'already') return { settled: row.state !== 'pending', missing: 0 }
  if (result.kind === 'expired') {
    if (row.state === 'pending')
      await endApproval(tx, { ...at, actor: { kind: 'system', orgId: actor.orgId } }, row, 'expired')
    return {
      refused: new AppError('EXPIRED', 'This request has expired; the agent files a new one at its next try.'),
      settled: false,
      missing: 0,
    }
  }
  const self = who.memberId === approval.requesterId
  const isCast = row.votes.some(v => v.memberId === actor.memberId && v.decision === vote.decision)
  if (!isCast)
    await tx.approvalVote.create({
      data: {
        id: newId(ctx, 'vote'),
        orgId: actor.orgId,
        handle: row.handle,
        memberId: actor.memberId,
        role: member.role,
        method: actor.method,
        how: actor.how,
        authnAt: actor.authnAt,
        decision: vote.decision,
        scope: vote.scope,
        until: vote.until,
        reason: input.reason,
        self,
        demo: actor.demo,
        at: now,
      },
    })
  if (result.kind === 'counted') {
    await tx.approvalRequest.update({ where: key(row), data: { rowVersion: { increment: 1 } } })
    await notify(tx, { org: row.orgId, what: 'approval', handle: row.handle })
    await recordEvidence(tx, at, {
      kind: 'approval.voted',
      subject: { kind: 'approval', id: row.handle },
      data: { ...voteData(actor, vote, self), missing: result.missing },
    })
    return { settled: false, missing: result.missing }
  }
  await settle(tx, at, row, result, voteData(actor, vote, self))
  return { settled: true, missing: 0 }
}

/** Signs the answer and stores it in the machine's stream; the request's row changes with it. */
async function settle(
  tx: Tx,
  ctx: FeatureContext<MemberActor>,
  row: ApprovalRecord,
  settled: Settled,
  data: ReturnType<typeof voteData>,
): Promise<void> {
  const seq = await nextAnswerSeq(tx, row.machineId)
  const votes = await tx.approvalVote.findMany({
    where: { orgId: row.orgId, handle: row.handle },
    include: { member: true },
    orderBy: { at: 'asc' },
  })
  const root = await tx.rootDocument.findFirstOrThrow({
    where: { orgId: row.orgId },
    orderBy: { seq: 'desc' },
    select: { seq: true },
  })
  const request = row.request as ApprovalRequest
  const answer: Answer = {
    v: 1,
    answerId: base64url(ctx.random(16)),
    org: row.orgId,
    machine: row.machineId,
    rootSeq: root.seq,
    handle: row.handle,
    request: row.digest,
    decision: settled.state === 'approved' ? 'approve' : 'deny',
    scope: settled.scope,
    until: settled.until,
    // The moment of the answer by the machine's clock, which may be off: the request's own time and how long it waited here.
    notBefore: new Date(Date.parse(request.createdAt) + ctx.now.getTime() - row.receivedAt.getTime()).toISOString(),
    notAfter: settled.notAfter.toISOString(),
    approvers: settled.counted.map(counted => {
      const vote = votes.find(v => v.memberId === counted.memberId && v.decision === counted.decision)!
      return {
        memberId: vote.memberId,
        name: plainName(vote.member.name),
        role: vote.role as LadderRole,
        method: vote.method,
        how: vote.how as Vote['how'],
        authnAt: vote.authnAt.toISOString(),
        ...(vote.self ? { self: true as const } : {}),
        ...(vote.demo ? { demo: true as const } : {}),
      }
    }),
    policy: { role: row.role as LadderRole, approvals: row.approvals, signed: false, self: row.selfAnswer },
    seq,
  }
  const jws = await sign(tx, row.orgId, 'answer', 'holdpoint-answer+jws', answer)
  await tx.approvalAnswer.create({
    data: {
      orgId: row.orgId,
      handle: row.handle,
      answerId: answer.answerId,
      machineId: row.machineId,
      seq,
      jws,
      createdAt: ctx.now,
    },
  })
  await tx.approvalRequest.update({
    where: key(row),
    data: { state: settled.state, rowVersion: { increment: 1 }, settledAt: ctx.now, standsUntil: settled.notAfter },
  })
  await enqueue(tx, 'approval.mail_settled', { org: row.orgId, handle: row.handle })
  await notify(tx, { org: row.orgId, what: 'answer', machine: row.machineId, handle: row.handle })
  await notify(tx, { org: row.orgId, what: 'approval', handle: row.handle })
  await recordEvidence(tx, ctx, {
    kind: settled.state === 'approved' ? 'approval.approved' : 'approval.denied',
    subject: { kind: 'approval', id: row.handle },
    data: {
      ...data,
      request: row.digest,
      answerId: answer.answerId,
      scope: settled.scope,
      until: settled.until,
      notAfter: answer.notAfter,
      counted: settled.counted.length,
    },
  })
}

const key = (row: ApprovalRecord) => ({ orgId_handle: { orgId: row.orgId, handle: row.handle } })

/** What the ledger keeps of a vote: never the reason (free text of a person). */
const voteData = (actor: MemberActor, vote: Pick<Vote, 'decision' | 'scope' | 'until'>, self: boolean) => ({
  decision: vote.decision,
  asked: vote.scope,
  how: actor.how,
  method: actor.method,
  authnAt: actor.authnAt.toISOString(),
  ...(self ? { self: true } : {}),
  ...(actor.demo ? { demo: true } : {}),
})
