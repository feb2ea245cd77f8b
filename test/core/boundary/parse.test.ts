import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ParseOptions, parseBoundaries } from '#core/boundary/parse.ts'
import { SEED_RULES } from './seed.ts'

const local: ParseOptions = { scope: 'local' }
const organisation: ParseOptions = { scope: 'organisation' }

/** One rule on one line: its `when` and what follows, as line 2 of a document. */
function rule(rest: string, action = 'continue'): string {
  return `boundaries:\n  - { name: a, action: ${action}, ${rest} }\n`
}
const COST = 'when: { session_cost_usd: ">= 20" }'

describe('parseBoundaries', () => {
  it('reads the six rules of the first page without a word of complaint', () => {
    const { rules, errors, warnings } = parseBoundaries(SEED_RULES, local)
    expect(errors).toEqual([])
    expect(warnings).toEqual([])
    expect(rules.map(r => [r.name, r.stage, r.require])).toEqual([
      ['session-spend', 'shadow', { kind: 'ask' }],
      ['big-subagents', 'shadow', { kind: 'approver', role: 'admin' }],
      ['plan-floor', 'shadow', { kind: 'deny' }],
      ['budget-floor', 'shadow', { kind: 'ask' }],
      ['no-opus-routes', 'shadow', { kind: 'ask' }],
      ['team-upload', 'shadow', { kind: 'ask' }],
    ])
    expect(rules[0]?.when).toEqual([{ figure: 'session_cost_usd', op: '>=', value: 20_000_000 }])
    expect(rules[2]?.when).toEqual([{ figure: 'plan_left_pct', op: '<', value: 5_000_000, qualifier: 'week' }])
    expect(rules[3]?.when).toEqual([{ figure: 'budget_used_pct', op: '>=', value: 90_000_000, qualifier: 'monthly' }])
  })

  it.each(['', '# nothing\n', 'boundaries:\n', 'boundaries: []\n', 'null\n', 'boundaries:\ntests:\n', '---\n'])(
    'takes %j as no rules',
    text => {
      expect(parseBoundaries(text, organisation)).toEqual({ rules: [], tests: [], errors: [], warnings: [] })
    },
  )

  it('reads every key beyond the first five', () => {
    const text = rule(
      `${COST}, require: approver:admin, stage: enforce, note: 'Ask Ana', approvals: 2, expires: 1h30m, step: 7.25, for: { tenants: [b, a, b], projects: web, machines: ["mac_*"] }, on_unknown: hold, signed: true, self: key, fallback: { role: lead, after: 30m, loosens: true }`,
    )
    const { rules, errors } = parseBoundaries(text, organisation)
    expect(errors).toEqual([])
    expect(rules[0]).toEqual({
      name: 'a',
      action: 'continue',
      when: [{ figure: 'session_cost_usd', op: '>=', value: 20_000_000 }],
      require: { kind: 'approver', role: 'admin' },
      stage: 'enforce',
      note: 'Ask Ana',
      approvals: 2,
      expires: 5400,
      step: 7_250_000,
      for: { tenants: ['a', 'b'], projects: ['web'], machines: ['mac_*'] },
      onUnknown: 'hold',
      signed: true,
      self: 'key',
      fallback: { role: 'lead', afterSeconds: 1800, loosens: true },
    })
  })

  it('reads cases, their figures and what they expect', () => {
    const text = `${SEED_RULES}tests:\n  - { action: continue, figures: { session_cost_usd: 20.5, plan_left_pct: "3", window: week }, expect: deny }\n  - { name: small, rule: big-subagents, action: subagent_model, figures: { model_tier: unknown }, tenant: acme, expect: pass }\n  - { action: spend, expect: approver:lead }\n`
    const { tests, errors } = parseBoundaries(text, local)
    expect(errors).toEqual([])
    expect(tests).toEqual([
      {
        action: 'continue',
        figures: [
          { figure: 'session_cost_usd', value: 20_500_000 },
          { figure: 'plan_left_pct', value: 3_000_000, qualifier: 'week' },
        ],
        expect: { kind: 'deny' },
      },
      {
        name: 'small',
        action: 'subagent_model',
        figures: [{ figure: 'model_tier', value: 'unknown' }],
        tenant: 'acme',
        expect: { kind: 'pass' },
        rule: 'big-subagents',
      },
      { action: 'spend', figures: [], expect: { kind: 'approver', role: 'lead' } },
    ])
  })

  // [text, code, part of the message or the remedy, line, column]
  it.each<[string, string, string, number, number]>([
    [rule(COST.replace('session_cost', 'sesion_cost')), 'unknown_condition', 'did you mean session_cost_usd?', 2, 42],
    [
      rule(`when: { mood: ">= 3" }, require: ask`),
      'unknown_condition',
      'continue is judged by session_cost_usd, plan_left_pct, workflow_id or agent_id',
      2,
      42,
    ],
    [
      rule(`when: { "budget_used_pct[web-month]": ">= 100" }, require: ask`),
      'unknown_condition',
      'budget_used_pct: ">= 90", budget: web-month, with the action spend',
      2,
      42,
    ],
    [rule(`when: { model_tier: "> sonnet" }, require: ask`), 'not_judged', 'subagent_model or model_route', 2, 42],
    [rule(`when: { destination: "== team" }, require: ask`), 'not_judged', 'use it with share', 2, 42],
    [rule(`when: { agent_id: "== x" }, require: ask`, 'share'), 'not_judged', 'destination', 2, 39],
    [rule(`when: { window: week }, require: ask`), 'lone_qualifier', 'plan_left_pct', 2, 42],
    [rule(`when: { ${'budget'}: monthly }, require: ask`, 'spend'), 'lone_qualifier', 'budget_used_pct', 2, 39],
    [rule('when: { plan_left_pct: "< 5", window: 7d }, require: ask'), 'bad_value', '5h or week', 2, 72],
    [rule('when: {}, require: ask'), 'missing', 'at least one condition', 2, 40],
    [rule('when: [1], require: ask'), 'wrong_kind', 'a list', 2, 40],
    [rule('when: { session_cost_usd: 20 }, require: ask'), 'bad_comparator', 'write ">= 20"', 2, 60],
    [rule('when: { session_cost_usd: "20" }, require: ask'), 'bad_comparator', 'write ">= 20"', 2, 60],
    [rule('when: { plan_left_pct: 5 }, require: ask'), 'bad_comparator', 'write "< 5"', 2, 57],
    [rule('when: { model_tier: opus }, require: ask', 'subagent_model'), 'bad_comparator', 'write ">= opus"', 2, 60],
    [rule('when: { agent_id: "x:y" }, require: ask'), 'bad_comparator', 'write "== x:y"', 2, 52],
    [rule('when: { session_cost_usd: "=> 20" }, require: ask'), 'bad_comparator', '<, <=, >, >= or ==', 2, 60],
    [rule('when: { session_cost_usd: "!= 20" }, require: ask'), 'bad_comparator', '!= is not a comparator', 2, 60],
    [rule('when: { session_cost_usd: "= 20" }, require: ask'), 'bad_comparator', '= is not a comparator', 2, 60],
    [rule('when: { session_cost_usd: "≥ 20" }, require: ask'), 'bad_comparator', '≥ is not a comparator', 2, 60],
    [rule('when: { session_cost_usd: ">= $20" }, require: ask'), 'bad_value', 'write ">= 20"', 2, 60],
    [rule('when: { session_cost_usd: ">= 1,000" }, require: ask'), 'bad_value', 'write ">= 1000"', 2, 60],
    [rule('when: { session_cost_usd: ">= 1e3" }, require: ask'), 'bad_value', 'not a plain decimal', 2, 60],
    [rule('when: { session_cost_usd: ">= twenty" }, require: ask'), 'bad_value', 'not a plain decimal', 2, 60],
    [rule('when: { session_cost_usd: ">=" }, require: ask'), 'bad_value', 'nothing', 2, 60],
    [rule('when: { session_cost_usd: ">= 0.0000001" }, require: ask'), 'bad_value', 'six decimal places', 2, 60],
    [rule('when: { session_cost_usd: ">= -5" }, require: ask'), 'out_of_range', 'between 0', 2, 60],
    [rule('when: { session_cost_usd: ">= 1000000001" }, require: ask'), 'out_of_range', 'between 0', 2, 60],
    [rule('when: { session_cost_usd: ">= 99999999999999999999" }, require: ask'), 'out_of_range', 'between 0', 2, 60],
    [rule('when: { plan_left_pct: "< 100.000001" }, require: ask'), 'out_of_range', 'between 0 and 100', 2, 57],
    [rule('when: { budget_used_pct: "> 1001" }, require: ask', 'spend'), 'out_of_range', 'between 0 and 1000', 2, 56],
    [
      rule('when: { model_tier: ">= gpt" }, require: ask', 'subagent_model'),
      'bad_value',
      'haiku, sonnet or opus',
      2,
      60,
    ],
    [rule('when: { destination: "== mail" }, require: ask', 'share'), 'bad_value', 'team or otel', 2, 52],
    [
      rule('when: { destination: ">= team" }, require: ask', 'share'),
      'bad_comparator',
      'only be compared with ==',
      2,
      52,
    ],
    [rule('when: { agent_id: "== a b" }, require: ask'), 'bad_value', 'one word', 2, 52],
    [rule('when: { agent_id: "==" }, require: ask'), 'bad_value', 'one word', 2, 52],
    [rule('when: { session_cost_usd: [1] }, require: ask'), 'wrong_kind', 'a list', 2, 60],
    [rule('when: { session_cost_usd: true }, require: ask'), 'wrong_kind', 'the word true', 2, 60],
    [rule('when: { session_cost_usd: }, require: ask'), 'wrong_kind', 'an empty value', 2, 60],
    [rule('when: { session_cost_usd: ">= 1", session_cost_usd: "< 2" }, require: ask'), 'duplicate', 'twice', 2, 68],
    [rule(`${COST}, require: aks`), 'unknown_requirement', 'did you mean ask?', 2, 80],
    [rule(`${COST}, require: [ask]`), 'unknown_requirement', 'a list', 2, 80],
    [rule(`${COST}, require: { approver: lead }`), 'unknown_requirement', 'one word', 2, 80],
    [rule(`${COST}, require: approver`), 'unknown_requirement', 'approver', 2, 80],
    [rule(`${COST}, require: 'approver:'`), 'unknown_role', 'member, lead, admin or owner', 2, 80],
    [rule(`${COST}, require: approver:boss`), 'unknown_role', 'member, lead, admin or owner', 2, 80],
    [rule(`${COST}, require: approver:auditor`), 'unknown_role', 'answers nothing', 2, 80],
    [rule(`${COST}, require: ask, stage: enforced`), 'unknown_stage', 'did you mean enforce?', 2, 92],
    [rule(`${COST}, require: ask, stage: true`), 'unknown_stage', 'shadow or enforce', 2, 92],
    [rule(`${COST}, require: ask, sage: shadow`), 'unknown_key', 'did you mean stage?', 2, 85],
    [rule(`${COST}, require: ask, <<: { stage: enforce }`), 'unknown_key', '<<', 2, 85],
    [rule(`${COST}, require: ask, on_unknown: stop`), 'bad_value', 'pass or hold', 2, 97],
    [rule(`${COST}, require: ask, note: ''`), 'bad_value', 'empty', 2, 91],
    [rule(`${COST}, require: ask, note: "a\\u202eb"`), 'bad_value', 'direction marks', 2, 91],
    [rule(`${COST}, require: ask, note: "a\\u061cb"`), 'bad_value', 'direction marks', 2, 91],
    [rule(`${COST}, require: ask, note: ${'x'.repeat(501)}`), 'bad_value', '501 characters', 2, 91],
    [rule(`${COST}, require: ask, approvals: 2`), 'not_here', 'approver:<role>', 2, 85],
    [rule(`${COST}, require: approver:lead, approvals: 0`), 'out_of_range', '1 to 5', 2, 106],
    [rule(`${COST}, require: approver:lead, approvals: 1.5`), 'out_of_range', '1 to 5', 2, 106],
    [rule(`${COST}, require: approver:lead, approvals: many`), 'wrong_kind', '1 to 5', 2, 106],
    [rule(`${COST}, require: deny, expires: 1h`), 'not_here', 'asks', 2, 86],
    [rule(`${COST}, require: ask, expires: 4m`), 'out_of_range', '5m to 24h', 2, 94],
    [rule(`${COST}, require: ask, expires: 25h`), 'out_of_range', '5m to 24h', 2, 94],
    [rule(`${COST}, require: ask, expires: 3600`), 'bad_value', '30m or 1h', 2, 94],
    [rule(`${COST}, require: ask, step: 0`), 'out_of_range', 'more than 0', 2, 91],
    [rule(`${COST}, require: ask, step: -1`), 'bad_value', 'plain number', 2, 91],
    [rule(`${COST}, require: deny, step: 5`), 'not_here', 'asks', 2, 86],
    [
      rule('when: { plan_left_pct: "< 5" }, require: ask, step: 5'),
      'not_here',
      'session_cost_usd or budget_used_pct',
      2,
      80,
    ],
    [rule(`${COST}, require: ask, for: { tenant: x }`), 'unknown_key', 'did you mean tenants?', 2, 92],
    [rule(`${COST}, require: ask, for: {}`), 'wrong_kind', 'tenants, projects or machines', 2, 90],
    [rule(`${COST}, require: ask, for: { tenants: [] }`), 'bad_value', '0 names', 2, 101],
    [rule(`${COST}, require: ask, for: { tenants: [a b] }`), 'bad_value', 'one word', 2, 102],
    [rule(`${COST}, require: approver:lead, signed: yes`), 'wrong_kind', 'true or false', 2, 103],
    [rule(`${COST}, require: approver:lead, self: maybe`), 'bad_value', 'never, account or key', 2, 101],
    [
      rule(`${COST}, require: approver:admin, fallback: { role: lead, after: 30m }`),
      'missing',
      'loosens: true',
      2,
      114,
    ],
    [
      rule(`${COST}, require: approver:lead, fallback: { role: admin, after: 30m, loosens: true }`),
      'not_here',
      'remove loosens',
      2,
      132,
    ],
    [
      rule(`${COST}, require: approver:lead, expires: 1h, fallback: { role: admin, after: 2h }`),
      'out_of_range',
      'shorter than expires',
      2,
      140,
    ],
    [
      rule(`${COST}, require: approver:lead, fallback: { role: boss }`),
      'unknown_role',
      'member, lead, admin or owner',
      2,
      113,
    ],
    ['boundaries:\n  - { name: A, action: continue }\n', 'bad_name', 'lower-case', 2, 13],
    ['boundaries:\n  - { name: "org:x" }\n', 'bad_name', 'leave org: out', 2, 13],
    ['boundaries:\n  - { name: -x }\n', 'bad_name', 'a letter or digit first', 2, 13],
    [`boundaries:\n  - { name: ${'x'.repeat(65)} }\n`, 'bad_name', 'at most 64', 2, 13],
    ['boundaries:\n  - { action: continue }\n', 'missing', 'no name', 2, 7],
    [rule(COST, 'continu'), 'unknown_action', 'did you mean continue?', 2, 24],
    [rule(COST, 'tool_call'), 'unknown_action', 'continue, spend, subagent_model, model_route or share', 2, 24],
    ['boundaries:\n  - { name: a, action: }\n', 'unknown_action', 'an empty value is not an action', 2, 24],
    [rule(`${COST}, requre: ask`), 'unknown_key', '"requre" is not a key of a boundary', 2, 71],
    [rule(COST), 'missing', 'no require', 2, 7],
    [
      `${rule(`${COST}, require: ask`)}${rule(`${COST}, require: ask`).slice('boundaries:\n'.length)}`,
      'duplicate',
      'stands above already',
      3,
      13,
    ],
    ['boundaries:\n  - just words\n', 'wrong_kind', 'a map of keys', 2, 5],
    ['boundaries: {}\n', 'wrong_kind', 'a list', 1, 13],
    ['boundarys: []\n', 'unknown_key', 'did you mean boundaries?', 1, 1],
    ['mood: 1\n', 'unknown_key', 'boundaries and tests', 1, 1],
    ['boundaries: []\nboundaries: []\n', 'duplicate', 'twice', 2, 1],
    ['- a\n', 'wrong_kind', 'not a map of sections', 1, 1],
    ['words\n', 'wrong_kind', 'not a map of sections', 1, 1],
    ['tests:\n  - { action: continue }\n', 'missing', 'expects', 2, 5],
    [
      'tests:\n  - { action: continue, figures: { session_cost_usd: ">= 1" }, expect: pass }\n',
      'bad_value',
      'without a comparator',
      2,
      54,
    ],
    [
      'tests:\n  - { action: continue, figures: { model_tier: opus }, expect: pass }\n',
      'unknown_condition',
      'not judged by model_tier',
      2,
      36,
    ],
    ['tests:\n  - { action: continue, rule: zz, expect: pass }\n', 'bad_value', 'no boundary is called zz', 2, 31],
    ['tests:\n  - { action: continue, expect: stop }\n', 'bad_value', 'pass, allow, ask', 2, 33],
  ])('refuses %j (%s)', (text, code, words, line, column) => {
    const { errors } = parseBoundaries(text, organisation)
    const found = errors.find(error => error.code === code && `${error.message} ${error.remedy}`.includes(words))
    expect(found, JSON.stringify(errors, null, 1)).toMatchObject({ line, column })
    expect(found?.remedy).not.toBe('')
    if (line === 2 && text.includes('name: a,')) expect(found?.rule).toBe('a')
  })

  it('refuses a budget that is not there, and names the nearest', () => {
    const text = rule('when: { budget_used_pct: ">= 90", budget: montly }, require: ask', 'spend')
    expect(parseBoundaries(text, { ...organisation, budgets: ['monthly'] }).errors[0]).toMatchObject({
      code: 'unknown_budget',
      remedy: 'did you mean monthly?',
    })
    expect(parseBoundaries(text, { ...organisation, budgets: ['montly'] }).errors).toEqual([])
    const own = text.replace('montly', '"org:monthly"')
    expect(parseBoundaries(own, { ...local, budgets: ['org:monthly'] }).errors).toEqual([])
    expect(parseBoundaries(own, organisation).errors[0]).toMatchObject({ code: 'bad_value' })
  })

  it("refuses in a local file what only the organisation's approvers can do", () => {
    for (const key of ['approvals: 2', 'signed: true', 'self: never', 'fallback: { role: owner, after: 30m }']) {
      const text = rule(`${COST}, require: approver:lead, ${key}`)
      expect(parseBoundaries(text, local).errors[0]).toMatchObject({ code: 'not_here', rule: 'a' })
      expect(parseBoundaries(text, organisation).errors).toEqual([])
    }
  })

  it('takes only the roles it is given', () => {
    const text = rule(`${COST}, require: approver:member`)
    expect(parseBoundaries(text, { ...organisation, roles: ['lead', 'owner'] }).errors[0]).toMatchObject({
      code: 'unknown_role',
    })
  })

  it('warns of what always or never holds, and of sections of a local file that are not its own', () => {
    const warn = (when: string, action = 'continue') =>
      parseBoundaries(rule(`when: { ${when} }, require: ask`, action), local).warnings.map(w => w.code)
    expect(warn('session_cost_usd: ">= 0"')).toEqual(['always'])
    expect(warn('session_cost_usd: "< 0"')).toEqual(['never'])
    expect(warn('plan_left_pct: "> 100"')).toEqual(['never'])
    expect(warn('plan_left_pct: "<= 100"')).toEqual(['always'])
    expect(warn('model_tier: "> opus"', 'subagent_model')).toEqual(['never'])
    expect(warn('model_tier: ">= haiku"', 'subagent_model')).toEqual(['always'])
    expect(warn('agent_id: "== *"')).toEqual(['always'])
    expect(warn('session_cost_usd: ">= 0.01"')).toEqual([])
    expect(parseBoundaries('router: {}\n', local).warnings[0]).toMatchObject({ code: 'unknown_section' })
    expect(parseBoundaries('router: {}\n', { ...local, sections: ['router'] }).warnings).toEqual([])
  })

  it('finds every mistake of a document at once, in the order of its lines', () => {
    const text =
      'boundaries:\n  - name: a\n    action: contiue\n    require: perhaps\n  - name: b\n    action: spend\n    when: { budget_used_pct: ">= 2000" }\n    require: ask\n    stage: on\n'
    expect(parseBoundaries(text, local).errors.map(e => [e.rule, e.line, e.code])).toEqual([
      ['a', 2, 'missing'],
      ['a', 3, 'unknown_action'],
      ['a', 4, 'unknown_requirement'],
      ['b', 7, 'out_of_range'],
      ['b', 9, 'unknown_stage'],
    ])
  })
})

