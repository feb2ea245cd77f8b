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
