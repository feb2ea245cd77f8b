import { Environment } from '@marcbachmann/cel-js'
import { compileRules, type EvaluationInput, mergeRules } from '#core/boundary/evaluate.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { costReading, nameReading, percentReading } from '#core/figure.ts'
import { type Case, interleave, nanosPerCall, type Row } from '../bench.ts'

/** The seed page's six rules, all enforced, beside the same conditions as compiled CEL expressions. */
const RULES = `boundaries:
  - { name: session-spend, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }
  - { name: plan-floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: deny, stage: enforce }
  - { name: plan-five, action: continue, when: { plan_left_pct: "< 10", window: 5h }, require: ask, stage: enforce }
  - { name: long-and-low, action: continue, when: { session_cost_usd: "> 10", plan_left_pct: "<= 20", window: week }, require: ask, stage: enforce }
  - { name: one-agent, action: continue, when: { agent_id: "== claude-code:other", session_cost_usd: ">= 5" }, require: ask, stage: enforce }
  - { name: hard-stop, action: continue, when: { session_cost_usd: ">= 100" }, require: deny, stage: enforce }
`
const CEL = [
  'cost >= 20.0',
  'week < 5.0',
  'five < 10.0',
  'cost > 10.0 && week <= 20.0',
  'agent == "claude-code:other" && cost >= 5.0',
  'cost >= 100.0',
]

const CALLS = 20_000

export const row: Row = {
  name: 'decide',
  async run() {
    const parsed = parseBoundaries(RULES, { scope: 'organisation' })
    if (parsed.errors.length > 0) throw new Error(parsed.errors[0]!.message)
    const rules = compileRules(mergeRules({ organisation: parsed.rules }))
    const environment = new Environment()
    for (const name of ['cost', 'week', 'five']) environment.registerVariable(name, 'double')
    environment.registerVariable('agent', 'string')
    const expressions = CEL.map(text => environment.parse(text))
    const cases: Case[] = []
    for (const [name, dollars, week] of [
      ['nothing crossed', 3.2, 61],
      ['one rule crossed', 20.14, 61],
      ['three rules crossed', 120, 61],
    ] as const) {
      const now = Date.now()
      const figures = [
        costReading(dollars * 1_000_000, now),
        percentReading('plan_left_pct', week, { qualifier: 'week', observedAt: now, source: 'daemon' }),
        percentReading('plan_left_pct', 80, { qualifier: '5h', observedAt: now, source: 'daemon' }),
        nameReading('agent_id', 'claude-code:billing', now),
      ].flatMap(reading => reading ?? [])
      const input: EvaluationInput = { action: 'continue', figures, now }
      const values = { cost: dollars, week, five: 80, agent: 'claude-code:billing' }
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
