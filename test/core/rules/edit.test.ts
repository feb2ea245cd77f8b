import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EditResult } from '#core/boundary/document-edit.ts'
import type { Budget } from '#core/budget/budget.ts'
import { parseRuleDocument } from '#core/rules/document.ts'
import {
  moveAttribution,
  putAttribution,
  putExchange,
  putRate,
  removeAttribution,
  removeBudget,
  removeExchange,
  removeRate,
  upsertBudget,
} from '#core/rules/edit.ts'
import { addTagValue, removeTag, removeTagValue, setUnpriced } from '#core/rules/edit-tags.ts'
import { applySpendEdit } from '#core/rules/spend-edit.ts'
import { DOCUMENT } from './document-text.ts'

const defaults = { currency: 'USD', zone: 'America/New_York' }
const options = { defaults }
const read = (text: string) => parseRuleDocument(text, options)
const before = read(DOCUMENT)
const named = (name: string) => before.budgets.find(budget => budget.name === name)!

function done(result: EditResult): string {
  if (!result.ok) throw new Error(result.message)
  return result.text
}
/** The lines of the first document that the edit took away, and those that it brought. */
function changed(text: string): { gone: string[]; new: string[] } {
  const [a, b] = [DOCUMENT.split('\n'), text.split('\n')]
  return { gone: a.filter(line => !b.includes(line)), new: b.filter(line => !a.includes(line)) }
}

describe('a budget', () => {
  test('that is changed moves nothing but its own key, comments included', () => {
    const text = done(upsertBudget(DOCUMENT, { ...named('monthly'), amount: '750' }, options))
    expect(changed(text)).toEqual({
      gone: ['    amount: "500.00"   # agreed in May'],
      new: ['    amount: "750"   # agreed in May'],
    })
    expect(read(text).budgets[0]!.amount).toBe('750')
  })

  test('that is saved as it was is not touched', () => {
    for (const budget of before.budgets) expect(done(upsertBudget(DOCUMENT, budget, options))).toBe(DOCUMENT)
  })

  test('may be renamed, and its key for taken away', () => {
    const { for: _, ...rest } = named('acme')
    const text = done(upsertBudget(DOCUMENT, { ...rest, name: 'all' }, { ...options, previousName: 'acme' }))
    expect(changed(text)).toEqual({ gone: ['  - name: acme', '    for: { tenant: acme }'], new: ['  - name: all'] })
  })

  test('that is new says only what is not the default', () => {
    const budget: Budget = { ...named('monthly'), name: 'week', amount: '20', window: { kind: 'weekly' } }
    const text = done(upsertBudget(DOCUMENT, budget, options))
    expect(changed(text)).toEqual({ gone: [], new: ['  - name: week', '    amount: "20"', '    window: weekly'] })
    expect(read(text).budgets.at(-1)).toEqual(budget)
  })

  test('is written into a document that has none yet', () => {
    for (const text of ['', 'boundaries: []\n', 'budgets:\n', 'budgets: []\n', 'budgets: [] # none yet\n'])
      expect(read(done(upsertBudget(text, named('monthly'), options))).budgets).toEqual([named('monthly')])
  })

  test('is removed whole, the others stay as they are', () => {
    const text = done(removeBudget(DOCUMENT, 'monthly'))
    expect(changed(text).new).toEqual([])
    expect(read(text).budgets.map(({ name }) => name)).toEqual(['acme', 'each-team'])
    expect(text).toContain('# the billing repositories')
  })

  test('that is not there is told', () => {
    expect(removeBudget(DOCUMENT, 'none')).toMatchObject({ ok: false, reason: 'no_such_entry' })
    expect(removeBudget('budgets: [', 'none')).toMatchObject({ ok: false, reason: 'unreadable' })
    expect(upsertBudget('{ budgets: { a: 1 } }', named('monthly'), options)).toMatchObject({ reason: 'not_editable' })
  })
})

