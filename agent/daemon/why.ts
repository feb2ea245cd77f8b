import { appliesTo, type ConditionNow, compileRule, conditionsNow, type ScopedRule } from '#core/boundary/compile.ts'
import { type Action, isUnsupported, requirementText } from '#core/boundary/shape.ts'
import { DESTINATIONS, type Figures, nameReading } from '#core/figure.ts'
import { subagentTier } from '#core/model-tier.ts'
import { formatMicros } from '#core/money.ts'
import { releasesFor } from './releases.ts'
import type { Runtime } from './runtime.ts'
import type { Session } from './session.ts'
import { figuresOf } from './sessions.ts'
import { waitingOf } from './status.ts'

/** One condition as it stands; amounts are decimal strings. `holds` is absent where the figure is unread. */
export type ShownCondition = {
  figure: string
  qualifier?: string
  op: string
  threshold: string
  value: string
  unit?: string
  source?: string
  ageS?: number
  holds?: boolean
  why?: string
}

/** What a rule says about the next call of one session; for `share` about one destination. */
export type WhyThere = {
  client?: string
  session?: string
  project?: string
  destination?: string
  /** `lifted`: an answer lets it go on. `undecided`: a figure is unread, and the rule lets calls through then. */
  state: 'fires' | 'does_not_fire' | 'undecided' | 'for_others' | 'lifted'
  conditions: ShownCondition[]
  /** To whom the calls belong, as far as a rule with `for:` can ask. */
  attribution?: Record<string, string | undefined>
  /** The answers that lift it. */
  liftedBy?: string[]
  /** What waits for an answer because of it. */
  waiting?: string[]
}

export type Why = {
  rule: string
  scope: string
  action?: string
  require: string
  stage: string
  onUnknown: string
  for?: object
  /** Set where this connector cannot read the rule. */
  unsupported?: string
  there: WhyThere[]
}

/** `GET /api/why`: whether a rule would fire at the next call, in each live session; undefined for a rule that is none. */
export function whyOf(runtime: Runtime, key: string, only?: string): Why | undefined {
  const source = runtime.rules.inForce().rules.find(one => one.key === key)
  if (!source) return undefined
  const { rule, scope } = source
  const head = {
    rule: key,
    scope,
    require: requirementText(rule.require),
    stage: rule.stage,
    onUnknown: rule.onUnknown,
  }
  if (isUnsupported(rule)) return { ...head, unsupported: rule.reason, there: [] }
  const { action } = rule
  const there =
    action === 'share'
      ? DESTINATIONS.map(destination => atDestination(runtime, source, destination))
      : runtime.sessions
          .all()
          .filter(({ id, ended }) => (only === undefined ? !ended : id === only))
          .sort((a, b) => b.lastSeen - a.lastSeen)
          .map(session => inSession(runtime, source, session, action))
  return { ...head, action, ...(rule.for ? { for: rule.for } : {}), there }
}

/** What the session's next call would be judged by; a subagent that names no model runs on the session's. */
function figuresFor(runtime: Runtime, session: Session, action: Action): Figures {
  const now = runtime.now()
  const event = { kind: 'other' as const, name: '', sessionId: session.id, cwd: session.cwd, atMs: now }
  const tier = subagentTier(session.model === undefined ? {} : { sessionModel: session.model })
  return [
    ...figuresOf(session, event, now),
    ...runtime.budgetReadings(session),
    ...runtime.planReadings(session),
    ...(action === 'subagent_model' ? [nameReading('model_tier', tier, now)] : []),
  ]
}

function inSession(runtime: Runtime, source: ScopedRule, session: Session, action: Action): WhyThere {
  const figures = figuresFor(runtime, session, action)
  const attribution = runtime.attributionOf(session)
  const compiled = compileRule(source)
  const now = runtime.now()
  const conditions = conditionsNow(compiled, { action, figures, attribution, now })
  const isFor = appliesTo(compiled, attribution)
  const { standing } = releasesFor(runtime, session.id, undefined, figures)
  const lifting = standing.filter(({ keys }) => keys.includes(source.key)).map(({ handle }) => handle)
  const waiting = (waitingOf(runtime) as { handle: string; rules: string[]; session: string }[])
    .filter(one => one.session === session.id && one.rules.includes(source.key))
    .map(({ handle }) => handle)
  const state = isFor ? stateOf(conditions, source) : 'for_others'
  return {
    client: session.client,
    session: session.id,
    project: session.project,
    state: state === 'fires' && lifting.length > 0 ? 'lifted' : state,
    conditions: conditions.map(condition => shown(condition, now)),
    attribution: { ...attribution },
    ...(lifting.length > 0 ? { liftedBy: lifting } : {}),
    ...(waiting.length > 0 ? { waiting } : {}),
  }
}

function atDestination(runtime: Runtime, source: ScopedRule, destination: string): WhyThere {
  const now = runtime.now()
  const figures = [nameReading('destination', destination, now)]
  const conditions = conditionsNow(compileRule(source), { action: 'share', figures, now })
  const state = stateOf(conditions, source)
  return { destination, state, conditions: conditions.map(condition => shown(condition, now)) }
}

/** As the evaluator decides: one condition that does not hold ends it, an unread one holds only where the rule says so. */
function stateOf(conditions: readonly ConditionNow[], { rule }: ScopedRule): 'fires' | 'does_not_fire' | 'undecided' {
  if (conditions.some(({ holds }) => holds === false)) return 'does_not_fire'
  const isWhole = conditions.every(({ holds }) => holds === true)
  return isWhole || rule.onUnknown === 'hold' ? 'fires' : 'undecided'
}

function shown({ figure, qualifier, op, threshold, reading, holds, why }: ConditionNow, now: number): ShownCondition {
  const text = (value: number | string) => (typeof value === 'number' ? formatMicros(value) : value)
  return {
    figure,
    ...(qualifier === undefined ? {} : { qualifier }),
    op,
    threshold: text(threshold),
    value: reading ? text(reading.value) : 'unread',
    ...(reading
      ? {
          unit: reading.unit,
          source: reading.source,
          ageS: Math.max(0, Math.round((now - reading.observedAt) / 1000)),
        }
      : {}),
    ...(holds === undefined ? {} : { holds }),
    ...(why === undefined ? {} : { why }),
  }
}
