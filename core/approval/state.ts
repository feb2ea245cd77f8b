import type { MemberActor } from '#core/actor.ts'
import type { SelfAnswer } from '#core/boundary/shape.ts'
import { compareDecimals } from '#core/decimal.ts'
import type { ErrorCode } from '#core/error.ts'
import { ANSWER_MAX_MS } from '#core/limits.ts'
import { methodName, type Refusal, whyNot } from '#core/permission.ts'
import { type LadderRole, type Role, roleAtLeast } from '#core/role.ts'
import type { AnswerHow, Ceiling, SessionMethod } from './answer.ts'

/** The states of a request. The functions below, and the database's own rules, hold the ways between them. */
export const APPROVAL_STATES = [
  'pending',
  'approved',
  'used',
  'revoked',
  'lapsed',
  'denied',
  'expired',
  'withdrawn',
] as const
export type ApprovalState = (typeof APPROVAL_STATES)[number]

/**
 * What an approval is: pure values in, a decision out. The control plane loads, calls one of
 * these, and commits; the database refuses the same things again.
 */
export type Approval = {
  state: ApprovalState
  /** Who the held session belongs to. */
  requesterId: string
  terms: Terms
  votes: Vote[]
  /** Of the request itself (the machine's clock); an answer never outlives it by more than a day. */
  madeAt: Date
  /** By the control plane's clock. */
  receivedAt: Date
  expiresAt: Date
}

/** What the matched rules together demand: the highest role, the largest quorum, the strictest word on one's own requests. */
export type Terms = {
  role: LadderRole
  approvals: number
  self: SelfAnswer
  /** After so many seconds without an answer this role may answer too. */
  fallback?: { role: LadderRole; afterSeconds: number }
  /** Ceilings that the rules' `step:` sets on a grant for the session. */
  ceilings: Ceiling[]
}

export type Vote = {
  memberId: string
  role: Role
  method: SessionMethod
  how: AnswerHow
  decision: 'approve' | 'deny'
  scope: 'step' | 'session'
  until: Ceiling[]
}

/** The member who wants to answer, as the database has them at this moment. */
export type Answerer = {
  memberId: string
  role: Role
  active: boolean
  method: SessionMethod
  how: AnswerHow
  invitedById?: string
  joinedAt: Date
  roleChangedBy?: string
  roleChangedAt?: Date
}

/** The role it takes right now: the rules' own, or the fallback's once its time has come. */
export function roleNeeded(approval: Pick<Approval, 'terms' | 'receivedAt'>, now: Date): LadderRole {
  const { role, fallback } = approval.terms
  if (!fallback || now.getTime() < approval.receivedAt.getTime() + fallback.afterSeconds * 1000) return role
  return roleAtLeast(role, fallback.role) ? fallback.role : role
}

/** Whether somebody may answer: one function for every door, whatever the channel (web, command, later others). */
export function judgeAnswerer(approval: Approval, who: Answerer, now: Date): { ok: true; self: boolean } | Refusal {
  const no = (code: ErrorCode, why: string, remedy?: string): Refusal => ({
    ok: false,
    code,
    why,
    ...(remedy ? { remedy } : {}),
  })
  const role = roleNeeded(approval, now)
  const own = who.memberId === approval.requesterId
  if (!who.active) return no('NOT_APPROVER', 'You are no longer a member of this organisation.')
  if (who.method === 'device_link') {
    return no(
      'NOT_APPROVER',
      "This session began with a machine's link; such a session can look, never answer.",
      'Sign in with your own account.',
    )
  }
  if (!roleAtLeast(who.role, role))
    return no('NOT_APPROVER', `This takes the role ${role} or above; yours is ${who.role}.`)
  const since = approval.receivedAt.getTime()
  if (!own && hasRoleOfRequester(approval, who)) {
    return no(
      'NOT_APPROVER',
      'The requester changed your role after making this request.',
      'Somebody else has to answer it.',
    )
  }
  if (!own && who.invitedById === approval.requesterId && who.joinedAt.getTime() >= since) {
    return no(
      'NOT_APPROVER',
      'The requester invited you, and you joined after this request was made.',
      'Somebody else has to answer it.',
    )
  }
  if (!own) return { ok: true, self: false }
  if (approval.terms.self === 'never')
    return no('OWN_REQUEST', 'This is your own request, and your organisation lets nobody answer their own.')
  if (approval.terms.self === 'key') {
    return no(
      'OWN_REQUEST',
      'This is your own request; answering it takes an approval key.',
      'Somebody else with the role answers it.',
    )
  }
  if (approval.terms.approvals > 1)
    return no('OWN_REQUEST', 'This is your own request; where several have to approve, the requester does not count.')
  if (who.how === 'team-cli' || who.method === 'admin_credential' || who.method === 'console') {
    return no(
      'OWN_REQUEST',
      `This is your own request; a session that began with ${methodName(who.method)} cannot answer it.`,
      'Sign in with your own account, or let somebody else answer.',
    )
  }
  return { ok: true, self: true }
}

/** Whether somebody has their role from the requester, since the request was made. */
const hasRoleOfRequester = (
  approval: Pick<Approval, 'requesterId' | 'receivedAt'>,
  { roleChangedBy, roleChangedAt }: Pick<Answerer, 'roleChangedBy' | 'roleChangedAt'>,
): boolean =>
  roleChangedBy === approval.requesterId &&
  roleChangedAt !== undefined &&
  roleChangedAt.getTime() >= approval.receivedAt.getTime()

