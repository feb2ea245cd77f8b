import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindable, caseToJson, runCases, whyUnproven } from '#core/boundary/cases.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { proposeCases } from '#core/boundary/propose-cases.ts'
import { type BoundaryCase, type Rule, requirementText } from '#core/boundary/shape.ts'
import { globMatches } from '#core/glob.ts'
import { tierRank } from '#core/model-tier.ts'
import { anyRule } from './any-rule.ts'
import { SEED_RULES } from './seed.ts'

function one(line: string): Rule {
  const { rules, errors } = parseBoundaries(`boundaries:\n  - ${line}\n`, { scope: 'organisation' })
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  return rules[0]!
}

const spend = one('{ name: s, action: continue, when: { session_cost_usd: ">= 20" }, require: approver:lead }')
const stop: BoundaryCase = {
  action: 'continue',
  figures: [{ figure: 'session_cost_usd', value: 20_000_000 }],
  expect: { kind: 'approver', role: 'lead' },
  rule: 's',
}
const pass: BoundaryCase = {
  action: 'continue',
  figures: [{ figure: 'session_cost_usd', value: 19_990_000 }],
  expect: { kind: 'pass' },
  rule: 's',
}

describe('proposeCases', () => {
  it('proposes the two sides of every threshold of the first page', () => {
    const { rules } = parseBoundaries(SEED_RULES, { scope: 'local' })
    const lines = rules.flatMap(rule => proposeCases(rule).map(c => [c.name, requirementText(c.expect)]))
    expect(lines).toEqual([
      ['session-spend stops at session_cost_usd 20', 'ask'],
      ['session-spend passes at session_cost_usd 19.99', 'pass'],
      ['big-subagents stops at model_tier opus', 'approver:admin'],
      ['big-subagents passes at model_tier sonnet', 'pass'],
      ['plan-floor stops at plan_left_pct 4.99', 'deny'],
      ['plan-floor passes at plan_left_pct 5', 'pass'],
      ['budget-floor stops at budget_used_pct 90', 'ask'],
      ['budget-floor passes at budget_used_pct 89.99', 'pass'],
      ['no-opus-routes stops at model_tier opus', 'ask'],
      ['no-opus-routes passes at model_tier sonnet', 'pass'],
      ['team-upload stops at destination team', 'ask'],
      ['team-upload passes at destination otel', 'pass'],
    ])
  })

  it('steps by the smallest unit where the threshold is finer than a cent', () => {
    const fine = one('{ name: f, action: continue, when: { session_cost_usd: "> 0.000001" }, require: ask }')
    expect(proposeCases(fine).map(c => c.figures[0]?.value)).toEqual([2, 1])
  })

  it('gives each condition its own passing side, and for: a place where the rule does not apply', () => {
    const rule = one(
      '{ name: m, action: continue, when: { session_cost_usd: "== 5", agent_id: "== a:*" }, require: deny, on_unknown: hold, for: { projects: [web] } }',
    )
    expect(proposeCases(rule).map(c => [c.name, c.project])).toEqual([
      ['m stops at session_cost_usd 5, agent_id a:x', undefined],
      ['m passes at session_cost_usd 4.99', undefined],
      ['m passes at session_cost_usd 5.01', undefined],
      ['m passes at agent_id another-client:another-project', undefined],
      ['m stops when nothing can be read', undefined],
      ['m passes for another-project', 'another-project'],
    ])
  })

  it('proposes only cases that hold, and enough to bind whenever the rule has two sides', () => {
    fc.assert(
      fc.property(anyRule('organisation'), rule => {
        const cases = proposeCases(rule)
        const results = runCases([rule], cases)
        expect(results.filter(result => !result.ok)).toEqual([])
        const sided = rule.when.some(c => twoSided(c.op, c.value, c.figure))
        if (cases.length > 0 && sided) expect(bindable(rule, cases)).toMatchObject({ ok: true, lacking: [] })
      }),
      { numRuns: 1000 },
    )
  })

  it('survives being written and read again', () => {
    fc.assert(
      fc.property(anyRule('organisation'), rule => {
        const cases = proposeCases(rule)
        const text = JSON.stringify({
          boundaries: [{ name: rule.name, action: 'share', when: { destination: '== team' }, require: 'ask' }],
          tests: cases.map(caseToJson),
        })
        const { tests, errors } = parseBoundaries(text, { scope: 'organisation' })
        expect(errors).toEqual([])
        expect(tests).toEqual(cases)
      }),
      { numRuns: 300 },
    )
  })
})

