import { FIGURE_NAMES, type FigureName } from '#core/figure.ts'
import type { Micros } from '#core/money.ts'
import type { LadderRole } from '#core/role.ts'

/** What is about to happen, at the points that can stop it. */
export const ACTIONS = ['continue', 'spend', 'subagent_model', 'model_route', 'share'] as const
export type Action = (typeof ACTIONS)[number]

/** How a figure is compared. */
export const COMPARATORS = ['<', '<=', '>', '>=', '=='] as const
export type Comparator = (typeof COMPARATORS)[number]

/** Whether somebody may answer their own request, and with what. */
export const SELF_ANSWERS = ['never', 'account', 'key'] as const
export type SelfAnswer = (typeof SELF_ANSWERS)[number]

/** Whether a rule only records or binds; the default first. */
export const STAGES = ['shadow', 'enforce'] as const
export type Stage = (typeof STAGES)[number]

/** What a figure that cannot be read does; the default first. */
export const ON_UNKNOWN = ['pass', 'hold'] as const
export type OnUnknown = (typeof ON_UNKNOWN)[number]

export type Scope = 'local' | 'organisation'

/** What a rule demands when it holds. */
export type Requirement =
  | { kind: 'allow' }
  | { kind: 'ask' }
  | { kind: 'deny' }
  | { kind: 'approver'; role: LadderRole }

/** What a set of rules says about one call: `pass` when none of them matched. */
export type Outcome = { kind: 'pass' } | Requirement

/**
 * One comparison. `value` is Micros for session_cost_usd and the percentages, the tier's name for model_tier, and the
 * name or pattern for the rest. `qualifier` is the window or the budget.
 */
export interface Condition {
  figure: FigureName
  op: Comparator
  value: Micros | string
  qualifier?: string
}

/** Whom a rule applies to. Kinds are ANDed, entries of one kind ORed, `*` is a wildcard; what is unknown applies. */
export interface AppliesTo {
  tenants?: readonly string[]
  projects?: readonly string[]
  machines?: readonly string[]
}

export interface Fallback {
  role: LadderRole
  afterSeconds: number
  /** Must be true when `role` stands below the role the rule names. */
  loosens?: true
}

/** One boundary. */
export interface Rule {
  name: string
  action: Action
  /** All must hold; at least one; at most one a figure; in the order of FIGURE_NAMES. */
  when: readonly Condition[]
  require: Requirement
  stage: Stage
  onUnknown: OnUnknown
  note?: string
  /** How many different people must approve; one when absent. */
  approvals?: number
  /** How long a request waits, in seconds. */
  expires?: number
  /** An answer holds until the figure has grown by this much (Micros: dollars or points). */
  step?: Micros
  for?: AppliesTo
  /** An approval needs the approver's own key. */
  signed?: true
  /** Whether one may answer one's own request, and with what. */
  self?: SelfAnswer
  fallback?: Fallback
}

/** A rule of a signed set that this reader cannot read: held or passed by its `on_unknown`, and reported. */
export interface UnsupportedRule {
  unsupported: true
  name: string
  /** Absent: it could not be read, and the rule stands for every action. */
  action?: string
  require: Requirement
  stage: Stage
  onUnknown: OnUnknown
  reason: string
}

/** One value of a case's figures: Micros for `usd` and `pct`, a word for the rest. */
export interface CaseFigure {
  figure: FigureName
  value: Micros | string
  qualifier?: string
}

/** A case of `tests:`: what the rules must say about one made-up call. A figure that is not given is unread. */
export interface BoundaryCase {
  name?: string
  action: Action
  figures: readonly CaseFigure[]
  tenant?: string
  project?: string
  machine?: string
  expect: Outcome
  /** Judged by this rule alone; by all rules of the document when absent. */
  rule?: string
}

/** True for a rule that this reader could not read whole. */
export function isUnsupported(rule: Rule | UnsupportedRule): rule is UnsupportedRule {
  return 'unsupported' in rule
}

const everyAction = ['continue', 'spend', 'subagent_model', 'model_route'] as const

/** Which actions each condition can be judged by, because of where the action is decided. */
export const CONDITION_ACTIONS: Record<FigureName, readonly Action[]> = {
  session_cost_usd: ['continue', 'spend', 'subagent_model'],
  plan_left_pct: ['continue', 'subagent_model', 'model_route'],
  budget_used_pct: ['spend'],
  model_tier: ['subagent_model', 'model_route'],
  destination: ['share'],
  workflow_id: everyAction,
  agent_id: everyAction,
}

/** The conditions an action can be judged by, in the fixed order. */
export function conditionsFor(action: Action): FigureName[] {
  return FIGURE_NAMES.filter(name => CONDITION_ACTIONS[name].includes(action))
}

/** `approver:lead`, `deny`, `pass`: a requirement or an outcome as the document spells it. */
export function requirementText(require: Outcome): string {
  return require.kind === 'approver' ? `approver:${require.role}` : require.kind
}

/** True for the name of an action. */
export function isAction(value: unknown): value is Action {
  return typeof value === 'string' && (ACTIONS as readonly string[]).includes(value)
}