describe('attribution', () => {
  test('changes, is added and goes', () => {
    const rule = { when: { repository: 'pay-*' }, set: { tenant: 'globex' } }
    const text = done(putAttribution(DOCUMENT, rule, 0))
    expect(read(text).attribution).toEqual([rule, before.attribution[1]])
    expect(text).toContain('  # the billing repositories')
    expect(read(done(putAttribution(DOCUMENT, rule))).attribution).toEqual([...before.attribution, rule])
    expect(read(done(removeAttribution(DOCUMENT, 1))).attribution).toEqual([before.attribution[0]])
    expect(putAttribution(DOCUMENT, rule, 7)).toMatchObject({ reason: 'no_such_entry' })
  })

  test('moves, since the first that holds decides', () => {
    const text = done(putAttribution(DOCUMENT, { when: { member: 'mem_a1' }, set: { team: 'data' } }))
    const rules = read(text).attribution
    expect(read(done(moveAttribution(text, 2, 0))).attribution).toEqual([rules[2], rules[0], rules[1]])
    expect(read(done(moveAttribution(text, 0, 2))).attribution).toEqual([rules[1], rules[2], rules[0]])
    expect(done(moveAttribution(text, 1, 1))).toBe(text)
    expect(moveAttribution(text, 0, 3)).toMatchObject({ reason: 'no_such_entry' })
  })
})

describe('a rate', () => {
  test('changes in its line, is added and goes', () => {
    const [first, second] = before.rates
    const text = done(putRate(DOCUMENT, { ...first!, input: '4', cacheWrite5m: '5' }, 0))
    expect(changed(text).gone).toHaveLength(1)
    expect(read(text).rates).toEqual([{ ...first!, input: '4', cacheWrite5m: '5' }, second])
    const { long: _, ...plain } = second!
    expect(read(done(putRate(DOCUMENT, plain, 1))).rates[1]).toEqual(plain)
    const added = { ...plain, model: 'other', from: '2027-01-01' }
    expect(read(done(putRate(DOCUMENT, added))).rates.at(-1)).toEqual(added)
    expect(read(done(removeRate(DOCUMENT, 0))).rates).toEqual([second])
  })
})

describe('tags and the policy', () => {
  test('a value is listed once, wherever the list is', () => {
    expect(read(done(addTagValue(DOCUMENT, 'tenant', 'initech'))).tags.tenant).toEqual(['acme', 'globex', 'initech'])
    expect(changed(done(addTagValue(DOCUMENT, 'team', 'ops'))).new).toEqual(['  team: [platform, data, ops]'])
    expect(done(addTagValue(DOCUMENT, 'team', 'data'))).toBe(DOCUMENT)
    expect(read(done(addTagValue(DOCUMENT, 'site', 'delft'))).tags.site).toEqual(['delft'])
    const block = 'tags:\n  team: # ours\n    - a # first\n    - b\n'
    expect(done(addTagValue(block, 'team', 'c'))).toBe(`${block}    - c\n`)
    for (const text of ['', 'tags:\n', 'tags: {}\n', 'tags: { team: }\n', 'tags:\n  team: []\n', 'boundaries: []'])
      expect(read(done(addTagValue(text, 'team', 'a'))).tags.team).toEqual(['a'])
    expect(read(done(addTagValue('tags: { team: a }\n', 'team', 'b'))).tags.team).toEqual(['a', 'b'])
  })

  test('a value and a tag go', () => {
    expect(changed(done(removeTagValue(DOCUMENT, 'team', 'platform'))).new).toEqual(['  team: [data]'])
    expect(read(done(removeTagValue('tags: { team: [a] }\n', 'team', 'a'))).tags.team).toEqual([])
    expect(done(removeTagValue('tags:\n  team:\n    - a\n    # the second\n    - b\n', 'team', 'b'))).toBe(
      'tags:\n  team:\n    - a\n',
    )
    expect(changed(done(removeTag(DOCUMENT, 'team')))).toEqual({ gone: ['  team: [platform, data]'], new: [] })
    expect(read(done(removeTag('tags: { team: [a] }\n', 'team'))).tags).toEqual({ tenant: [], project: [] })
    expect(removeTagValue(DOCUMENT, 'team', 'nobody')).toMatchObject({ reason: 'no_such_entry' })
    expect(removeTag(DOCUMENT, 'nothing')).toMatchObject({ reason: 'no_such_entry' })
  })

  test('the policy on models without a price', () => {
    const policy = { onUnpricedModel: { model: 'claude-opus-4-6' }, providers: ['anthropic'] }
    expect(read(done(setUnpriced(DOCUMENT, policy))).unpriced).toEqual(policy)
    expect(read(done(setUnpriced('boundaries: []\n', policy))).unpriced).toEqual(policy)
    expect(changed(done(setUnpriced(DOCUMENT, undefined)))).toMatchObject({ new: [] })
    expect(read(done(setUnpriced(DOCUMENT, undefined))).unpriced).toBeUndefined()
    expect(done(setUnpriced('boundaries: []\n', undefined))).toBe('boundaries: []\n')
  })
})

