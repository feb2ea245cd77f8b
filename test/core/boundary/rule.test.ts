import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluate, mergeRules } from '#core/boundary/evaluate.ts'
import { readRules } from '#core/boundary/read-rules.ts'
import { ruleDigestInput, ruleFromJson, ruleToJson } from '#core/boundary/rule.ts'
import type { Rule } from '#core/boundary/shape.ts'
import { canonicalJson } from '#core/json.ts'
import { anyRule } from './any-rule.ts'

const rule: Rule = {
  name: 'session-spend',
  action: 'continue',
  when: [
    { figure: 'session_cost_usd', op: '>=', value: 20_500_000 },
    { figure: 'plan_left_pct', op: '<', value: 5_000_000, qualifier: 'week' },
  ],
  require: { kind: 'approver', role: 'lead' },
  stage: 'enforce',
  onUnknown: 'hold',
  note: 'Ask Ana',
  approvals: 2,
  expires: 3600,
  step: 20_000_000,
  for: { tenants: ['acme'] },
  signed: true,
  self: 'never',
  fallback: { role: 'member', afterSeconds: 1800, loosens: true },
}

/** What may not stand in a signed set: nulls, fractions, anything that is not JSON. */
function oddValues(value: unknown): unknown[] {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)) return []
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(oddValues)
  return [value]
}

describe('ruleToJson', () => {
  it('gives the canonical object that stands in a signed set', () => {
    expect(ruleToJson(rule)).toEqual({
      name: 'session-spend',
      action: 'continue',
      when: { session_cost_usd: '>= 20.5', plan_left_pct: '< 5', window: 'week' },
      require: 'approver:lead',
      stage: 'enforce',
      note: 'Ask Ana',
      approvals: 2,
      expires: '1h',
      step: '20',
      for: { tenants: ['acme'] },
      on_unknown: 'hold',
      signed: true,
      self: 'never',
      fallback: { role: 'member', after: '30m', loosens: true },
    })
  })

  it('and ruleFromJson are inverses, for every rule', () => {
    fc.assert(
      fc.property(anyRule('organisation'), original => {
        const json = ruleToJson(original)
        expect(ruleFromJson(JSON.parse(canonicalJson(json)))).toEqual({ ok: true, rule: original })
        expect(oddValues(json)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

describe('ruleFromJson', () => {
  it.each([
    null,
    1,
    'x',
    [],
    {},
    { name: 'a' },
    { ...ruleToJson(rule), more: 1 },
    { ...ruleToJson(rule), when: { session_cost_usd: { gte: 20 } } },
    undefined,
    () => 1,
  ])('refuses %j', value => {
    expect(ruleFromJson(value).ok).toBe(false)
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        ruleFromJson(value)
        readRules([value])
      }),
      { numRuns: 500 },
    )
  })
})

describe('ruleDigestInput', () => {
  it('changes with each part that decides what an answer lets through, and with nothing else', () => {
    const base = canonicalJson(ruleDigestInput(rule))
    const other = (change: Partial<Rule>) => canonicalJson(ruleDigestInput({ ...rule, ...change }))
    const decisive: Partial<Rule>[] = [
      { name: 'b' },
      { action: 'spend' },
      { when: rule.when.slice(0, 1) },
      { require: { kind: 'approver', role: 'admin' } },
      { approvals: 3 },
      { approvals: undefined },
      { signed: undefined },
      { self: 'key' },
      { self: undefined },
      { fallback: undefined },
      { onUnknown: 'pass' },
    ]
    for (const change of decisive) expect(other(change), JSON.stringify(change)).not.toBe(base)
    for (const change of [
      { stage: 'shadow' },
      { note: undefined },
      { expires: 600 },
      { step: undefined },
      { for: undefined },
    ] as Partial<Rule>[]) {
      expect(other(change), JSON.stringify(change)).toBe(base)
    }
  })

  it('is a canonical object without nulls or fractions', () => {
    fc.assert(
      fc.property(anyRule('organisation'), any => {
        expect(canonicalJson(JSON.parse(canonicalJson(ruleDigestInput(any))))).toBe(canonicalJson(ruleDigestInput(any)))
      }),
    )
  })
})

describe('readRules', () => {
  const now = 0
  const newer = { ...ruleToJson(rule), name: 'newer', when: { tokens_per_hour: '>= 1' } }
  const decide = (value: unknown, action = 'continue' as Rule['action']) =>
    evaluate(mergeRules({ organisation: readRules([value]) }), { action, figures: [], now })

  it('keeps what it can read and marks the rest, without failing the set', () => {
    const rules = readRules([ruleToJson(rule), newer, 7, ruleToJson(rule)])
    expect(rules[0]).toEqual(rule)
    expect(rules.slice(1)).toMatchObject([
      {
        unsupported: true,
        name: 'newer',
        action: 'continue',
        require: { kind: 'approver', role: 'lead' },
        stage: 'enforce',
        onUnknown: 'hold',
      },
      { unsupported: true, name: 'rule-3', onUnknown: 'pass', stage: 'shadow' },
      { unsupported: true, name: 'session-spend', reason: 'the name stands twice' },
    ])
    expect((rules[1] as { reason: string }).reason).toContain('tokens_per_hour')
  })

  it('holds an unreadable rule that holds when unknown, on its own action and with its own requirement', () => {
    expect(decide(newer)).toMatchObject({
      outcome: { kind: 'approver', role: 'lead' },
      answeredBy: 'organisation',
      decidedBy: [{ key: 'org:newer' }],
    })
    expect(decide(newer, 'share').outcome).toEqual({ kind: 'pass' })
    expect(decide({ ...newer, require: 'council' }).outcome).toEqual({ kind: 'deny' })
    expect(decide({ ...newer, action: undefined }, 'share').outcome).toMatchObject({ kind: 'approver' })
    expect(decide({ ...newer, stage: 'canary' }).outcome).toMatchObject({ kind: 'approver' })
  })

  it('passes it otherwise, and reports it', () => {
    const passing = decide({ ...newer, on_unknown: 'pass' })
    expect(passing.outcome).toEqual({ kind: 'pass' })
    expect(passing.unread).toEqual([{ key: 'org:newer', scope: 'organisation', stage: 'enforce', why: 'unsupported' }])
    const shadow = decide({ ...newer, stage: 'shadow' })
    expect(shadow.outcome).toEqual({ kind: 'pass' })
    expect(shadow.shadow.map(match => match.key)).toEqual(['org:newer'])
  })
})
