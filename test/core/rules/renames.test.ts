import { describe, expect, test } from 'vitest'
import { parseRuleDocument } from '#core/rules/document.ts'
import { renamedTags, renamedValue, renameMap } from '#core/usage/renames.ts'

const document = (renames: string, more = '') => `boundaries: []
tags: { tenant: [acme, acme-eu, globex], team: [data] }
renames:
${renames}${more}`
const problemsOf = (text: string) =>
  parseRuleDocument(text).errors.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`)
const rename = (from: string, to: string, key = 'tenant') => `  - { key: ${key}, from: ${from}, to: ${to} }\n`

describe('a renamed value', () => {
  test('is read as what it is called in the end, of its own key only', () => {
    const map = renameMap([
      { key: 'tenant', from: 'acme', to: 'acme-bv' },
      { key: 'tenant', from: 'acme-bv', to: 'acme-eu' },
      { key: 'team', from: 'data', to: 'analytics' },
    ])
    expect(renamedTags(map, { tenant: 'acme', project: 'acme', team: 'data' })).toEqual({
      tenant: 'acme-eu',
      project: 'acme',
      team: 'analytics',
    })
    expect(renamedValue(map, 'tenant', 'constructor')).toBe('constructor')
    const kept = { tenant: 'globex' }
    expect(renamedTags(map, kept)).toBe(kept)
  })

  test('of a circle, which a document of another build might hold, stays what it is', () => {
    const map = renameMap([
      { key: 'tenant', from: 'a', to: 'b' },
      { key: 'tenant', from: 'b', to: 'a' },
    ])
    expect(renamedTags(map, { tenant: 'a' })).toEqual({ tenant: 'a' })
  })

  test('may be one that is on no list any more, and its end may not', () => {
    expect(problemsOf(document(rename('old', 'globex')))).toEqual([])
    expect(problemsOf(document(rename('acme', 'acme-bv') + rename('acme-bv', 'acme-eu')))).toEqual([])
    expect(problemsOf(document(rename('acme', 'acme-bv')))).toEqual([
      '4:36 unknown_tag acme-bv is on no list of tenant',
    ])
  })

  test.each([
    [
      'a circle',
      rename('acme', 'globex') + rename('globex', 'acme'),
      '4:36 bad_value the renames of acme go in a circle',
    ],
    ['itself', rename('acme', 'acme'), '4:36 bad_value acme is renamed to itself'],
    ['two names', rename('acme', 'globex') + rename('acme', 'acme-eu'), '5:26 duplicate acme is renamed above already'],
    ['a key that is none', rename('acme', 'globex', 'tenants'), '4:12 unknown_tag tenants is not one of'],
    ['a value that is none', rename('acme', 'Globex'), '4:36 bad_value to cannot be'],
    ['a word too many', '  - { key: tenant, from: acme, to: globex, on: 1 }\n', '4:44 unknown_key'],
  ])('to %s is refused at its place', (_, text, problem) => {
    expect(problemsOf(document(text))[0]).toContain(problem)
  })

  test('is not named by its old name where a budget or a boundary is for it', () => {
    const more = `budgets:
  - { name: b, amount: 5, window: daily, for: { tenant: acme } }
`
    expect(problemsOf(document(rename('acme', 'acme-eu'), more))).toEqual([
      '6:57 unknown_tag acme is called acme-eu now',
    ])
    const boundary = `  - { name: x, action: spend, when: { session_cost_usd: "> 5" }, require: deny, for: { tenants: [globex, acme] } }`
    const text = document(rename('acme', 'acme-eu')).replace('boundaries: []', `boundaries:\n${boundary}`)
    expect(problemsOf(text)).toEqual(['2:106 unknown_tag acme is called acme-eu now'])
  })
})
