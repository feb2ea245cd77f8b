import type { ScopedRule } from './boundary/compile.ts'
import { compileRules, type Match } from './boundary/evaluate.ts'
import { crossedText } from './boundary/refusal.ts'
import { isUnsupported, requirementText } from './boundary/shape.ts'
import type { FigureName, Figures } from './figure.ts'

/**
 * What an agent should do that reads it: `stop_and_ask` where a person or a role can let the work go on, `stop_and_tell` where
 * nobody can.
 */
export type Advice = {
  rule: string
  action: 'continue' | 'spend'
  require: string
  do: 'stop_and_tell' | 'stop_and_ask'
  /** What crossed, in words. */
  crossed: string
}

const JUDGED_BY: readonly FigureName[] = ['plan_left_pct', 'budget_used_pct']

/**
 * Whether a rule can be judged without a session: enforced, about the next call, on a plan's headroom or a budget and nothing
 * else, and for everybody's work or for machines. What needs a session's cost, its workflow or agent, or whose work it is, is
 * left out and not guessed.
 */
export function isAdvisable({ rule }: ScopedRule): boolean {
  return (
    !isUnsupported(rule) &&
    rule.stage === 'enforce' &&
    rule.require.kind !== 'allow' &&
    (rule.action === 'continue' || rule.action === 'spend') &&
    rule.when.every(({ figure }) => JUDGED_BY.includes(figure)) &&
    rule.for?.tenants === undefined &&
    rule.for?.projects === undefined
  )
}

/** The rules of {@link isAdvisable} that hold a call now, each with what to do. `machine`: this machine's id, where it has one. */
export function adviceOf(
  rules: readonly ScopedRule[],
  { figures, machine, now }: { figures: Figures; machine?: string | undefined; now: number },
): Advice[] {
  const compiled = compileRules(rules.filter(isAdvisable))
  const attribution = machine === undefined ? {} : { machine }
  return (['continue', 'spend'] as const).flatMap(action =>
    compiled.decide({ action, figures, attribution, now }).enforced.map(match => adviceIn(match, action)),
  )
}

function adviceIn(match: Match, action: Advice['action']): Advice {
  const { kind } = match.require
  return {
    rule: match.key,
    action,
    require: requirementText(match.require),
    do: kind === 'deny' ? 'stop_and_tell' : 'stop_and_ask',
    crossed: crossedText([match]),
  }
}

/** What to do, as a sentence for the agent. */
export function adviceText({ rule, do: what, crossed }: Advice): string {
  return what === 'stop_and_tell'
    ? `${rule}: ${crossed}. Stop and tell the user; nobody can approve it, it passes once the figure or the rule has changed.`
    : `${rule}: ${crossed}. Stop and ask the user; only a person can let it go on.`
}
