import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completeRules } from '#app/(console)/[org]/boundaries/complete.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { RULE_KEYS } from '#core/boundary/read-rule.ts'
import { ACTIONS, conditionsFor, STAGES } from '#core/boundary/shape.ts'
import { ROLES } from '#core/role.ts'

/** What is suggested where the bar stands. */
function at(text: string, asked = false) {
  const cursor = text.indexOf('|')
  return completeRules(text.replace('|', ''), cursor, asked)
}
const labels = (text: string, asked = false) => at(text, asked)?.items.map(item => item.label)
/** The text once the named suggestion was taken. */
function taken(text: string, label: string): string {
  const found = at(text, true)
  const item = found?.items.find(each => each.label === label)
  if (!found || !item) throw new Error(`${label} is not suggested, but ${found?.items.map(each => each.label)}`)
  const plain = text.replace('|', '')
  return plain.slice(0, found.from) + item.insert + plain.slice(found.to)
}

const RULE = 'boundaries:\n  - name: a\n    action: continue\n'

describe('what is suggested', () => {
  it('is what has been begun: keys of a rule, without those that stand there', () => {
    expect(labels(`${RULE}    re|`)).toEqual(['require'])
    expect(labels(`${RULE}    |`, true)).toEqual(RULE_KEYS.filter(key => key !== 'name' && key !== 'action'))
    expect(labels('boundaries:\n  - na|\n')).toEqual(['name'])
    expect(labels('boundaries:\n  - |', true)).toEqual([...RULE_KEYS])
    expect(labels('boundaries:\n  - name: a\n    st|\n    when: { session_cost_usd: ">= 1" }\n')).toEqual([
      'stage',
      'step',
    ])
  })

  it('is the parser’s own words for each value', () => {
    expect(labels('boundaries:\n  - action: |')).toEqual([...ACTIONS])
    expect(labels(`${RULE}    stage: |`)).toEqual([...STAGES])
    expect(labels(`${RULE}    require: app|`)).toEqual(ROLES.map(role => `approver:${role}`))
    expect(labels(`${RULE}    require: approver:le|`)).toEqual(['approver:lead'])
  })

  it('is the figures that the rule’s action is judged by, and their windows', () => {
    expect(labels(`${RULE}    when: { |`)).toEqual(conditionsFor('continue'))
    expect(labels('boundaries:\n  - action: share\n    when: { | }\n')).toEqual(['destination'])
    expect(labels('boundaries:\n  - action: share\n    when:\n      d|\n')).toEqual(['destination'])
    expect(labels(`${RULE}    when: { plan_left_pct: "< 5", w|`)).toEqual(['window', 'workflow_id'])
    expect(labels(`${RULE}    when: { plan_left_pct: "< 5", window: | }`)).toEqual(['5h', 'week'])
    expect(labels('boundaries:\n  - when: { destination: "=| }\n')).toEqual(['== team', '== otel'])
    expect(labels('boundaries:\n  - when: { model_tier: > so|')).toEqual(['> sonnet'])
  })

  it('says of an approver’s own key that none can be registered yet', () => {
    const help = (text: string, label: string) => at(text, true)?.items.find(item => item.label === label)?.help
    expect(help(`${RULE}    si|`, 'signed')).toMatch(/No key can be registered yet/)
    expect(help(`${RULE}    self: k|`, 'key')).toMatch(/None can be registered yet/)
  })

  it('is keys and outcomes in cases, and the rules there are', () => {
    const text = 'boundaries:\n  - { name: one }\n  - name: two\ntests:\n'
    expect(labels(`${text}  - { rule: | }`)).toEqual(['one', 'two'])
    expect(labels(`${text}  - { action: continue, e|`)).toEqual(['expect'])
    expect(labels(`${text}  - { action: share, figures: { | } }`)).toEqual(['destination'])
    expect(labels(`${text}  - expect: p|`)?.[0]).toBe('pass')
  })

  it('is the sections of an empty document', () => {
    expect(labels('|', true)).toEqual(['boundaries', 'tests'])
    expect(labels('b|')).toEqual(['boundaries'])
  })
})