describe('hostile documents', () => {
  const deep = 'nests more than'
  it.each<[string, string, string]>([
    ['open brackets', '['.repeat(200_000), deep],
    ['open dashes', '- '.repeat(100_000), deep],
    ['open maps', '{a: '.repeat(50_000), deep],
    ['open keys', '? '.repeat(100_000), deep],
    ['ten megabytes', 'x'.repeat(10_000_000), '256 KiB'],
    ['256 KiB in fewer characters', `# ${'é'.repeat(140_000)}`, '256 KiB'],
    [
      'an alias bomb',
      `a: &a [x,x]\n${Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? 'a' : `b${i - 1}`}, *a]`).join('\n')}\nboundaries: *b29\n`,
      'alias',
    ],
    ['an alias to itself', 'boundaries: &a\n  - *a\n', 'an'],
    ['an anchor', 'boundaries: [ &a { name: x } ]\n', 'anchor'],
    ['a tag', 'boundaries: !!set []\n', 'tag'],
    ['a tag of a language', 'boundaries:\n  - !!js/function "x"\n', 'Unresolved tag'],
    ['two documents', '---\nboundaries: []\n---\nboundaries: []\n', 'second YAML document'],
    ['a tab', 'boundaries:\n\t- name: x\n', 'tab'],
    ['a list as key', 'boundaries:\n  - ? [a]\n    : b\n', 'a key must be a plain word'],
    ['an unquoted comparison', 'boundaries:\n  - name: a\n    when:\n      session_cost_usd: >= 20\n', 'unquoted'],
    ['an unquoted comparison on one line', 'boundaries: [{ when: { session_cost_usd: >= 20 } }]\n', 'unquoted'],
    ['too many rules', `boundaries:\n${'  - name: x\n'.repeat(201)}`, 'at most 200'],
    [
      '20 thousand keys',
      `boundaries:\n - {${Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join(', ')}}\n`,
      'not a key',
    ],
    ['another version of YAML', '%YAML 1.1\n---\nboundaries: []\n', 'YAML 1.2'],
    ['an unknown directive', '%LOVE 1\n---\nboundaries: []\n', 'directive'],
  ])('are refused with words: %s', (_, text, words) => {
    const { errors, rules } = parseBoundaries(text, organisation)
    expect(errors.map(e => `${e.message} ${e.remedy}`).join('\n')).toContain(words)
    expect(errors.length).toBeLessThanOrEqual(100)
    expect(rules).toEqual([])
  })

  it('says where: the second document, and the depth', () => {
    expect(parseBoundaries('a: 1\n---\nb: 1\n', local).errors[0]).toMatchObject({ line: 2, column: 1 })
    expect(parseBoundaries(`a:\n  ${'['.repeat(100)}`, local).errors[0]?.line).toBe(2)
  })

  it('takes a byte order mark and CRLF', () => {
    const text = `\ufeff${SEED_RULES.replaceAll('\n', '\r\n')}`
    expect(parseBoundaries(text, local).rules).toEqual(parseBoundaries(SEED_RULES, local).rules)
  })

  it('never throws, whatever the text', () => {
    const piece = fc.constantFrom(
      'boundaries',
      'tests',
      'name',
      'when',
      ':',
      ' ',
      '\n',
      '  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '"',
      "'",
      '>= 20',
      '&a',
      '*a',
      '!!t',
      '|',
      '>',
      '#',
      '?',
      '---',
      '\t',
      '\ufeff',
      '\r',
      '%',
      '@',
      '\ud800',
      '\u0000',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(piece, { maxLength: 60 }).map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(text, fc.constantFrom(local, organisation), (source, options) => {
        for (const problem of [
          ...parseBoundaries(source, options).errors,
          ...parseBoundaries(source, options).warnings,
        ]) {
          expect(problem.line).toBeGreaterThanOrEqual(1)
          expect(problem.column).toBeGreaterThanOrEqual(1)
          expect(problem.message).not.toBe('')
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('never throws on the first page with some characters changed', () => {
    fc.assert(
      fc.property(
        fc.nat(SEED_RULES.length),
        fc.nat(40),
        fc.string({ unit: 'binary', maxLength: 4 }),
        (at, cut, put) => {
          parseBoundaries(SEED_RULES.slice(0, at) + put + SEED_RULES.slice(at + cut), organisation)
        },
      ),
      { numRuns: 500 },
    )
  })
})
