import { roleRank } from '#core/role.ts'
import {
  type CompiledRule,
  type Crossing,
  compileRule,
  crossingsOf,
  type EvaluationInput,
  judge,
  type ScopedRule,
  UNDETERMINED,
  UNMATCHED,
  type Unread,
  unreadOf,
} from './compile.ts'
import {
  ACTIONS,
  type Action,
  type Outcome,
  type Requirement,
  type Rule,
  type Scope,
  type UnsupportedRule,
} from './shape.ts'

/** Local rules and the organisation's side by side: neither can loosen the other. */
export function mergeRules(rules: {
  local?: readonly Rule[]
  organisation?: readonly (Rule | UnsupportedRule)[]
}): ScopedRule[] {
  return [
    ...(rules.organisation ?? []).map(rule => ({ key: `org:${rule.name}`, scope: 'organisation' as const, rule })),
    ...(rules.local ?? []).map(rule => ({ key: rule.name, scope: 'local' as const, rule })),
  ]
}

/** A rule that matched, and why. */
export interface Match {
  key: string
  scope: Scope
  rule: Rule | UnsupportedRule
  require: Requirement
  crossed: readonly Crossing[]
}

export interface Evaluation {
  outcome: Outcome
  /**
   * The enforced matches that the outcome asks about, and that its answer lifts: all denying ones; or all of the
   * organisation's naming an approver; or, when the question is answered on this machine, all that ask here.
   */
  decidedBy: readonly Match[]
  /** Who can let it go on: the organisation's approvers, the person at this machine, or nobody. */
  answeredBy: 'organisation' | 'machine' | 'nobody'
  /** Every enforced match that was not lifted. */
  enforced: readonly Match[]
  /** Every match of a rule in shadow. */
  shadow: readonly Match[]
  /** Enforced matches that an answer has lifted. */
  lifted: readonly Match[]
  /** Figures that kept a rule from being decided either way. */
  unread: readonly Unread[]
}

/** The rules made ready to be asked many times. */
export interface CompiledRules {
  decide(input: EvaluationInput): Evaluation
}

const none: readonly never[] = Object.freeze([])
const NOTHING: Evaluation = Object.freeze({
  outcome: Object.freeze({ kind: 'pass' as const }),
  decidedBy: none,
  answeredBy: 'nobody' as const,
  enforced: none,
  shadow: none,
  lifted: none,
  unread: none,
})

/**
 * Compiles rules for repeated questions. While no rule matches and every figure is read, a decision allocates nothing
 * and returns one shared, frozen value.
 */
export function compileRules(rules: readonly ScopedRule[]): CompiledRules {
  const compiled = rules.map(compileRule)
  const byAction = new Map<string, CompiledRule[]>(
    ACTIONS.map(action => [action, compiled.filter(rule => rule.action === undefined || rule.action === action)]),
  )
  return {
    decide(input) {
      const list = byAction.get(input.action)
      if (list === undefined) return NOTHING
      for (let i = 0; i < list.length; i++) {
        if (judge(list[i]!, input) !== UNMATCHED) return collect(list, i, input)
      }
      return NOTHING
    },
  }
}

/** What the rules say about one call. With many calls to come, compile once instead. */
export function evaluate(rules: readonly ScopedRule[], input: EvaluationInput): Evaluation {
  return compileRules(rules).decide(input)
}

function collect(list: readonly CompiledRule[], from: number, input: EvaluationInput): Evaluation {
  const enforced: Match[] = []
  let shadow: Match[] | undefined
  let lifted: Match[] | undefined
  let unread: Unread[] | undefined
  for (let i = from; i < list.length; i++) {
    const compiled = list[i]!
    const verdict = judge(compiled, input)
    if (verdict === UNMATCHED) continue
    if (verdict === UNDETERMINED || compiled.holdsUnread) {
      unread ??= []
      unread.push(...unreadOf(compiled, input))
    }
    if (verdict === UNDETERMINED) continue
    const { key, scope, rule } = compiled.source
    const match: Match = { key, scope, rule, require: rule.require, crossed: crossingsOf(compiled, input) }
    if (rule.stage === 'shadow') {
      shadow ??= []
      shadow.push(match)
    } else if (input.lifted?.has(key)) {
      lifted ??= []
      lifted.push(match)
    } else enforced.push(match)
  }
  const { outcome, decidedBy, answeredBy } = settle(enforced)
  return {
    outcome,
    decidedBy,
    answeredBy,
    enforced,
    shadow: shadow ?? none,
    lifted: lifted ?? none,
    unread: unread ?? none,
  }
}

/** How strict a match is by who can answer it: 1 allow, 2 asked at this machine, 3 sent to the organisation, 4 denied. */
function levelOf({ require, scope }: Match): 1 | 2 | 3 | 4 {
  if (require.kind === 'deny') return 4
  if (require.kind === 'approver') return scope === 'organisation' ? 3 : 2
  return require.kind === 'ask' ? 2 : 1
}

const ASK: Outcome = Object.freeze({ kind: 'ask' })

/**
 * The strictest wins: deny, then a named approver (the organisation's before a local one, which is answered here and so
 * stands in one question with `ask`), then ask, then allow. Of several approvers the highest role is asked.
 */
function settle(enforced: readonly Match[]): Pick<Evaluation, 'outcome' | 'decidedBy' | 'answeredBy'> {
  let level = 0
  for (const match of enforced) level = Math.max(level, levelOf(match))
  if (level === 0) return NOTHING
  const decidedBy: Match[] = []
  let outcome: Outcome = ASK
  for (const match of enforced) {
    if (levelOf(match) !== level) continue
    decidedBy.push(match)
    const { require } = match
    if (require.kind === 'deny' || require.kind === 'allow') outcome = require
    else if (require.kind === 'approver') {
      if (outcome.kind !== 'approver' || roleRank(require.role) > roleRank(outcome.role)) outcome = require
    }
  }
  return { outcome, decidedBy, answeredBy: level === 3 ? 'organisation' : level === 2 ? 'machine' : 'nobody' }
}

/**
 * A number that rises with strictness: pass, allow, ask, an approver answered at the machine by role, one of the
 * organisation's by role, deny. Adding a rule never lowers it.
 */
export function strictness({ outcome, answeredBy }: Pick<Evaluation, 'outcome' | 'answeredBy'>): number {
  switch (outcome.kind) {
    case 'pass':
      return 0
    case 'allow':
      return 1
    case 'ask':
      return 2
    case 'approver':
      return (answeredBy === 'organisation' ? 10 : 3) + roleRank(outcome.role)
    case 'deny':
      return 20
  }
}

/** What the place that decides does with an evaluation. */
export type Effect =
  | 'pass' // goes on
  | 'ask' // the client asks the person at the keyboard
  | 'refuse' // refused; a person may answer on this machine, or nobody may
  | 'request' // refused, and the organisation's approvers are asked
  | 'hold' // a route or figures stay where they are until an answer, or until the rule changes

/**
 * What follows from an outcome where. `canAsk`: somebody is at the keyboard of a client that can ask them.
 * Routes and figures are decided where nobody is at a prompt: they are held, never asked about.
 */
export function effectOf(evaluation: Evaluation, call: { action: Action; canAsk: boolean }): Effect {
  const { outcome, answeredBy } = evaluation
  if (outcome.kind === 'pass' || outcome.kind === 'allow') return 'pass'
  if (answeredBy === 'organisation') return 'request'
  if (call.action === 'model_route' || call.action === 'share') return 'hold'
  return outcome.kind !== 'deny' && call.canAsk ? 'ask' : 'refuse'
}
