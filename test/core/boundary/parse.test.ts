import { describe, expect, it } from 'vitest'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { SEED_RULES } from './seed.ts'

describe('parseBoundaries', () => {
  it('reads the six rules of the first page without a word of complaint', () => {
    const { rules, errors, warnings } = parseBoundaries(SEED_RULES, { scope: 'local' })
    expect(errors).toEqual([])
    expect(warnings).toEqual([])
    expect(rules.map(rule => [rule.name, rule.stage])).toEqual([
      ['session-spend', 'shadow'],
      ['big-subagents', 'shadow'],
      ['plan-floor', 'shadow'],
      ['budget-floor', 'shadow'],
      ['no-opus-routes', 'shadow'],
      ['team-upload', 'shadow'],
    ])
    expect(rules[0]?.when).toEqual([{ figure: 'session_cost_usd', op: '>=', value: 20_000_000 }])
    expect(rules[2]?.when).toEqual([{ figure: 'plan_left_pct', op: '<', value: 5_000_000, qualifier: 'week' }])
  })
})
