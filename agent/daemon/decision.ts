import type { Decision, ToolCall } from '#agent/clients/adapter.ts'
import { stepCeilings } from '#core/boundary/ceiling.ts'
import { crossedFigures } from '#core/boundary/crossed.ts'
import type { Match } from '#core/boundary/evaluate.ts'
import { type RefusalState, refusalText } from '#core/boundary/refusal.ts'
import { type Action, isUnsupported, requirementText } from '#core/boundary/shape.ts'
import type { Client } from '#core/client.ts'
import type { FigureReading } from '#core/figure.ts'
import { makeHandle } from '#core/id.ts'
import { formatMicros } from '#core/money.ts'
import type { Plan } from './decide.ts'
import type { DecisionEntry, JudgedRule, ReadFigure } from './entry.ts'
import type { Blocked } from './releases.ts'
import type { RulesInForce } from './rules.ts'
import { type Runtime, record } from './runtime.ts'
import type { Session } from './session.ts'
import type { HeldSubject } from './subject.ts'

/** One call that is being decided, with everything known about it. */
export type About = {
  runtime: Runtime
  client: Client
  event: ToolCall
  session: Session
  /** What it is about, where that is not the session. */
  subject?: HeldSubject
  plan: Plan
  blocked: Blocked[]
  /** Those that the plan was made under. */
  rules: RulesInForce
  /** Handles of the decisions that were chained about it, shadow ones left out. */
  recorded: string[]
}

/** `file`: requests are to be sent once the client has its answer. `late`: it waited no longer, and the call has gone on. */
export type Judgement = { decision: Decision; file: boolean; late?: boolean }

export const refuse = (text: string): Decision => ({ outcome: 'refuse', text })

/** Words of a refusal that waits for the organisation. */
export const refuseWith = (matches: readonly Match[], state: RefusalState, handle?: string): Decision =>
  refuse(refusalText({ matches, state, ...(handle === undefined ? {} : { handle }) }))

type Happened = {
  did: DecisionEntry['did']
  matches: readonly Match[]
  answeredBy: DecisionEntry['answeredBy']
  event: ToolCall
  stage?: 'shadow' | 'enforce'
  action?: Action
  handle?: string
  question?: string
  grants?: string[]
  why?: 'late'
}

/** Chains a decision; returns its handle. */
export function recordDecision(about: About, happened: Happened): string {
  const { runtime, client, session, subject, plan, rules, recorded } = about
  const { matches, event } = happened
  const handle = happened.handle ?? makeHandle(runtime.random(6))
  const until = stepCeilings(matches)
  const strictest = matches.map(match => match.require.kind)
  const outcome = (['deny', 'approver', 'ask', 'allow'] as const).find(kind => strictest.includes(kind)) ?? 'allow'
  if (happened.stage !== 'shadow') recorded.push(handle)
  record(runtime, {
    kind: 'decision',
    handle,
    client,
    session: session.id,
    sessionRef: session.ref,
    ...(event.agentId === undefined ? {} : { agent: event.agentId }),
    project: session.project,
    user: runtime.user,
    ...(event.toolUseId === undefined ? {} : { toolUse: event.toolUseId }),
    action: happened.action ?? plan.action,
    ...(subject === undefined ? {} : { subject }),
    stage: happened.stage ?? 'enforce',
    outcome,
    did: happened.did,
    rules: matches.map(match => judgedRule(rules, match)),
    figures: matches.flatMap(readFigures),
    wire: crossedFigures(matches),
    ...(happened.question === undefined ? {} : { question: happened.question }),
    answeredBy: happened.answeredBy,
    ...(until.length > 0 ? { until } : {}),
    ...(happened.grants ? { grants: happened.grants } : {}),
    ...(happened.why ? { why: happened.why } : {}),
  })
  return handle
}

function judgedRule(rules: RulesInForce, { key, rule, require }: Match): JudgedRule {
  const digest = rules.digests.get(key)
  const note = isUnsupported(rule) ? undefined : rule.note
  return { key, require: requirementText(require), ...(digest ? { digest } : {}), ...(note ? { note } : {}) }
}

const valueText = (value: FigureReading['value']) => (typeof value === 'number' ? formatMicros(value) : value)

function readFigures({ crossed }: Match): ReadFigure[] {
  return crossed.map(({ figure, qualifier, op, threshold, reading }) => ({
    name: figure,
    ...(qualifier === undefined ? {} : { qualifier }),
    value: reading ? valueText(reading.value) : 'unread',
    unit: reading?.unit ?? '',
    op,
    threshold: valueText(threshold),
    ...(reading ? { observedAt: new Date(reading.observedAt).toISOString() } : {}),
  }))
}