describe('nothing is suggested', () => {
  it.each([
    ['on an empty line, unasked', `${RULE}    |`],
    ['in a comment', `${RULE}    # re|`],
    ['in a comment behind a value', `${RULE}    stage: shadow # en|`],
    ['in prose', `${RULE}    note: Long sessions re|`],
    ['in block text', `${RULE}    note: |\n      re`.replace('|\n      re', '>\n      re|')],
    ['where the word is whole', `${RULE}    stage: shadow|`],
    ['for a number of one’s own', `${RULE}    when: { session_cost_usd: ">= 2|" }`],
    ['in a place that no rule set has', 'others:\n  - re|'],
    ['for a name', 'boundaries:\n  - name: re|'],
  ])('%s', (_, text) => {
    expect(labels(text)).toBeUndefined()
  })
})

describe('what is taken', () => {
  it('stands in place of the whole word, quotes included, and brings its colon', () => {
    expect(taken(`${RULE}    re|`, 'require')).toBe(`${RULE}    require: `)
    expect(taken('boundaries:\n  - ac|tion: continue\n', 'action')).toBe('boundaries:\n  - action: continue\n')
    expect(taken(`${RULE}    when: { session_cost_usd: "|" }`, '>= 20')).toBe(
      `${RULE}    when: { session_cost_usd: ">= 20" }`,
    )
    expect(taken(`${RULE}    when: { model_tier: > |`, '> sonnet')).toBe(`${RULE}    when: { model_tier: "> sonnet"`)
  })

  it('makes a rule without a mistake when one is written from suggestions alone', () => {
    let text = 'boundaries:\n  - name: spend-first\n    |'
    const take = (label: string, next = '') => {
      const found = at(text, true)!
      const { insert, back = 0 } = found.items.find(item => item.label === label)!
      const whole = taken(text, label)
      const cut = found.from + insert.length - back
      text = `${whole.slice(0, cut)}${next}|${whole.slice(cut)}`
    }
    take('action')
    take('continue', '\n    ')
    take('when')
    take('session_cost_usd')
    take('>= 20')
    text = text.replace('| }', ' }\n    |')
    take('require')
    take('approver:lead', '\n    ')
    take('stage')
    take('shadow')
    const { rules, errors } = parseBoundaries(text.replace('|', ''), { scope: 'organisation' })
    expect(errors).toEqual([])
    expect(rules[0]).toMatchObject({ action: 'continue', require: { kind: 'approver', role: 'lead' }, stage: 'shadow' })
  })
})

it('no text and no cursor breaks it, and what it would replace lies in the cursor’s line', () => {
  const words = fc.constantFrom(
    'boundaries:',
    '\n  - ',
    '\n    ',
    'name: ',
    'when: ',
    '{ ',
    '}',
    'session_cost_usd',
    ': ',
    '"',
    '>',
    "'",
    ' 20',
    '[',
    ', ',
    '#',
    '|',
    '\t',
    '- ',
    '\n',
    'tests:',
    'constructor',
    '__proto__',
    'é',
    '&a ',
    '*a',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 14 }), fc.nat(), fc.boolean(), (parts, place, asked) => {
      const text = parts.join('')
      const cursor = place % (text.length + 1)
      const found = completeRules(text, cursor, asked)
      if (!found) return
      expect(found.items.length).toBeGreaterThan(0)
      expect(found.from).toBeLessThanOrEqual(cursor)
      expect(found.to).toBeGreaterThanOrEqual(cursor)
      expect(text.slice(found.from, found.to)).not.toContain('\n')
    }),
  )
})

it.each(['constructor', 'valueOf', '__proto__'])('a word that every object knows (%s) is one like another', word => {
  for (const text of [
    `${word}:\n  - |`,
    `${word}:\n  - a|`,
    `boundaries:\n  - ${word}: |`,
    `${RULE}    for: { ${word}: |`,
  ])
    expect(labels(text, true)).toBeUndefined()
})

it('a rule may be called by such a word', () => {
  expect(at(`boundaries:\n  - name: constructor\ntests:\n  - { rule: |`, true)?.items).toEqual([
    { label: 'constructor', insert: 'constructor' },
  ])
})
