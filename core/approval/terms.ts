import type { Rule, SelfAnswer } from '../boundary/shape.ts'
import { formatMicros, parseMicros } from '../money.ts'
import { roleRank } from '../role.ts'
import type { Ceiling } from './answer.ts'
import type { CrossedFigure } from './request.ts'
import type { Terms } from './state.ts'

const STRICTNESS: readonly SelfAnswer[] = ['account', 'key', 'never']

/**
 * What several rules that hold one action demand together: the highest role, the largest quorum, the strictest word on one's
 * own requests, and ceilings from each rule's `step:` (the crossed figure plus the step). A fallback counts only if every
 * rule has one: the latest and highest of them.
 */
export function termsOf(
  rules: readonly Rule[],
  organisation: SelfAnswer,
  figures: readonly CrossedFigure[],
): Terms | undefined {
  const named = rules.flatMap(rule => (rule.require.kind === 'approver' ? [{ rule, role: rule.require.role }] : []))
  const first = named[0]
  if (!first) return undefined
  const role = named.reduce((top, { role: r }) => (roleRank(r) > roleRank(top) ? r : top), first.role)
  const self = [organisation, ...named.map(({ rule }) => rule.self ?? organisation)].reduce((a, b) =>
    STRICTNESS.indexOf(a) >= STRICTNESS.indexOf(b) ? a : b,
  )
  const fallbacks = named.map(({ rule }) => rule.fallback)
  const fallback = fallbacks.every(f => f !== undefined)
    ? {
        role: fallbacks.reduce((top, f) => (roleRank(f.role) > roleRank(top) ? f.role : top), fallbacks[0]!.role),
        afterSeconds: Math.max(...fallbacks.map(f => f.afterSeconds)),
      }
    : undefined
  return {
    role,
    approvals: Math.max(...named.map(({ rule }) => rule.approvals ?? 1)),
    self,
    ...(fallback ? { fallback } : {}),
    ceilings: named.flatMap(({ rule }) => stepCeilings(rule, figures)),
  }
}

/** An answer to a rule with `step: 20` holds until the figure has grown by that much over what it was when it crossed. */
function stepCeilings(rule: Rule, figures: readonly CrossedFigure[]): Ceiling[] {
  const step = rule.step
  if (step === undefined) return []
  return rule.when.flatMap(condition => {
    if (condition.figure !== 'session_cost_usd' && condition.figure !== 'budget_used_pct') return []
    const crossed = figures.find(f => f.name === condition.figure && f.qualifier === condition.qualifier)
    const now = crossed === undefined ? undefined : parseMicros(crossed.value)
    if (now === undefined) return []
    const ceiling: Ceiling = { figure: condition.figure, op: '<', value: formatMicros(now + step) }
    return [condition.qualifier === undefined ? ceiling : { ...ceiling, qualifier: condition.qualifier }]
  })
}
