import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EditResult } from '#core/boundary/document-edit.ts'
import { addCases, removeRule, ruleOutline, setField, setStage, upsertRule } from '#core/boundary/edit.ts'
import { parseBoundaries } from '#core/boundary/parse.ts'
import { proposeCases } from '#core/boundary/propose-cases.ts'
import type { Rule } from '#core/boundary/shape.ts'
import { anyRule } from './any-rule.ts'
import { SEED_RULES } from './seed.ts'

function done(result: EditResult): string {
  if (!result.ok) throw new Error(result.message)
  return result.text
}

/** The lines that differ, as `-old` and `+new`, for texts that differ in one run of lines. */
function diff(before: string, after: string): string[] {
  const a = before.split('\n')
  const b = after.split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return [...a.slice(head, a.length - tail).map(l => `-${l}`), ...b.slice(head, b.length - tail).map(l => `+${l}`)]
}

describe('setStage', () => {
  it('writes the stage beside the rule and touches nothing else', () => {
    const text = done(setStage(SEED_RULES, 'session-spend', 'enforce'))
    expect(diff(SEED_RULES, text)).toEqual(['+    stage: enforce'])
    expect(text.split('\n')[5]).toBe('    stage: enforce')
    expect(parseBoundaries(text, { scope: 'local' }).rules[0]?.stage).toBe('enforce')
  })

  it('promotes and demotes every rule of the first page in place, and back to the same bytes but for the stage', () => {
    for (const { name } of ruleOutline(SEED_RULES)) {
      const up = done(setStage(SEED_RULES, name, 'enforce'))
      const down = done(setStage(up, name, 'shadow'))
      expect(down.replace(/ {4}stage: shadow\n/, '')).toBe(SEED_RULES)
      expect(done(setStage(up, name, 'enforce'))).toBe(up)
    }
  })

  it('keeps comments, quotes, CRLF, a missing last newline and one-line rules as they are', () => {
    const crlf =
      'boundaries:\r\n  - name: a # mine\r\n    require: ask\r\n    stage: "shadow"   # soon\r\n    action: continue\r\n'
    expect(done(setStage(crlf, 'a', 'enforce'))).toBe(crlf.replace('"shadow"', 'enforce'))
    const bare = 'boundaries:\n- name: a\n  require: ask'
    expect(done(setStage(bare, 'a', 'enforce'))).toBe(`${bare}\n  stage: enforce`)
    const bareCrlf = 'boundaries:\r\n- name: a\r\n  require: ask\r\n'
    expect(done(setStage(bareCrlf, 'a', 'enforce'))).toBe(`${bareCrlf}  stage: enforce\r\n`)
    const flow = 'boundaries: [ { name: a, require: ask }, { name: b, require: ask } ] # two\n'
    expect(done(setStage(flow, 'b', 'enforce'))).toBe(
      flow.replace('b, require: ask', 'b, require: ask, stage: enforce'),
    )
    const empty = 'boundaries:\n  - name: a\n    stage:\n    require: ask\n'
    expect(done(setStage(empty, 'a', 'enforce'))).toBe(empty.replace('stage:', 'stage: enforce'))
    const bom = '\ufeffboundaries:\n  - name: a\n    require: ask\n'
    expect(done(setStage(bom, 'a', 'enforce'))).toBe(`${bom}    stage: enforce\n`)
  })

  it("refuses the organisation's rules, rules that are not there and documents that are no YAML", () => {
    expect(setStage(SEED_RULES, 'org:session-spend', 'shadow')).toMatchObject({
      ok: false,
      reason: 'organisation_rule',
    })
    expect(setStage(SEED_RULES, 'nobody', 'shadow')).toMatchObject({ ok: false, reason: 'no_such_rule' })
    expect(setStage('boundaries: [', 'a', 'shadow')).toMatchObject({ ok: false, reason: 'unreadable' })
  })

  it('works in a document whose other rules are wrong', () => {
    const text = 'boundaries:\n  - name: a\n    require: ask\n  - name: b\n    action: nonsense\n'
    expect(done(setStage(text, 'a', 'enforce'))).toBe(text.replace('ask\n', 'ask\n    stage: enforce\n'))
  })
})

