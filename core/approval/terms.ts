import { type Reached, stepCeilings } from '#core/boundary/ceiling.ts'
import { readingFromWire } from '#core/boundary/crossed.ts'
import type { Rule, SelfAnswer } from '#core/boundary/shape.ts'
import type { FigureReading } from '#core/figure.ts'
import { roleRank } from '#core/role.ts'
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
    ceilings: stepCeilings(named.map(({ rule }) => ({ rule, crossed: readAgain(rule, figures) }))),
  }
}

/** What a rule's conditions read, from what the request says of it; a condition without a qualifier read the highest. */
function readAgain({ when }: Rule, figures: readonly CrossedFigure[]): Reached['crossed'] {
  return when.map(({ figure, qualifier }) => {
    const readings = figures.flatMap(crossed =>
      crossed.name === figure && (qualifier === undefined || crossed.qualifier === qualifier)
        ? (readingFromWire(crossed, 0) ?? [])
        : [],
    )
    const reading = readings.reduce<FigureReading | undefined>((a, b) => (a && a.value >= b.value ? a : b), undefined)
    return { figure, ...(qualifier === undefined ? {} : { qualifier }), ...(reading ? { reading } : {}) }
  })
}
