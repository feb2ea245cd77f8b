import { describe, expect, test } from 'vitest'
import { analyse, keyOfProblem, ruleAtLine } from '#app/(console)/[org]/boundaries/analyse.ts'
import { splitComparison, whenOf, writtenRules } from '#app/(console)/[org]/boundaries/draft-rules.ts'
import { parseDraft } from '#app/(console)/[org]/boundaries/draft-store.ts'
import {
  removeCaseAt,
  removeRuleAndCases,
  renameRule,
  setCaseExpect,
} from '#app/(console)/[org]/boundaries/edit-cases.ts'
import { setAction, setRequire, setRuleStage } from '#app/(console)/[org]/boundaries/rule-edit.ts'
import {
  comparatorsFor,
  freeName,
  STARTERS,
  startingValue,
  valuesFor,
} from '#app/(console)/[org]/boundaries/rule-words.ts'
import { addCases, upsertRule } from '#core/boundary/edit.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { ACTIONS, COMPARATORS, conditionsFor } from '#core/boundary/shape.ts'
import { FIGURE_NAMES } from '#core/figure.ts'

const TEXT = `# ours
boundaries:
  - name: session-spend # the first
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: approver:lead
    approvals: 2
  - name: plan-floor
    action: continue
    when: { plan_left_pct: "< 5", window: week }
    require: deny
tests:
  # both edges
  - { name: at, rule: session-spend, action: continue, figures: { session_cost_usd: 20 }, expect: "approver:lead" }
  - { name: below, rule: session-spend, action: continue, figures: { session_cost_usd: 19.99 }, expect: pass }
  - { rule: plan-floor, action: continue, figures: { plan_left_pct: 4, window: week }, expect: deny }
`
const rulesOf = (text: string) => parseBoundaries(text, { scope: 'organisation' })
const text = (result: { ok: boolean; text?: string }) => {
  expect(result.ok).toBe(true)
  return result.text!
}

describe('a renamed rule', () => {
  test('takes its cases with it, and every comment stays', () => {
    const next = text(renameRule(TEXT, 'session-spend', 'long-session'))
    expect(next).toBe(
      TEXT.replace('- name: session-spend', '- name: long-session').replaceAll(
        'rule: session-spend',
        'rule: long-session',
      ),
    )
    expect(rulesOf(next).errors).toEqual([])
  })
  test('keeps a name that YAML would read as a number a name', () => {
    expect(rulesOf(text(renameRule(TEXT, 'plan-floor', '5'))).errors).toEqual([])
  })
})

test('a removed rule leaves no case behind that nobody could read', () => {
  const next = text(removeRuleAndCases(TEXT, 'session-spend'))
  expect(rulesOf(next).errors).toEqual([])
  expect(rulesOf(next).tests.map(item => item.rule)).toEqual(['plan-floor'])
  expect(rulesOf(text(removeRuleAndCases(next, 'plan-floor'))).tests).toEqual([])
})

test('one case can be removed, or made to expect what the rules say', () => {
  expect(rulesOf(removeCaseAt(TEXT, 1)).tests.map(item => item.name)).toEqual(['at', undefined])
  expect(setCaseExpect(TEXT, 0, 'deny')).toBe(TEXT.replace('expect: "approver:lead"', 'expect: deny'))
  expect(removeCaseAt(TEXT, 9)).toBe(TEXT)
})