describe('setField', () => {
  it('replaces a block value by one line and removes a key with its lines', () => {
    const text =
      'boundaries:\n  - name: a\n    when:\n      # the cost\n      session_cost_usd: ">= 20"\n      agent_id: "== x"\n    require: ask # here\n    note: |\n      one\n      two\n\n# the end\n'
    const when = done(setField(text, 'a', 'when', { session_cost_usd: '>= 5' }))
    expect(when).toBe(
      'boundaries:\n  - name: a\n    when: { session_cost_usd: ">= 5" }\n    require: ask # here\n    note: |\n      one\n      two\n\n# the end\n',
    )
    expect(done(setField(when, 'a', 'note', 'plain words'))).toContain('    note: "plain words"\n\n# the end\n')
    expect(done(setField(when, 'a', 'note', undefined))).not.toContain('two')
    expect(done(setField(when, 'a', 'require', undefined))).not.toContain('require')
    expect(done(setField(when, 'a', 'self', undefined))).toBe(when)
  })

  it('puts a new key in the place the fixed order gives it', () => {
    const text = done(setField(SEED_RULES, 'plan-floor', 'note', 'why: "so" # yes'))
    expect(diff(SEED_RULES, text)).toEqual(['+    note: "why: \\"so\\" # yes"'])
    expect(text.split('\n')[text.split('\n').indexOf('    note: "why: \\"so\\" # yes"') - 1]).toBe('    require: deny')
  })
})

describe('upsertRule', () => {
  const rules = parseBoundaries(SEED_RULES, { scope: 'local' }).rules

  it('changes nothing when the rule already says so', () => {
    for (const rule of rules) expect(done(upsertRule(SEED_RULES, rule, { scope: 'local' }))).toBe(SEED_RULES)
  })

  it('changes only the keys that differ, and the name', () => {
    const rule: Rule = {
      ...rules[0]!,
      name: 'session-cost',
      when: [{ figure: 'session_cost_usd', op: '>', value: 30_500_000 }],
    }
    const text = done(upsertRule(SEED_RULES, rule, { scope: 'local', previousName: 'session-spend' }))
    expect(text).toBe(SEED_RULES.replace('session-spend', 'session-cost').replace('">= 20"', '"> 30.5"'))
  })

  it.each([
    ['', 'boundaries:\n  - name: session-spend\n'],
    ['# mine\n', '# mine\nboundaries:\n  - name: session-spend\n'],
    ['routing: { mode: observe }', 'routing: { mode: observe }\nboundaries:\n  - name: session-spend\n'],
    ['boundaries:\n', 'boundaries:\n  - name: session-spend\n'],
    ['boundaries: []\nx: 1\n', 'boundaries:\n  - name: session-spend\n'],
    ['boundaries: [] # none yet\nx: 1\n', 'boundaries: # none yet\n  - name: session-spend\n'],
    ['boundaries: # none yet\n', 'boundaries: # none yet\n  - name: session-spend\n'],
    ['boundaries:\n- name: z\n', 'boundaries:\n- name: z\n- name: session-spend\n'],
    [
      'boundaries:\n  - name: z # last\n\n# end\ntests: []\n',
      'boundaries:\n  - name: z # last\n  - name: session-spend\n',
    ],
    ['boundaries: [{ name: z }]\n', 'boundaries: [{ name: z }, { name: session-spend, '],
  ])('adds a rule to %j', (before, start) => {
    const text = done(upsertRule(before, rules[0]!, { scope: 'local' }))
    expect(text.startsWith(start)).toBe(true)
    expect(ruleOutline(text).map(rule => rule.name)).toContain('session-spend')
    if (before.includes('x: 1')) expect(text.endsWith('\nx: 1\n')).toBe(true)
    if (before.includes('# end')) expect(text.endsWith('\n\n# end\ntests: []\n')).toBe(true)
  })

  it('writes any rule so that it reads back as itself (form and text are one)', () => {
    fc.assert(
      fc.property(anyRule('organisation'), rule => {
        const text = done(upsertRule('# head\nboundaries: []\n', rule))
        const { rules: back, errors } = parseBoundaries(text, { scope: 'organisation' })
        expect(errors).toEqual([])
        expect(back).toEqual([rule])
      }),
      { numRuns: 300 },
    )
  })

  it('turns any rule into any other in place, leaving its neighbours alone', () => {
    const first = '  - name: first # stays\n    action: share\n    when: { destination: "== team" }\n    require: ask\n'
    fc.assert(
      fc.property(anyRule('organisation'), anyRule('organisation'), (from, to) => {
        fc.pre(from.name !== 'first' && to.name !== 'first')
        const before = done(upsertRule(`boundaries:\n${first}# tail\n`, from))
        const text = done(upsertRule(before, to, { previousName: from.name }))
        expect(text.startsWith(`boundaries:\n${first}`)).toBe(true)
        expect(text.endsWith('# tail\n')).toBe(true)
        expect(parseBoundaries(text, { scope: 'organisation' }).rules[1]).toEqual(to)
      }),
      { numRuns: 200 },
    )
  })
})

