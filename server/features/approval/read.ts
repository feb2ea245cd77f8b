import type { MemberActor } from '#core/actor.ts'
import { figureText, figureTitle } from '#core/approval/describe.ts'
import type { ApprovalRequest } from '#core/approval/request.ts'
import { judgeAnswerer, judgeRevoker } from '#core/approval/state.ts'
import { describeRule } from '#core/boundary/describe.ts'
import { ruleFromJson } from '#core/boundary/rule.ts'
import type { EvidenceEntry } from '#core/evidence/entry.ts'
import { whyNot } from '#core/permission.ts'
import { ROLES, roleRank } from '#core/role.ts'
import type { Prisma, ApprovalRequest as Stored } from '#generated/prisma/client.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { eligibleMembers } from './eligible.ts'
import { asAnswerer, asApproval, type KeptRules } from './load.ts'
import { type ApprovalRow, ROW, toRow } from './row.ts'

const PAGE = 50

/**
 * Whom a request may be shown to: its requester, whoever holds a role that could answer, whoever voted,
 * auditors. For everyone else it does not exist.
 */
function visibleTo(actor: MemberActor): Prisma.ApprovalRequestWhereInput {
  if (actor.role === 'auditor') return { orgId: actor.orgId }
  const roles = ROLES.filter(role => roleRank(role) <= roleRank(actor.role))
  return {
    orgId: actor.orgId,
    OR: [{ memberId: actor.memberId }, { role: { in: [...roles] } }, { votes: { some: { memberId: actor.memberId } } }],
  }
}

/** Requests that the reader may see, newest first, a page at a time. */
export async function listApprovals(
  ctx: FeatureContext<MemberActor>,
  input: { state: 'waiting' | 'settled' | 'all'; cursor?: string },
): Promise<{ items: ApprovalRow[]; next?: string }> {
  const waiting = { state: 'pending' as const, expiresAt: { gt: ctx.now } }
  const state: Prisma.ApprovalRequestWhereInput =
    input.state === 'waiting' ? waiting : input.state === 'settled' ? { NOT: waiting } : {}
  const me = await ctx.db.member.findUniqueOrThrow({ where: { id: ctx.actor.memberId } })
  const records = await ctx.db.approvalRequest.findMany({
    where: { AND: [visibleTo(ctx.actor), state] },
    orderBy: [{ receivedAt: 'desc' }, { handle: 'asc' }],
    include: ROW,
    take: PAGE + 1,
    ...(input.cursor ? { cursor: { orgId_handle: { orgId: ctx.actor.orgId, handle: input.cursor } } } : {}),
  })
  const items = records.slice(0, PAGE).map(record => toRow(record, ctx.actor, me, ctx.now))
  const next = records[PAGE]?.handle
  return next ? { items, next } : { items }
}

/** How many requests wait for an answer this person could give. */
export async function countWaiting(ctx: FeatureContext<MemberActor>): Promise<number> {
  const me = await ctx.db.member.findUniqueOrThrow({ where: { id: ctx.actor.memberId } })
  const records = await ctx.db.approvalRequest.findMany({
    where: { AND: [visibleTo(ctx.actor), { state: 'pending', expiresAt: { gt: ctx.now } }] },
    include: ROW,
    take: 100,
  })
  return records.filter(record => toRow(record, ctx.actor, me, ctx.now).mayAnswer).length
}

export type ApprovalDetail = Awaited<ReturnType<typeof getApproval>>

/** One request, whole: what was crossed, under which rules, who may answer, who did what. */
export async function getApproval(ctx: FeatureContext<MemberActor>, { handle }: { handle: string }) {
  const { actor, now } = ctx
  const record = await ctx.db.approvalRequest.findFirst({
    where: { AND: [visibleTo(actor), { handle }] },
    include: ROW,
  })
  if (!record) throw notFound('request')
  const me = await ctx.db.member.findUniqueOrThrow({ where: { id: actor.memberId } })
  const row = toRow(record, actor, me, now)
  const approval = asApproval(record)
  const request = record.request as ApprovalRequest
  const kept = record.rules as KeptRules
  const judged: { ok: true } | { ok: false; why: string; remedy?: string } =
    row.state === 'pending'
      ? (whyNot(actor, 'approval.answer') ?? judgeAnswerer(approval, asAnswerer(actor, me), now))
      : { ok: false, why: `This request is ${row.state}.` }
  const eligible = row.state === 'pending' ? await eligibleMembers(ctx.db, approval, actor.orgId, now) : []
  const day = new Date(now.getTime() - 24 * 3600_000)
  const before = await ctx.db.approvalRequest.findMany({
    where: {
      orgId: actor.orgId,
      machineId: record.machineId,
      sessionRef: record.sessionRef,
      receivedAt: { gte: day, lt: record.receivedAt },
    },
    orderBy: { receivedAt: 'desc' },
    include: ROW,
    take: 20,
  })
  return {
    ...row,
    mayAnswer: judged,
    rulesInForce: kept.rules.map(rule => {
      const read = ruleFromJson(rule.text)
      return {
        name: rule.name,
        digest: rule.digest,
        text: rule.text as Record<string, unknown>,
        words: read.ok ? describeRule(read.rule) : rule.name,
        ...(rule.note === undefined ? {} : { note: rule.note }),
      }
    }),
    ruleVersion: record.ruleVersion,
    crossed: request.figures.map(figure => ({ title: figureTitle(figure), value: figureText(figure), figure })),
    ceilings: kept.terms.ceilings,
    eligible: eligible.map(({ id, name, role }) => ({ name, role, me: id === actor.memberId })),
    selfAnswer: record.selfAnswer,
    ownRequest: record.memberId === actor.memberId,
    requestDigest: record.digest,
    madeAt: new Date(request.createdAt),
    attempt: request.attempt,
    standsUntil: record.standsUntil,
    ended: await endOf(ctx, record),
    askedBefore: before.map(b => toRow(b, actor, me, now)),
    mayWithdraw: row.state === 'pending' && record.memberId === actor.memberId,
    mayRevoke: row.state === 'approved' && judgeRevoker(record.role, actor).ok,
  }
}

/** How a request was withdrawn or its grant taken back, as the ledger has it: whose act it was, and why where that was said. */
async function endOf(
  ctx: FeatureContext,
  { orgId, handle, state }: Pick<Stored, 'orgId' | 'handle' | 'state'>,
): Promise<{ by: string; why?: string } | undefined> {
  if (state !== 'withdrawn' && state !== 'revoked') return undefined
  const found = await ctx.db.evidenceEntry.findFirst({
    where: { orgId, subjectRef: handle, kind: `approval.${state}` },
    orderBy: { seq: 'desc' },
    select: { bytes: true },
  })
  if (!found) return undefined
  const { by, why } = (JSON.parse(Buffer.from(found.bytes).toString('utf8')) as EvidenceEntry).data
  return { by: String(by ?? 'machine'), ...(typeof why === 'string' ? { why } : {}) }
}
