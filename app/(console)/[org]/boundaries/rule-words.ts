import { type Action, COMPARATORS, type Rule, requirementText } from '#core/boundary/shape.ts'
import { DESTINATIONS, FIGURES, type FigureName, PLAN_WINDOWS } from '#core/figure.ts'
import { TIERS } from '#core/model-tier.ts'

/** What each action is, as a choice in a form. */
export const ACTION_LABELS: Record<Action, string> = {
  continue: 'continue: the next tool call',
  spend: 'spend: the next tool call, by money',
  subagent_model: 'subagent_model: a subagent starts',
  model_route: 'model_route: the router changes model',
  share: 'share: figures leave the machine',
}

export const ACTION_HELP: Record<Action, string> = {
  continue: "The agent's next tool call, at the pause point.",
  spend: "The agent's next tool call, judged by budgets and money.",
  subagent_model: 'The model that a subagent is about to run on.',
  model_route: "The local router moves a request to another model. Idle where a machine's router is off.",
  share: 'Figures are about to leave the machine: an upload to the team, an OpenTelemetry export.',
}

export const FIGURE_HELP: Record<FigureName, string> = {
  session_cost_usd: 'What the session has cost so far, at list prices, in dollars.',
  plan_left_pct: 'What is left of the plan window, in percent. window: 5h or week; the tightest when left out.',
  budget_used_pct: 'How much of a budget is used, in percent. budget: its name; the fullest when left out.',
  model_tier: 'haiku < sonnet < opus. A model without a tier satisfies no comparison.',
  destination: 'Where figures would go: team or otel.',
  workflow_id: 'client:project:session, * being the wildcard.',
  agent_id: 'client:project, * being the wildcard.',
}

export const KEY_HELP: readonly { key: string; takes: string; help: string }[] = [
  { key: 'name', takes: 'lower-case letters, digits, - and _', help: 'What people and agents read: org:<name>.' },
  { key: 'action', takes: 'one of the actions', help: 'The moment that the rule judges.' },
  { key: 'when', takes: 'conditions, all of which must hold', help: 'session_cost_usd: ">= 20"' },
  { key: 'require', takes: 'allow, ask, approver:<role> or deny', help: 'What it demands when they hold.' },
  { key: 'stage', takes: 'shadow or enforce', help: 'Shadow, the default, records and changes nothing.' },
  { key: 'note', takes: 'a sentence', help: 'Why the rule is there. Shown to the agent and to approvers.' },
  { key: 'approvals', takes: '1 to 5', help: 'How many different people must approve.' },
  { key: 'expires', takes: '5m to 24h', help: 'How long a request waits. One hour when left out.' },
  { key: 'step', takes: 'an amount', help: 'An answer holds until the figure has grown by this much.' },
  { key: 'for', takes: 'tenants, projects, machines', help: 'Whom it applies to. What is unknown applies.' },
  { key: 'on_unknown', takes: 'pass or hold', help: 'What happens when a figure cannot be read.' },
]

/** The comparators that a figure takes, the usual one first. */
export function comparatorsFor(figure: string): readonly string[] {
  const kind = FIGURES[figure as FigureName]
  if (kind?.unit === 'name') return ['==']
  return kind?.worst === 'min' ? ['<', '<=', '>', '>=', '=='] : COMPARATORS.toReversed().sort(byUse)
}
const byUse = (a: string, b: string) =>
  ['>=', '>', '<=', '<', '=='].indexOf(a) - ['>=', '>', '<=', '<', '=='].indexOf(b)

export const COMPARATOR_WORDS: Record<string, string> = {
  '>=': '≥ at or above',
  '>': '> above',
  '<=': '≤ at or below',
  '<': '< below',
  '==': '= is exactly',
}

/** Values to choose from, for figures that have a fixed list. */
export function valuesFor(figure: string): readonly string[] | undefined {
  return figure === 'model_tier' ? TIERS : figure === 'destination' ? DESTINATIONS : undefined
}

/** The words that may narrow a figure. */
export function windowsFor(figure: string): readonly string[] | undefined {
  return figure === 'plan_left_pct' ? PLAN_WINDOWS : undefined
}

/** A first condition for a figure, to be changed. */
export function startingValue(figure: FigureName): { op: string; value: string } {
  const values: Record<FigureName, { op: string; value: string }> = {
    session_cost_usd: { op: '>=', value: '20' },
    plan_left_pct: { op: '<', value: '10' },
    budget_used_pct: { op: '>=', value: '90' },
    model_tier: { op: '>=', value: 'opus' },
    destination: { op: '==', value: 'team' },
    workflow_id: { op: '==', value: 'claude-code:*' },
    agent_id: { op: '==', value: 'claude-code:*' },
  }
  return values[figure]
}

const MICROS = 1_000_000

/** Rules to begin with, each a sensible one of its kind; all in shadow. */
export const STARTERS: readonly { title: string; rule: Rule }[] = [
  {
    title: 'A long session gets a second pair of eyes',
    rule: {
      name: 'session-spend',
      action: 'continue',
      when: [{ figure: 'session_cost_usd', op: '>=', value: 20 * MICROS }],
      require: { kind: 'approver', role: 'lead' },
      stage: 'shadow',
      onUnknown: 'pass',
      note: 'Long sessions get a second pair of eyes.',
    },
  },
  {
    title: 'Subagents on the dearest models are asked about',
    rule: {
      name: 'big-subagents',
      action: 'subagent_model',
      when: [{ figure: 'model_tier', op: '>', value: 'sonnet' }],
      require: { kind: 'ask' },
      stage: 'shadow',
      onUnknown: 'pass',
      note: 'Most subagents do well on a smaller model.',
    },
  },
  {
    title: 'Keep a reserve of the weekly plan',
    rule: {
      name: 'plan-floor',
      action: 'continue',
      when: [{ figure: 'plan_left_pct', op: '<', value: 5 * MICROS, qualifier: 'week' }],
      require: { kind: 'deny' },
      stage: 'shadow',
      onUnknown: 'pass',
      note: 'The last of the week is kept for emergencies.',
    },
  },
]

/** A name that no rule has yet: `session-spend`, `session-spend-2`. */
export function freeName(wanted: string, taken: readonly string[]): string {
  if (!taken.includes(wanted)) return wanted
  for (let n = 2; ; n++) if (!taken.includes(`${wanted}-${n}`)) return `${wanted}-${n}`
}

/** How a requirement is shown: colour by how much it holds. */
export const requirementOf = (rule: Rule): string => requirementText(rule.require)