describe('removeRule', () => {
  it('takes a rule with its own comment and leaves the rest byte for byte', () => {
    const text =
      'boundaries:\n  # all of them\n  - name: a\n    require: ask\n\n  # about b\n  # more\n  - name: b # b\n    require: ask\n\n  # about c\n  - name: c\n    require: ask\n'
    expect(done(removeRule(text, 'b'))).toBe(
      'boundaries:\n  # all of them\n  - name: a\n    require: ask\n\n\n  # about c\n  - name: c\n    require: ask\n',
    )
    expect(done(removeRule(text, 'a'))).toContain(
      'boundaries:\n  # all of them\n\n  # about b\n  # more\n  - name: b # b\n',
    )
  })

  it('leaves an empty list behind the last one', () => {
    expect(done(removeRule('boundaries:\n  - name: a\n    require: ask\nx: 1\n', 'a'))).toBe('boundaries: []\nx: 1\n')
    expect(done(removeRule('boundaries: [{ name: a }]\n', 'a'))).toBe('boundaries: []\n')
    expect(done(removeRule('boundaries: [{ name: a }, { name: b }]\n', 'b'))).toBe('boundaries: [{ name: a }]\n')
  })
})

describe('addCases', () => {
  it('appends the proposed cases of every rule, and they hold', () => {
    const { rules } = parseBoundaries(SEED_RULES, { scope: 'local' })
    const cases = rules.flatMap(proposeCases)
    const text = done(addCases(SEED_RULES, cases))
    expect(text.startsWith(SEED_RULES)).toBe(true)
    const parsed = parseBoundaries(text, { scope: 'local' })
    expect(parsed.errors).toEqual([])
    expect(parsed.tests).toEqual(cases)
    const more = done(addCases(text, cases.slice(0, 1)))
    expect(more.startsWith(text)).toBe(true)
    expect(parseBoundaries(more, { scope: 'local' }).tests).toHaveLength(cases.length + 1)
  })
})

describe('ruleOutline', () => {
  it('gives every rule its lines, and its keys theirs', () => {
    const outline = ruleOutline(SEED_RULES)
    expect(outline.map(({ name, startLine, endLine }) => [name, startLine, endLine])).toEqual([
      ['session-spend', 2, 5],
      ['big-subagents', 6, 9],
      ['plan-floor', 10, 13],
      ['budget-floor', 14, 17],
      ['no-opus-routes', 18, 21],
      ['team-upload', 22, 25],
    ])
    expect(outline[1]?.keyLines).toEqual({ name: 6, action: 7, when: 8, require: 9 })
    expect(ruleOutline('boundaries: [')).toEqual([])
  })
})
