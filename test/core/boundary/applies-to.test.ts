import { describe, expect, it } from 'vitest'
import type { Attribution } from '#core/boundary/compile.ts'
import { evaluate, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import type { Action } from '#core/boundary/shape.ts'
import { costReading, percentReading } from '#core/figure.ts'

const CONDITION: Partial<Record<Action, string>> = {
  spend: '{ budget_used_pct: ">= 90" }',
  continue: '{ session_cost_usd: ">= 1" }',
}

/** Whether a rule with this `for:` holds a call that crosses its threshold. */
function holds(whom: string, attribution: Attribution | undefined, action: Action = 'spend', onUnknown = ''): boolean {
  const text = `boundaries:\n  - { name: a, action: ${action}, when: ${CONDITION[action]}, require: deny, stage: enforce, for: ${whom}${onUnknown} }\n`
  const { rules, errors } = parseBoundaries(text, { scope: 'organisation' })
  expect(errors).toEqual([])
  const rest = { observedAt: 0, source: 'fleet' as const }
  const figures = [costReading(2_000_000, 0), percentReading('budget_used_pct', '95', { qualifier: 'org:m', ...rest })!]
  const call = { action, figures, now: 0, ...(attribution === undefined ? {} : { attribution }) }
  return evaluate(mergeRules({ organisation: rules }), call).outcome.kind === 'deny'
}

describe('whom a boundary is for', () => {
  it.each<[string, Attribution | undefined, boolean]>([
    ['{ tenants: [acme] }', { tenant: 'acme' }, true],
    ['{ tenants: [acme] }', { tenant: 'globex' }, false],
    ['{ tenants: [acme, globex] }', { tenant: 'globex' }, true],
    ['{ tenants: [acme] }', { tenant: 'acme-2' }, false],
    ['{ tenants: ["ac*"] }', { tenant: 'acme-2' }, true],
    ['{ projects: [billing-api] }', { project: 'billing-api' }, true],
    ['{ projects: [billing-api] }', { project: 'web' }, false],
    ['{ tenants: [acme], projects: [web] }', { tenant: 'acme', project: 'web' }, true],
    ['{ tenants: [acme], projects: [web] }', { tenant: 'acme', project: 'api' }, false],
    ['{ tenants: [acme], projects: [web] }', { tenant: 'globex', project: 'web' }, false],
    // what is not known may be anybody's
    ['{ tenants: [acme] }', {}, true],
    ['{ tenants: [acme] }', undefined, true],
    ['{ tenants: [acme] }', { project: 'web' }, true],
    ['{ tenants: [acme], projects: [web] }', { project: 'api' }, false],
    ['{ tenants: [acme], projects: [web] }', { project: 'web' }, true],
  ])('for: %s and a call of %j: %s', (whom, attribution, expected) => {
    expect(holds(whom, attribution)).toBe(expected)
    expect(holds(whom, attribution, 'continue')).toBe(expected)
  })

  it('keeps a rule from holding a call of others even where it holds what is unread', () => {
    expect(holds('{ tenants: [acme] }', { tenant: 'globex' }, 'spend', ', on_unknown: hold')).toBe(false)
    expect(holds('{ tenants: [acme] }', {}, 'spend', ', on_unknown: hold')).toBe(true)
  })
})
