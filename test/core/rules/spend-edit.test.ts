import { describe, expect, test } from 'vitest'
import { parseRuleDocument } from '#core/rules/document.ts'
import { attributionToJson, rateToJson } from '#core/rules/json.ts'
import { applySpendEdit, type SpendEdit } from '#core/rules/spend-edit.ts'
import { DOCUMENT } from './document-text.ts'

const before = parseRuleDocument(DOCUMENT)
const rateAt = (index: number) => ({ index, was: rateToJson(before.rates[index]!) })
const ruleAt = (index: number) => ({ index, was: attributionToJson(before.attribution[index]!) })
function done(text: string, edit: SpendEdit): string {
  const result = applySpendEdit(text, edit)
  if (!result.ok) throw new Error(result.message)
  return result.text
}
const changed = (text: string, from = DOCUMENT) => {
  const [a, b] = [from.split('\n'), text.split('\n')]
  return { gone: a.filter(line => !b.includes(line)), new: b.filter(line => !a.includes(line)) }
}

describe('an edit of an entry', () => {
  test('finds it where it stands by now, though it has moved', () => {
    const first = '  - { model: new-model, provider: openai, input: "1", output: "2" }\n'
    const meanwhile = DOCUMENT.replace('rates:\n', `rates:\n${first}`)
    const edit: SpendEdit = { kind: 'put_rate', rate: { ...rateAt(1).was, input: '6' }, at: rateAt(1) }
    expect(changed(done(meanwhile, edit), meanwhile)).toEqual({ gone: ['    input: "5"'], new: ['    input: "6"'] })
    expect(parseRuleDocument(done(meanwhile, { kind: 'remove_rate', at: rateAt(1) })).rates.map(r => r.model)).toEqual([
      'new-model',
      'claude-opus-4-6',
    ])
  })

  test('is refused when somebody changed or removed it meanwhile, and touches no other', () => {
    const meanwhile = DOCUMENT.replace('input: "5"', 'input: "5.5"')
    for (const edit of [
      { kind: 'put_rate', rate: { ...rateAt(1).was, input: '6' }, at: rateAt(1) },
      { kind: 'remove_rate', at: rateAt(1) },
    ] as SpendEdit[])
      expect(applySpendEdit(meanwhile, edit)).toMatchObject({ ok: false, reason: 'no_such_entry' })
    const gone = done(DOCUMENT, { kind: 'remove_attribution', at: ruleAt(0) })
    expect(applySpendEdit(gone, { kind: 'move_attribution', at: ruleAt(0), to: 0 })).toMatchObject({ ok: false })
  })

  test('that is itself wrong says what is wrong with it', () => {
    const rate = { model: 'm', provider: 'anthropic', input: '-1', output: '2' }
    expect(applySpendEdit(DOCUMENT, { kind: 'put_rate', rate })).toMatchObject({ reason: 'mistake', ok: false })
    const rule = { when: {}, set: { tenant: 'acme' } }
    expect(applySpendEdit(DOCUMENT, { kind: 'put_attribution', rule })).toMatchObject({ reason: 'mistake' })
    expect(applySpendEdit(DOCUMENT, { kind: 'rename', key: 'tenant', from: 'acme', to: 'acme' })).toMatchObject({
      reason: 'mistake',
    })
  })
})

test('a rename lists the new value, keeps the old one, and is read by budgets and boundaries that named it', () => {
  const text = done(DOCUMENT, { kind: 'rename', key: 'tenant', from: 'acme', to: 'acme-eu' })
  const after = parseRuleDocument(text)
  expect(after.errors).toEqual([])
  expect(after.tags.tenant).toEqual(['acme', 'acme-eu', 'globex'])
  expect(after.renames).toContainEqual({ key: 'tenant', from: 'acme', to: 'acme-eu' })
  expect(after.budgets.map(budget => budget.for?.value)).toEqual([undefined, 'acme-eu', '*'])
  expect(after.rules[0]!.for?.tenants).toEqual(['acme-eu'])
  expect(after.attribution).toEqual(before.attribution)
  expect(changed(text).gone).toHaveLength(3)
  const back = done(text, { kind: 'remove_rename', key: 'tenant', from: 'acme' })
  expect(parseRuleDocument(back).renames).toEqual(before.renames)
})

test('what holds for models without a price is written, changed and left to the default again', () => {
  const zero = done(DOCUMENT, { kind: 'set_unpriced', unpriced: { on_unpriced_model: 'zero', providers: ['google'] } })
  expect(parseRuleDocument(zero).unpriced).toEqual({ onUnpricedModel: 'zero', providers: ['google'] })
  expect(parseRuleDocument(done(zero, { kind: 'set_unpriced' })).unpriced).toBeUndefined()
})
