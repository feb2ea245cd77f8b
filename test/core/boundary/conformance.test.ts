import { describe, expect, it } from 'vitest'
import { effectOf, evaluate } from '#core/boundary/evaluate.ts'
import { ACTIONS, COMPARATORS, requirementText } from '#core/boundary/shape.ts'
import { FIGURE_NAMES } from '#core/figure.ts'
import { conformanceFigures, conformanceRows, conformanceRules } from './conformance.ts'

const now = Date.parse('2026-11-30T12:00:00Z')

describe('the conformance table', () => {
  it.each(conformanceRows.map(row => [row.name, row] as const))('%s', (_, row) => {
    const { action, attribution, canAsk, expect: expected } = row
    const evaluation = evaluate(conformanceRules(row), {
      action,
      figures: conformanceFigures(row, now),
      attribution,
      now,
      lifted: new Set(row.lifted),
    })
    expect({
      outcome: requirementText(evaluation.outcome),
      decidedBy: evaluation.decidedBy.map(match => match.key),
      effect: effectOf(evaluation, { action, canAsk }),
      shadow: evaluation.shadow.map(match => match.key),
      unread: evaluation.unread.map(unread => unread.key),
    }).toEqual({ shadow: [], unread: [], ...expected })
  })

  it('has a row for every action, figure, comparator, requirement and effect', () => {
    const text = JSON.stringify(conformanceRows)
    for (const action of ACTIONS)
      expect(conformanceRows.some(row => row.action === action && row.expect.outcome !== 'pass')).toBe(true)
    for (const figure of FIGURE_NAMES) expect(text).toContain(`${figure}: `)
    for (const op of COMPARATORS) expect(text).toContain(`\\"${op} `)
    const outcomes = new Set(conformanceRows.map(row => row.expect.outcome.split(':')[0]))
    expect(outcomes).toEqual(new Set(['pass', 'allow', 'ask', 'approver', 'deny']))
    expect(new Set(conformanceRows.map(row => row.expect.effect))).toEqual(
      new Set(['pass', 'ask', 'refuse', 'request', 'hold']),
    )
    expect(conformanceRows.length).toBeGreaterThanOrEqual(60)
    expect(new Set(conformanceRows.map(row => row.name)).size).toBe(conformanceRows.length)
  })
})
