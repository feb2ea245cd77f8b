import { isBelowCeilings } from '#core/boundary/ceiling.ts'
import type { Rule, SelfAnswer } from '#core/boundary/shape.ts'
import type { Figures } from '#core/figure.ts'
import { ANSWER_MAX_MS, CLOCK_SKEW_MS } from '#core/limits.ts'
import { type LadderRole, roleRank } from '#core/role.ts'
import type { Answer, Ceiling } from './answer.ts'
import type { ApprovalRequest } from './request.ts'

/** Why an answer releases nothing; each is shown in its own words ({@link REFUSAL_WORDS}). */
export const ANSWER_REFUSALS = [
  'no_such_request',
  'other_organisation',
  'other_machine',
  'other_request',
  'root_ahead',
  'request_over',
  'rule_gone',
  'rule_changed',
  'needs_approver_key',
  'role_too_low',
  'too_few_approvers',
  'same_approver_twice',
  'may_not_answer',
  'own_request',
  'lives_too_long',
  'not_yet',
  'expired',
  'denied',
  'stale_rules',
  'ceiling_unread',
  'above_ceiling',
  'spent',
] as const
export type AnswerRefusal = (typeof ANSWER_REFUSALS)[number]

/** Why an answer was refused, for the person at the machine. */
export const REFUSAL_WORDS: Record<AnswerRefusal, string> = {
  no_such_request: 'this machine has made no such request',
  other_organisation: 'the answer is of another organisation',
  other_machine: 'the answer is for another machine',
  other_request: 'the answer is about a request with other contents than the one made here',
  root_ahead: 'the answer was signed under a newer root document than the one in force here',
  request_over: 'the request had ended before it was answered',
  rule_gone: 'a rule it answers is no longer in force',
  rule_changed: 'a rule it answers has changed since',
  needs_approver_key: 'the rule asks for a signature by an approver’s own key, which this connector cannot check yet',
  role_too_low: 'an approver’s role is below the one the rule names',
  too_few_approvers: 'fewer people have answered than the rule asks for',
  same_approver_twice: 'one person is counted twice',
  may_not_answer: 'a session of that kind cannot answer',
  own_request: 'the requester may not answer this request',
  lives_too_long: 'the answer would hold for more than a day after the request',
  not_yet: 'the answer does not hold yet (or the clock of this machine is behind)',
  expired: 'the answer has ended',
  denied: 'the answer is no',
  stale_rules: 'the rules on this machine are too old to release anything',
  ceiling_unread: 'the figure that the answer sets a ceiling for cannot be read',
  above_ceiling: 'the figure has reached the ceiling of the answer',
  spent: 'the answer has been used by another call',
}

/** A request as the connector stored it before it was sent. `over`: it ended here before an answer came. */
export type StoredRequest = { request: ApprovalRequest; digest: string; over?: boolean }

/** What an organisation rule in force demands, with the digest of its current form. */
export type RuleInForce = { digest: string; rule: Rule }

export type AnswerContext = {
  /** The connector's own stored request with the answer's handle. */
  stored: StoredRequest | undefined
  org: string
  machine: string
  /** The root in force. */
  rootSeq: number
  /** Organisation rules in force by name, without `org:`. */
  rules: ReadonlyMap<string, RuleInForce>
  selfAnswer: SelfAnswer
  /** The highest clock reading this machine has ever seen, milliseconds since 1970. */
  nowMs: number
}

export type ReleaseContext = AnswerContext & {
  /** False when the rule set is past its max age: stale rules hold but never release. */
  fresh: boolean
  /** The figures as they are now. */
  figures: Figures
  /** The call that has spent this step answer, if any, and the call that asks. */
  spentBy: string | undefined
  toolUse: string | undefined
}

export type Judged = { ok: true } | { ok: false; why: AnswerRefusal }

const OK: Judged = { ok: true }
const refuse = (why: AnswerRefusal): Judged => ({ ok: false, why })

/**
 * Whether a verified answer is bound to what this machine asked: the part that holds for a "no" as well.
 * The handle is only how the stored request was found; the digest is what binds.
 */
