import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { percentReading } from '#core/figure.ts'
import { adviceOf, adviceText, isAdvisable } from '#core/glance.ts'
import { anyRule } from './boundary/any-rule.ts'

const rulesOf = (...lines: string[]) => {
  const { rules, errors } = parseBoundaries(`boundaries:\n${lines.map(line => `  - ${line}\n`).join('')}`, {
    scope: 'local',
  })
  expect(errors).toEqual([])
  return mergeRules({ local: rules })
}
const left = (pct: number) =>
  percentReading('plan_left_pct', pct, { qualifier: 'week', observedAt: 0, source: 'daemon' })!
const used = (pct: number) =>
  percentReading('budget_used_pct', pct, { qualifier: 'm', observedAt: 0, source: 'daemon' })!
const PLAN =
  '{ name: floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: deny, stage: enforce }'
const BUDGET =
  '{ name: money, action: spend, when: { budget_used_pct: ">= 90", budget: m }, require: ask, stage: enforce }'

test('an enforced rule on a plan or a budget that holds says what to do, and nothing once it holds no more', () => {
  const rules = rulesOf(PLAN, BUDGET)
  const advice = adviceOf(rules, { figures: [left(4), used(95)], now: 0 })
  expect(advice).toMatchObject([
    { rule: 'floor', do: 'stop_and_tell', require: 'deny' },
    { rule: 'money', do: 'stop_and_ask', require: 'ask' },
  ])
  expect(advice.map(adviceText)).toEqual([
    'floor: plan left (week) is 4% (1 points below), the rule holds at less than 5%. Stop and tell the user; nobody can approve it, it passes once the figure or the rule has changed.',
    'money: budget used (m) is 95% (5 points over), the rule holds at 90% or more. Stop and ask the user; only a person can let it go on.',
  ])
  expect(adviceOf(rules, { figures: [left(6), used(80)], now: 0 })).toEqual([])
  expect(adviceOf(rules, { figures: [left(4)], now: 3600_000 })).toEqual([])
})

test.each([
  [
    'a session’s cost',
    '{ name: r, action: continue, when: { session_cost_usd: ">= 0" }, require: deny, stage: enforce }',
  ],
  [
    'a workflow',
    '{ name: r, action: continue, when: { plan_left_pct: "< 5", workflow_id: "== *" }, require: deny, stage: enforce }',
  ],
  [
    'an agent',
    '{ name: r, action: spend, when: { budget_used_pct: ">= 1", agent_id: "== *" }, require: ask, stage: enforce }',
  ],
  ['shadow', PLAN.replace('enforce', 'shadow')],
  ['a subagent', PLAN.replace('continue', 'subagent_model')],
  ['somebody’s work', PLAN.replace('stage', 'for: { projects: [web] }, stage')],
  ['allow', PLAN.replace('deny', 'allow')],
])('a rule about %s is left out and not guessed', (_, line) => {
  expect(adviceOf(rulesOf(line), { figures: [left(0), used(100)], now: 0 })).toEqual([])
})

test('nothing that reads another figure, or binds nothing, is ever advised', () => {
  fc.assert(
    fc.property(anyRule('local'), rule => {
      if (!isAdvisable({ key: rule.name, scope: 'local', rule })) return
      expect(rule.stage).toBe('enforce')
      expect(['continue', 'spend']).toContain(rule.action)
      for (const { figure } of rule.when) expect(['plan_left_pct', 'budget_used_pct']).toContain(figure)
    }),
    { numRuns: 1000 },
  )
})
