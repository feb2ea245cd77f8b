import { DESTINATIONS, FIGURES } from '#core/figure.ts'
import { globMatches } from '#core/glob.ts'
import { TIERS, tierRank } from '#core/model-tier.ts'
import { formatMicros, MICROS_PER_UNIT } from '#core/money.ts'
import type { BoundaryCase, CaseFigure, Comparator, Condition, Outcome, Rule } from './shape.ts'

/**
 * Cases at the edge of each of a rule's conditions, in both directions: one where everything holds (the rule must
 * stop), and for each condition the nearest value where it alone does not (the call must pass). A condition that
 * always holds has no passing side and gets none; one that never holds leaves nothing to stop.
 */
export function proposeCases(rule: Rule): BoundaryCase[] {
  const base: CaseFigure[] = []
  for (const condition of rule.when) {
    const [value] = edgeValues(condition, true)
    if (value === undefined) return []
    base.push(caseFigure(condition, value))
  }
  const cases: BoundaryCase[] = [caseOf(rule, 'stops at', base, rule.require)]
  rule.when.forEach((condition, at) => {
    for (const value of edgeValues(condition, false)) {
      const figures = base.map((figure, i) => (i === at ? caseFigure(condition, value) : figure))
      cases.push(caseOf(rule, 'passes at', figures, { kind: 'pass' }, at))
    }
  })
  if (rule.onUnknown === 'hold') {
    cases.push({ ...caseOf(rule, 'stops', [], rule.require), name: `${rule.name} stops when nothing can be read` })
  }
  return [...cases, ...elsewhere(rule, base)]
}

/** For a rule with `for:`, the same call where the rule does not apply. */
function elsewhere(rule: Rule, base: readonly CaseFigure[]): BoundaryCase[] {
  const kinds = [
    ['tenant', rule.for?.tenants],
    ['project', rule.for?.projects],
    ['machine', rule.for?.machines],
  ] as const
  return kinds.flatMap(([kind, patterns]) => {
    const other = `another-${kind}`
    if (patterns === undefined || patterns.some(pattern => globMatches(pattern, other))) return []
    const name = `${rule.name} passes for ${other}`
    return [{ ...caseOf(rule, '', base, { kind: 'pass' }), name, [kind]: other }]
  })
}

function caseOf(rule: Rule, does: string, figures: readonly CaseFigure[], expect: Outcome, at?: number): BoundaryCase {
  const shown = at === undefined ? figures : figures.slice(at, at + 1)
  const words = shown.map(({ figure, value }) => `${figure} ${typeof value === 'number' ? formatMicros(value) : value}`)
  return { name: `${rule.name} ${does} ${words.join(', ')}`, action: rule.action, figures, expect, rule: rule.name }
}

function caseFigure({ figure, qualifier }: Condition, value: number | string): CaseFigure {
  return { figure, value, ...(qualifier === undefined ? {} : { qualifier }) }
}

/** The values nearest the threshold where the condition holds, or where it does not; none where there are none. */
function edgeValues(condition: Condition, holding: boolean): (number | string)[] {
  const { figure, op, value } = condition
  const { unit, max = 0 } = FIGURES[figure]
  if (typeof value === 'number') return numberEdges(op, value, max * MICROS_PER_UNIT, holding)
  if (unit === 'tier') return tierEdges(op, tierRank(value), holding)
  if (figure === 'destination') return DESTINATIONS.filter(d => (d === value) === holding).slice(0, 1)
  if (holding) return [value.replaceAll('*', 'x')]
  return ['another-client:another-project', 'z'].filter(text => !globMatches(value, text)).slice(0, 1)
}

function numberEdges(op: Comparator, threshold: number, max: number, holding: boolean): number[] {
  // A cent or a hundredth of a point where the threshold has no finer digits; else the smallest step there is.
  const step = threshold % 10_000 === 0 ? 10_000 : 1
  const inRange = (value: number) => value >= 0 && value <= max
  const below = [threshold - step].filter(inRange)
  const above = [threshold + step].filter(inRange)
  switch (op) {
    case '>=':
      return holding ? [threshold] : below
    case '>':
      return holding ? above : [threshold]
    case '<=':
      return holding ? [threshold] : above
    case '<':
      return holding ? below : [threshold]
    case '==':
      return holding ? [threshold] : [...below, ...above]
  }
}

function tierEdges(op: Comparator, rank: number, holding: boolean): string[] {
  const at = TIERS.slice(rank, rank + 1)
  const below = rank === 0 ? [] : TIERS.slice(rank - 1, rank)
  const above = TIERS.slice(rank + 1, rank + 2)
  switch (op) {
    case '>=':
      return holding ? at : below
    case '>':
      return holding ? above : at
    case '<=':
      return holding ? at : above
    case '<':
      return holding ? below : at
    case '==':
      return holding ? at : [...below, ...above]
  }
}