export function bindAnswer(
  answer: Answer,
  context: Pick<AnswerContext, 'stored' | 'org' | 'machine' | 'rootSeq'>,
): Judged {
  const { stored } = context
  if (!stored) return refuse('no_such_request')
  if (answer.org !== context.org || stored.request.org !== context.org) return refuse('other_organisation')
  if (answer.machine !== context.machine || stored.request.machine !== context.machine) return refuse('other_machine')
  if (answer.request !== stored.digest || answer.handle !== stored.request.handle) return refuse('other_request')
  if (answer.rootSeq > context.rootSeq) return refuse('root_ahead')
  return OK
}

/** Whether an approval, once bound, is one that the rules in force can accept. Says nothing about this moment's figures. */
export function acceptAnswer(answer: Answer, context: AnswerContext): Judged {
  const bound = bindAnswer(answer, context)
  if (!bound.ok) return bound
  if (answer.decision === 'deny') return refuse('denied')
  const { request, over } = context.stored!
  if (over) return refuse('request_over')
  for (const asked of request.rules) {
    const now = context.rules.get(asked.name)
    if (!now) return refuse('rule_gone')
    if (now.digest !== asked.digest) return refuse('rule_changed')
    const fits = fitsRule(answer, now.rule, request, context.selfAnswer)
    if (!fits.ok) return fits
  }
  const createdAt = Date.parse(request.createdAt)
  const notAfter = Date.parse(answer.notAfter)
  if (notAfter > createdAt + ANSWER_MAX_MS) return refuse('lives_too_long')
  if (context.nowMs < Date.parse(answer.notBefore) - CLOCK_SKEW_MS) return refuse('not_yet')
  if (context.nowMs >= notAfter) return refuse('expired')
  return OK
}

/** Whether an answer lets one call through at this moment: all of it. */
export function releaseByAnswer(answer: Answer, context: ReleaseContext): Judged {
  const accepted = acceptAnswer(answer, context)
  if (!accepted.ok) return accepted
  if (!context.fresh) return refuse('stale_rules')
  const below = withinCeilings(answer.until, context.figures)
  if (!below.ok) return below
  if (answer.scope === 'step' && context.spentBy !== undefined && context.spentBy !== context.toolUse)
    return refuse('spent')
  return OK
}

/** Every ceiling must be read and not yet reached. */
export function withinCeilings(until: readonly Ceiling[], figures: Figures): Judged {
  if (isBelowCeilings(until, figures)) return OK
  const isRead = (ceiling: Ceiling) => figures.some(reading => reading.name === ceiling.figure)
  return refuse(until.every(isRead) ? 'above_ceiling' : 'ceiling_unread')
}

/** Who answered, beside what one rule demands. The control plane has checked this; the machine takes its word for less. */
function fitsRule(answer: Answer, rule: Rule, request: ApprovalRequest, selfAnswer: SelfAnswer): Judged {
  if (rule.require.kind !== 'approver') return refuse('rule_changed')
  if (rule.signed) return refuse('needs_approver_key')
  const { approvers } = answer
  if (new Set(approvers.map(a => a.memberId)).size !== approvers.length) return refuse('same_approver_twice')
  if (approvers.some(a => a.method === 'device_link')) return refuse('may_not_answer')
  const role = leastRole(rule, rule.require.role, answer, request)
  if (approvers.some(a => roleRank(a.role) < roleRank(role))) return refuse('role_too_low')
  for (const approver of approvers) {
    if (approver.memberId !== request.member) continue
    const ownSignIn = approver.method === 'oidc' || approver.method === 'passkey' || approver.method === 'email_code'
    // the rule can only be stricter than the organisation
    const allowed = selfAnswer === 'account' && (rule.self ?? 'account') === 'account'
    if (!allowed || !ownSignIn || !approver.self) return refuse('own_request')
  }
  const wanted = rule.approvals ?? 1
  // the requester never counts towards a quorum
  const counted = wanted > 1 ? approvers.filter(a => a.memberId !== request.member).length : approvers.length
  return counted < wanted ? refuse('too_few_approvers') : OK
}

/** The role the rule names, or its fallback's once that had come due when the answer was given. */
function leastRole(rule: Rule, named: LadderRole, answer: Answer, request: ApprovalRequest): LadderRole {
  const { fallback } = rule
  if (!fallback) return named
  const due = Date.parse(request.createdAt) + fallback.afterSeconds * 1000
  const lower = roleRank(fallback.role) < roleRank(named)
  return lower && fallback.loosens && Date.parse(answer.notBefore) >= due ? fallback.role : named
}
