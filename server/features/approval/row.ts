import type { MemberActor } from '#core/actor.ts'
import type { Answer, Ceiling } from '#core/approval/answer.ts'
import { questionOf, situationOf } from '#core/approval/describe.ts'
import type { ApprovalRequest, CrossedFigure } from '#core/approval/request.ts'
import { type ApprovalState, countedVotes, judgeAnswerer, standingRole } from '#core/approval/state.ts'
import { may } from '#core/permission.ts'
import type { Role } from '#core/role.ts'
import type { ApprovalAnswer, Member } from '#generated/prisma/client.ts'
import { storedPayload } from '../../keys/stored.ts'
import { type ApprovalRecord, asAnswerer, asApproval, asVoter, type KeptRules } from './load.ts'

export type AnsweredBy = {
  name: string
  role: Role
  how: string
  method: string
  at: Date
  self: boolean
  demo: boolean
  decision: 'approve' | 'deny'
  reason: string
}

/** One request as lists show it. */
export type ApprovalRow = {
  handle: string
  state: ApprovalState
  question: string
  /** The question without asking, for a request that is settled. */
  situation: string
  client: ApprovalRequest['client']
  action: ApprovalRequest['action']
  subject: ApprovalRequest['subject']
  rules: string[]
  role: Role
  approvals: number
  /** Approving votes that count: while it waits only of people who hold the role now, once it is approved those that were counted. */
  votes: number
  figures: CrossedFigure[]
  machine: { id: string; label: string }
  member: { id: string; name: string }
  createdAt: Date
  expiresAt: Date
  settledAt: Date | null
  mayAnswer: boolean
  answeredBy: AnsweredBy[]
  scope?: 'step' | 'session'
  until?: Ceiling[]
}

export type RowRecord = Omit<ApprovalRecord, 'votes'> & {
  votes: (ApprovalRecord['votes'][number] & { member: Pick<Member, keyof typeof VOTER> })[]
  machine: { id: string; label: string }
  member: { id: string; name: string }
  answer: Pick<ApprovalAnswer, 'jws'> | null
}

const VOTER = { id: true, name: true, role: true, removedAt: true, roleChangedBy: true, roleChangedAt: true } as const

/** The relations a row needs. */
export const ROW = {
  votes: { orderBy: { at: 'asc' }, include: { member: { select: VOTER } } },
  machine: { select: { id: true, label: true } },
  member: { select: { id: true, name: true } },
  answer: { select: { jws: true } },
} as const

/**
 * A pending row past its expiry reads as expired, and a grant past its time as lapsed, whether or not housekeeping has come
 * by: what people see and what an answer or a machine would meet never differ.
 */
export function toRow(record: RowRecord, actor: MemberActor, me: Member, now: Date): ApprovalRow {
  const request = record.request as ApprovalRequest
  const approval = asApproval(record)
  const state = stateNow(record, now)
  const signed = record.answer ? storedPayload<Answer>(record.answer.jws) : undefined
  const voters = new Map(record.votes.map(vote => [vote.memberId, vote.member]))
  const roleNow = (memberId: string) => {
    const voter = voters.get(memberId)
    return voter && standingRole(approval, asVoter(voter))
  }
  return {
    handle: record.handle,
    state,
    question: questionOf(request, record.member.name),
    situation: situationOf(request, record.member.name),
    client: request.client,
    action: request.action,
    subject: request.subject,
    rules: (record.rules as KeptRules).rules.map(rule => rule.name),
    role: record.role,
    approvals: record.approvals,
    votes: signed?.decision === 'approve' ? signed.approvers.length : countedVotes(approval, roleNow, now).length,
    figures: request.figures,
    machine: record.machine,
    member: record.member,
    createdAt: record.receivedAt,
    expiresAt: record.expiresAt,
    settledAt: record.settledAt,
    mayAnswer:
      state === 'pending' && may(actor, 'approval.answer') && judgeAnswerer(approval, asAnswerer(actor, me), now).ok,
    answeredBy: record.votes.map(v => ({
      name: v.member.name,
      role: v.role,
      how: v.how,
      method: v.method,
      at: v.at,
      self: v.self,
      demo: v.demo,
      decision: v.decision,
      reason: v.reason,
    })),
    ...(signed && signed.decision === 'approve' ? { scope: signed.scope, until: signed.until } : {}),
  }
}

function stateNow({ state, expiresAt, standsUntil }: RowRecord, now: Date): ApprovalState {
  if (state === 'pending' && expiresAt <= now) return 'expired'
  if (state === 'approved' && standsUntil !== null && standsUntil <= now) return 'lapsed'
  return state
}