test('any number of edits leaves every comment and every other section as it was', () => {
  const words = fc.constantFrom('a', 'b', 'c', 'd')
  const amounts = fc.constantFrom('1', '2.5', '0')
  const windows = fc.constantFrom<Budget['window']>({ kind: 'daily' }, { kind: 'rolling', days: 7 })
  const budget = fc.record({
    name: words,
    amount: amounts,
    window: windows,
    steps: fc.constantFrom([50], [50, 75, 90, 100]),
  })
  const edit = fc.oneof(
    fc.record({ what: fc.constant('put' as const), budget }),
    fc.record({ what: fc.constant('remove' as const), name: fc.oneof(words, fc.constant('acme')) }),
    fc.record({ what: fc.constant('tag' as const), value: words }),
  )
  const lines = DOCUMENT.split('\n').filter(line => /^(boundaries|tests|rates|unpriced|attribution):|#/.test(line))
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), edits => {
      let text = DOCUMENT
      const expected = new Map(before.budgets.map(entry => [entry.name, entry]))
      for (const entry of edits) {
        if (entry.what === 'put') {
          const whole: Budget = { ...named('monthly'), ...entry.budget }
          text = done(upsertBudget(text, whole, options))
          expected.set(whole.name, whole)
        } else if (entry.what === 'tag') text = done(addTagValue(text, 'team', entry.value))
        else if (expected.delete(entry.name)) text = done(removeBudget(text, entry.name))
      }
      const after = read(text)
      const ofBudgets = after.errors.filter(({ section, code }) => section !== undefined || code !== 'unknown_budget')
      expect(ofBudgets).toEqual([])
      expect(after.budgets).toEqual([...expected.values()])
      expect([after.rates, after.attribution, after.unpriced]).toEqual([
        before.rates,
        before.attribution,
        before.unpriced,
      ])
      for (const line of lines) expect(text).toContain(line)
    }),
    { numRuns: 40 },
  )
})

describe('an exchange rate', () => {
  const [first] = before.exchange
  test('that is changed moves nothing but its own key, comments included', () => {
    const text = done(putExchange(DOCUMENT, { ...first!, perUsd: '0.93' }, 0))
    expect(changed(text)).toEqual({
      gone: ['  - { currency: EUR, from: 2026-01-01, per_usd: "0.920" }   # the bank\'s, each month'],
      new: ['  - { currency: EUR, from: 2026-01-01, per_usd: "0.93" }   # the bank\'s, each month'],
    })
  })

  test('that is saved as it was is not touched', () => {
    for (const [i, rate] of before.exchange.entries()) expect(done(putExchange(DOCUMENT, rate, i))).toBe(DOCUMENT)
  })

  test('is added at the end, and makes the section where there is none', () => {
    const rate = { currency: 'JPY', from: '2026-11-01', perUsd: '150.5' }
    expect(read(done(putExchange(DOCUMENT, rate))).exchange).toEqual([...before.exchange, rate])
    expect(read(done(putExchange('# ours\n', rate))).exchange).toEqual([rate])
  })

  test('is removed alone, and one that is not there is told', () => {
    expect(read(done(removeExchange(DOCUMENT, 1))).exchange).toEqual([first])
    expect(removeExchange(DOCUMENT, 2)).toMatchObject({ ok: false, reason: 'no_such_entry' })
    expect(putExchange(DOCUMENT, first!, 2)).toMatchObject({ ok: false, reason: 'no_such_entry' })
  })
})

test('an exchange rate is edited as it was seen: where it stands by now, and not when it says something else', () => {
  const was = { currency: 'EUR', from: '2026-12-01', per_usd: '0.95' }
  const moved = DOCUMENT.replace('exchange:\n', 'exchange:\n  - { currency: JPY, from: 2026-01-01, per_usd: 150 }\n')
  const edit = { kind: 'put_exchange', rate: { ...was, per_usd: '0.96' }, at: { index: 1, was } } as const
  const result = applySpendEdit(moved, edit)
  expect(result.ok && read(result.text).exchange.map(({ perUsd }) => perUsd)).toEqual(['150', '0.92', '0.96'])
  expect(applySpendEdit(moved.replace('0.95', '0.94'), edit)).toMatchObject({ reason: 'no_such_entry' })
  expect(applySpendEdit(moved, { ...edit, rate: { ...was, per_usd: '-1' } })).toMatchObject({ reason: 'mistake' })
  const removed = applySpendEdit(moved, { kind: 'remove_exchange', at: edit.at })
  expect(removed.ok && read(removed.text).exchange.map(({ currency }) => currency)).toEqual(['JPY', 'EUR'])
})