describe('the form', () => {
  test('shows what is written, wrong as it may be', () => {
    const [rule] = writtenRules(
      'boundaries:\n  - { name: a, action: contnue, when: { model_teir: "~ 3" }, require: maybe, colour: red }\n',
    )!
    expect(rule).toMatchObject({
      name: 'a',
      editable: true,
      when: [{ figure: 'model_teir', op: '', value: '~ 3' }],
      others: ['colour'],
    })
    expect(rule!.fields).toEqual({ action: 'contnue', require: 'maybe' })
  })
  test('edits no second rule of a name, and none without one', () => {
    const rules = writtenRules(
      'boundaries:\n  - { name: a }\n  - { name: a }\n  - { action: continue }\n  - nonsense\n',
    )!
    expect(rules.map(rule => rule.editable)).toEqual([true, false, false, false])
  })
  test('steps back while the text is no YAML, and starts empty on an empty one', () => {
    expect(writtenRules('boundaries: [')).toBeUndefined()
    expect(writtenRules('boundaries: 3')).toBeUndefined()
    expect(writtenRules('')).toEqual([])
    expect(writtenRules('boundaries:\n')).toEqual([])
  })
  test('writes a condition back as it read it', () => {
    for (const rule of writtenRules(TEXT)!) {
      expect(text(setAction(TEXT, rule, rule.fields.action!))).toBe(TEXT)
      expect(whenOf(rule.when, rule.qualifiers)).toEqual(
        rule.name === 'plan-floor' ? { plan_left_pct: '< 5', window: 'week' } : { session_cost_usd: '>= 20' },
      )
    }
    expect(splitComparison('>=20')).toEqual({ op: '>=', value: '20' })
    expect(splitComparison(' < 5 ')).toEqual({ op: '<', value: '5' })
  })
  test('takes with a requirement the keys that could not stand without it', () => {
    const next = text(setRequire(TEXT, 'session-spend', 'deny'))
    expect(next).not.toContain('approvals')
    expect(rulesOf(next).errors).toEqual([])
  })
  test.each(ACTIONS)('leaves a rule that %s can be judged by', action => {
    const cost = { ...STARTERS[0]!.rule, step: 5_000_000 }
    const start = text(upsertRule('', cost))
    const [rule] = writtenRules(start)!
    const parsed = parseBoundaries(text(setAction(start, rule!, action)), { scope: 'organisation' })
    expect(parsed.errors).toEqual([])
    expect(parsed.rules[0]!.when.every(({ figure }) => conditionsFor(action).includes(figure))).toBe(true)
  })
  test('writes no stage for shadow, which is the default', () => {
    const enforced = text(setRuleStage(TEXT, 'plan-floor', 'enforce'))
    expect(enforced).toContain('stage: enforce')
    expect(text(setRuleStage(enforced, 'plan-floor', 'shadow'))).toBe(TEXT)
  })
  test('offers only comparisons and values that the parser takes', () => {
    for (const figure of FIGURE_NAMES) {
      const { op, value } = startingValue(figure)
      expect(comparatorsFor(figure)).toContain(op)
      for (const sign of comparatorsFor(figure)) expect(COMPARATORS).toContain(sign)
      const action = ACTIONS.find(each => conditionsFor(each).includes(figure))
      for (const choice of valuesFor(figure) ?? [value]) {
        const doc = `boundaries:\n  - { name: a, action: ${action}, when: { ${figure}: "${op} ${choice}" }, require: deny }\n`
        expect(parseBoundaries(doc, { scope: 'organisation' }).errors).toEqual([])
      }
    }
  })
  test('finds a free name', () => {
    expect(freeName('a', [])).toBe('a')
    expect(freeName('a', ['a', 'a-2'])).toBe('a-3')
  })
})

describe('the analysis', () => {
  test('proposes what is missing, and nothing more once it is accepted', () => {
    for (const { rule } of STARTERS) {
      const start = text(upsertRule('', rule))
      const view = analyse(start).rules.get(rule.name)!
      expect(view.proven).toBe(false)
      expect(view.proposedShown.every(item => item.ok)).toBe(true)
      const after = analyse(text(addCases(start, view.proposed))).rules.get(rule.name)!
      expect(after.proven).toBe(true)
      expect(after.proposed).toEqual([])
      expect(after.cases.map(item => item.ok)).not.toContain(false)
    }
  })
  test('says of a case that fails what the rules really do', () => {
    const view = analyse(TEXT.replace('expect: deny', 'expect: ask')).rules.get('plan-floor')!
    expect(view.cases.find(item => !item.ok)).toMatchObject({ expect: 'ask', got: 'deny', index: 2 })
    expect(view.proven).toBe(false)
  })
  test('knows the rule under the cursor and the key that a mistake stands at', () => {
    const { outline, errors } = analyse(TEXT.replace('require: deny', 'require: never'))
    expect(ruleAtLine(outline, 9)).toBe('plan-floor')
    expect(ruleAtLine(outline, 1)).toBeUndefined()
    expect(keyOfProblem(outline[1], errors[0]!)).toBe('require')
  })
})

test('a kept draft is read back, and anything else is not taken for one', () => {
  const draft = { base: { version: 3, etag: '"3.x"', text: 'a' }, text: 'b', savedAt: '2026-11-30T14:00:00.000Z' }
  expect(parseDraft(JSON.stringify(draft))).toEqual(draft)
  for (const stored of [
    null,
    '',
    'null',
    '{}',
    '[]',
    '{"text":"x"}',
    JSON.stringify({ ...draft, base: { version: '3' } }),
  ]) {
    expect(parseDraft(stored)).toBeUndefined()
  }
})