/** The role by which an earlier voter counts at this moment; undefined for one who counts no more. */
export const standingRole = (
  approval: Pick<Approval, 'requesterId' | 'receivedAt'>,
  voter: Pick<Answerer, 'memberId' | 'role' | 'active' | 'roleChangedBy' | 'roleChangedAt'>,
): Role | undefined =>
  voter.active && (voter.memberId === approval.requesterId || !hasRoleOfRequester(approval, voter))
    ? voter.role
    : undefined

/** Whether somebody may end a grant that was given: the right itself, and the role that the request took. */
export function judgeRevoker(role: Role, actor: MemberActor): { ok: true } | Refusal {
  const refusal = whyNot(actor, 'approval.revoke')
  if (refusal) return refusal
  return roleAtLeast(actor.role, role)
    ? { ok: true }
    : { ok: false, code: 'NOT_APPROVER', why: `Ending this takes the role ${role} or above.` }
}

/**
 * The approving votes that count at this moment: of members who still hold the role that it takes.
 * @param roleNow what a voter is at this moment ({@link standingRole})
 */
export function countedVotes(
  approval: Pick<Approval, 'votes' | 'terms' | 'receivedAt'>,
  roleNow: (memberId: string) => Role | undefined,
  now: Date,
): Vote[] {
  const needed = roleNeeded(approval, now)
  return approval.votes.filter(({ memberId, decision }) => {
    const role = roleNow(memberId)
    return decision === 'approve' && role !== undefined && roleAtLeast(role, needed)
  })
}

export type Settled = {
  kind: 'settled'
  state: 'approved' | 'denied'
  scope: 'step' | 'session'
  until: Ceiling[]
  /** Votes that were counted, the new one last. */
  counted: Vote[]
  /** The answer holds no longer than this: a day after the request was made, by the machine's clock. */
  notAfter: Date
}
export type AnswerOutcome =
  | Settled
  | { kind: 'counted'; missing: number }
  /** The same person clicked again, or said the same: the first result stands. */
  | { kind: 'already' }
  | { kind: 'expired' }
  | Refusal

/**
 * Applies a vote. One denial ends it; an approval settles it once enough distinct members who still hold the role have
 * approved. The scope is the narrowest of the counted votes, each ceiling the lowest.
 * @param roleNow what an earlier voter is at this moment ({@link standingRole})
 */
export function applyAnswer(
  approval: Approval,
  who: Answerer,
  vote: Pick<Vote, 'decision' | 'scope' | 'until'>,
  roleNow: (memberId: string) => Role | undefined,
  now: Date,
): AnswerOutcome {
  const earlier = approval.votes.find(v => v.memberId === who.memberId)
  const again = earlier?.decision === vote.decision
  if (again && approval.state !== 'pending') return { kind: 'already' }
  if (approval.state !== 'pending') {
    return { ok: false, code: 'NOT_PENDING', why: `This request is ${approval.state} already; nothing was changed.` }
  }
  if (now.getTime() >= approval.expiresAt.getTime()) return { kind: 'expired' }
  const allowed = judgeAnswerer(approval, who, now)
  if (!allowed.ok) return again ? { kind: 'already' } : allowed
  if (earlier && !again && vote.decision === 'approve') {
    return { ok: false, code: 'CONFLICT', why: 'You have answered this request already.' }
  }
  const cast: Vote = { memberId: who.memberId, role: who.role, method: who.method, how: who.how, ...vote }
  const notAfter = new Date(approval.madeAt.getTime() + ANSWER_MAX_MS)
  if (vote.decision === 'deny') {
    return { kind: 'settled', state: 'denied', scope: 'session', until: [], counted: [cast], notAfter }
  }
  // somebody who has approved already and says it again adds nothing, but others' votes may count again by now
  const counted = [...countedVotes(approval, roleNow, now), ...(again ? [] : [cast])]
  if (counted.length < approval.terms.approvals)
    return again ? { kind: 'already' } : { kind: 'counted', missing: approval.terms.approvals - counted.length }
  const scope = counted.some(v => v.scope === 'step') ? 'step' : 'session'
  const until = scope === 'step' ? [] : lowest([...approval.terms.ceilings, ...counted.flatMap(v => v.until)])
  return { kind: 'settled', state: 'approved', scope, until, counted, notAfter }
}

/** For each figure and qualifier the lowest ceiling. */
function lowest(ceilings: readonly Ceiling[]): Ceiling[] {
  const byFigure = new Map<string, Ceiling>()
  for (const ceiling of ceilings) {
    const key = `${ceiling.figure} ${ceiling.qualifier ?? ''}`
    const held = byFigure.get(key)
    if (!held || compareDecimals(ceiling.value, held.value) < 0) byFigure.set(key, ceiling)
  }
  return [...byFigure.values()]
}

/** How a state reads, one word for one state; `expired`, `withdrawn` and `denied` are never told as each other. */
export const STATE_WORDS: Record<ApprovalState, string> = {
  pending: 'waiting',
  approved: 'approved',
  used: 'used',
  revoked: 'revoked',
  lapsed: 'lapsed',
  denied: 'denied',
  expired: 'expired unanswered',
  withdrawn: 'withdrawn',
}