/** Whether some value of the figure fails the condition. */
function twoSided(op: string, value: number | string, figure: string): boolean {
  const max = { session_cost_usd: 1e15, plan_left_pct: 1e8, budget_used_pct: 1e9 }[figure] ?? 0
  if (typeof value === 'number') return !(op === '>=' && value === 0) && !(op === '<=' && value === max)
  if (figure === 'model_tier') return !(op === '>=' && tierRank(value) === 0) && !(op === '<=' && tierRank(value) === 2)
  return figure === 'destination' || !globMatches(value, 'another-client:another-project') || !globMatches(value, 'z')
}

describe('runCases', () => {
  it('judges a case that names a rule by that rule alone, and others by all, as if enforced', () => {
    const deny = one('{ name: d, action: continue, when: { session_cost_usd: ">= 10" }, require: deny }')
    expect(spend.stage).toBe('shadow')
    expect(runCases([spend, deny], [stop]).map(r => [r.ok, r.decidedBy])).toEqual([[true, ['s']]])
    const all = { ...stop, rule: undefined }
    expect(runCases([spend, deny], [all]).map(r => [r.ok, requirementText(r.outcome), r.decidedBy])).toEqual([
      [false, 'deny', ['d']],
    ])
  })

  it('reads a budget of the organisation by the name its document gives it', () => {
    const budget = one('{ name: b, action: spend, when: { budget_used_pct: ">= 90", budget: monthly }, require: ask }')
    const fullest = one('{ name: f, action: spend, when: { budget_used_pct: ">= 90" }, require: ask }')
    const at = (qualifier?: string): BoundaryCase => ({
      action: 'spend',
      figures: [{ figure: 'budget_used_pct', value: 95_000_000, qualifier }],
      expect: { kind: 'ask' },
    })
    expect(runCases([budget], [at('monthly'), at('daily')]).map(r => r.ok)).toEqual([true, false])
    expect(runCases([fullest], [at('monthly'), at()]).map(r => r.ok)).toEqual([true, true])
  })
})

describe('bindable', () => {
  it('wants a case in each direction that holds', () => {
    expect(bindable(spend, [stop, pass])).toMatchObject({ ok: true, lacking: [] })
    expect(bindable(spend, [])).toMatchObject({ ok: false, lacking: ['must_stop', 'must_pass'] })
    expect(bindable(spend, [stop])).toMatchObject({ ok: false, lacking: ['must_pass'] })
    expect(bindable(spend, [pass])).toMatchObject({ ok: false, lacking: ['must_stop'] })
  })

  it('does not count a case that fails, and does not bind while one does', () => {
    const wrong: BoundaryCase = { ...pass, figures: stop.figures }
    const result = bindable(spend, [stop, wrong])
    expect(result).toMatchObject({ ok: false, lacking: ['must_pass'] })
    expect(result.failing).toHaveLength(1)
    expect(bindable(spend, [stop, pass, wrong]).ok).toBe(false)
  })

  it('does not count a pass for want of a figure, of another action, or a stop by another rule', () => {
    expect(bindable(spend, [stop, { ...pass, figures: [] }]).lacking).toEqual(['must_pass'])
    expect(bindable(spend, [stop, { ...pass, action: 'share', figures: [] }]).lacking).toEqual(['must_pass'])
    const other = one('{ name: o, action: continue, when: { session_cost_usd: ">= 10" }, require: approver:owner }')
    const all: BoundaryCase = {
      ...stop,
      rule: undefined,
      figures: [{ figure: 'session_cost_usd', value: 12_000_000 }],
      expect: { kind: 'approver', role: 'owner' },
    }
    expect(bindable(spend, [all, pass], [spend, other]).lacking).toEqual(['must_stop'])
    expect(bindable(other, [all], [spend, other]).lacking).toEqual(['must_pass'])
  })
})

describe('why a rule may not bind', () => {
  const held = { name: undefined, text: 'session_cost_usd 20', expect: 'deny', got: 'deny', ok: true }

  it('names what is lacking, one direction or both', () => {
    expect(whyUnproven('r', { lacking: ['must_pass'], cases: [held] }).message).toMatch(
      /lacks a case that it must let pass$/,
    )
    expect(whyUnproven('r', { lacking: ['must_stop', 'must_pass'], cases: [] }).message).toMatch(
      /lacks a case that it must stop and a case that it must let pass$/,
    )
  })

  it('names the first case that failed before anything that is lacking', () => {
    const failed = { ...held, got: 'pass', ok: false }
    expect(whyUnproven('r', { lacking: ['must_stop'], cases: [held, failed, { ...failed, text: 'other' }] })).toEqual({
      message: 'r cannot be enforced: the case session_cost_usd 20 expects deny, the rules say pass',
      remedy: 'change the case or the rule',
    })
    expect(whyUnproven('r', { lacking: [], cases: [{ ...failed, name: 'named' }] }).message).toMatch(/the case named/)
  })
})
