import { Environment } from '@marcbachmann/cel-js'
import type { EvaluationInput } from '#core/boundary/compile.ts'
import { compileRules, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { costReading, nameReading, percentReading } from '#core/figure.ts'
import { type Case, interleave, nanosPerCall, type Row } from '../bench.ts'

/** Six rules of six kinds, all enforced, beside the same rules as compiled CEL expressions. */
const RULES = `boundaries:
  - { name: session-spend, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }
  - { name: big-subagents, action: subagent_model, when: { model_tier: "> sonnet" }, require: "approver:admin", stage: enforce }
  - { name: plan-floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: deny, stage: enforce }
  - { name: budget-floor, action: spend, when: { budget_used_pct: ">= 90", budget: monthly }, require: ask, stage: enforce }
  - { name: no-opus-routes, action: model_route, when: { model_tier: ">= opus" }, require: ask, stage: enforce }
  - { name: team-upload, action: share, when: { destination: "== team" }, require: ask, stage: enforce }
`
const CEL = [
  'action == "continue" && cost >= 20.0',
  'action == "subagent_model" && tier > 2',
  'action == "continue" && week < 5.0',
  'action == "spend" && budget >= 90.0',
  'action == "model_route" && tier >= 3',
  'action == "share" && destination == "team"',
]

const CALLS = 20_000

export const row: Row = {
  name: 'decide',
  async run() {
    const parsed = parseBoundaries(RULES, { scope: 'organisation' })
    if (parsed.errors.length > 0) throw new Error(parsed.errors[0]!.message)
    const rules = compileRules(mergeRules({ organisation: parsed.rules }))
    const environment = new Environment()
    for (const name of ['cost', 'week', 'budget']) environment.registerVariable(name, 'double')
    environment.registerVariable('tier', 'int')
    for (const name of ['action', 'destination']) environment.registerVariable(name, 'string')
    const expressions = CEL.map(text => environment.parse(text))
    const cases: Case[] = []
    for (const [name, dollars, week] of [
      ['nothing crossed', 3.2, 61],
      ['one rule crossed', 20.14, 61],
      ['two rules crossed', 120, 3],
    ] as const) {
      const now = Date.now()
      const figures = [
        costReading(dollars * 1_000_000, now),
        percentReading('plan_left_pct', week, { qualifier: 'week', observedAt: now, source: 'daemon' }),
        percentReading('plan_left_pct', 80, { qualifier: '5h', observedAt: now, source: 'daemon' }),
        nameReading('agent_id', 'claude-code:billing', now),
      ].flatMap(reading => reading ?? [])
      const input: EvaluationInput = { action: 'continue', figures, now }
      const values = { action: 'continue', cost: dollars, week, budget: 10, tier: 2n, destination: '' }
      const holds = expressions.map(expression => expression(values) === true)
      const decided = new Set(rules.decide(input).enforced.map(match => match.rule.name))
      if (parsed.rules.some((rule, i) => decided.has(rule.name) !== holds[i]))
        throw new Error('the two do not decide alike')
      const took = await interleave(
        {
          ours: () => nanosPerCall(() => rules.decide(input), CALLS),
          cel: () =>
            nanosPerCall(() => {
              let any = false
              for (let i = 0; i < expressions.length; i++) if (expressions[i]!(values) === true) any = true
              return any
            }, CALLS),
        },
        9,
      )
      const ratio = took.ours / took.cel
      cases.push({
        row: 'decide',
        case: name,
        value: took.ours,
        unit: 'ns',
        against: 'compiled CEL (@marcbachmann/cel-js)',
        againstValue: took.cel,
        ratio,
        must: 'no slower than compiled CEL',
        ok: ratio <= 1,
      })
    }
    return cases
  },
}
