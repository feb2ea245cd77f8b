/** What came of a decision, and what its rules would do now: each way to end has words of its own. */

import { plain } from '#agent/terminal.ts'
import type { ApprovalState } from '#core/approval/state.ts'
import { roleWords } from '#core/boundary/describe.ts'
import type { LadderRole } from '#core/role.ts'
import { answerRefusalWords, endedWords } from './code-words.ts'
import { type DecisionRecord, entriesOf, type Grant, type RuleNow, scopeWords } from './decision.ts'

/** In a few words what came of it. Refused by a rule, denied by a person, expired, withdrawn and revoked are different things. */
export function outcomeWords(record: DecisionRecord, nowMs: number): string {
  const { decision, request, question, grants, history } = record
  if (decision?.stage === 'shadow') return 'shadow: nothing was held'
  // what is held goes on without, and nobody was refused
  const held = decision?.subject ? 'held' : 'refused'
  if (decision?.why === 'late') return 'let through: the decision came too late'
  const state = request?.state ?? pastState(history)
  if (decision?.did === 'released') return `went on; ${state ? stateOf(state, record, nowMs) : grantOf(record, nowMs)}`
  if (state) return stateOf(state, record, nowMs)
  if (question?.state === 'denied') return 'denied on this machine'
  if (question?.state === 'answered' || grants.length > 0) return grantOf(record, nowMs)
  if (history.some(entry => entry.kind === 'denied_here')) return 'denied on this machine'
  if (history.some(entry => entry.kind === 'local_answer')) return 'approved on this machine'
  if (history.some(entry => entry.kind === 'declined')) return 'declined at the agent’s own prompt'
  if (decision?.did === 'asked') return 'asked at the agent’s own prompt; no answer was seen'
  if (decision?.outcome === 'deny') return `${held} by the rule`
  if (decision?.did === 'passed') return 'let through'
  return question?.state === 'open' ? `${held}; waits for an answer here` : held
}

function stateOf(state: ApprovalState, record: DecisionRecord, nowMs: number): string {
  const { request, grants } = record
  const grant = grants.find(one => !one.answeredHere)
  switch (state) {
    case 'pending': {
      const refused = entriesOf(record, 'answer').findLast(answer => !answer.ok)
      if (refused) return `refused; an answer came and is not accepted here: ${answerRefusalWords(refused.why ?? '')}`
      return `refused; waits for ${request ? roleWords(request.role as LadderRole) : 'the organisation'}`
    }
    case 'approved': {
      const of = `approved by the organisation ${scopeWords(grant?.scope ?? 'step', record.decision?.subject)}`
      if (grant && isOver(grant, nowMs)) return `${of}; that time is over`
      return grant?.scope === 'session' ? of : `${of}; not used yet`
    }
    case 'used':
      return 'approved by the organisation, and used'
    case 'revoked':
      return `approved, then revoked${becauseOf(record, ': ')}`
    case 'lapsed':
      // an answer for the session is used without being used up
      return grant?.scope === 'step' ? 'approved, and never used in time' : 'approved; that time is over'
    case 'denied':
      return 'denied by the organisation'
    case 'expired':
      return 'refused; nobody answered in time'
    case 'withdrawn':
      return `refused; the request was withdrawn${becauseOf(record, ': ')}`
    default:
      return plain(state, 40)
  }
}

/** Why this machine ended it; empty when the control plane did. */
function becauseOf(record: DecisionRecord, before: string): string {
  const why = entriesOf(record, 'state').find(entry => entry.by === 'machine' && entry.why !== undefined)?.why
  return why === undefined ? '' : `${before}${endedWords(why)}`
}

/** What a yes that was given on this machine is worth now. */
function grantOf({ grants, decision }: DecisionRecord, nowMs: number): string {
  const grant = grants.find(one => one.answeredHere) ?? grants[0]
  if (!grant) return 'approved on this machine'
  const of = grant.answeredHere ? 'approved on this machine' : 'approved by the organisation'
  if (grant.spentBy) return `${of}, and used`
  if (grant.ended) return `${of}, then ${grant.ended === 'revoked' ? 'taken back' : 'never used in time'}`
  const scope = scopeWords(grant.scope, decision?.subject)
  if (isOver(grant, nowMs)) return `${of} ${scope}; that time is over`
  return grant.scope === 'session' ? `${of} ${scope}` : `${of} ${scope}; not used yet`
}

const isOver = ({ notAfter }: Grant, nowMs: number) => notAfter !== undefined && Date.parse(notAfter) <= nowMs

/** What became of a request that the daemon no longer keeps at hand: its newest line in the journal. */
function pastState(history: DecisionRecord['history']): ApprovalState | undefined {
  if (!history.some(entry => entry.kind === 'request')) return undefined
  let state: ApprovalState = 'pending'
  for (const entry of history) {
    if (entry.kind === 'state') state = entry.state
    else if (entry.kind === 'answer' && entry.ok) state = entry.decision === 'approve' ? 'approved' : 'denied'
    else if (entry.kind === 'spend') state = 'used'
    else if (entry.kind === 'lapsed') state = 'lapsed'
  }
  return state
}

/** What an enforced rule does, by what it demands. */
const DOES = {
  allow: 'let through and recorded',
  ask: 'put to the person at the agent’s prompt, and refused where nobody is',
  approver: 'refused, and the role asked',
  deny: 'refused',
} as const

/** A rule that is not any more what it was then: what it would do with the same call now. Nothing when it is as it was. */
export function nowWords({ decision, now = [] }: DecisionRecord): string[] {
  return decision ? now.flatMap(rule => changeWords(rule, decision.stage) ?? []) : []
}

function changeWords({ key, state, stage, require = '' }: RuleNow, then: 'shadow' | 'enforce'): string | undefined {
  if (state === 'gone') return `${key} is no longer in force: today it would hold nothing.`
  const kind = require.startsWith('approver') ? 'approver' : (require as keyof typeof DOES)
  const today = stage === 'shadow' ? 'let through and only recorded (shadow)' : (DOES[kind] ?? require)
  if (state === 'changed') return `${key} has changed since; today a call that crosses it would be ${today}.`
  if (stage === then) return undefined
  return `${key} has stage ${stage} now: today the same call would be ${today}.`
}
