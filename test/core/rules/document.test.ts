import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, parseStrictJson } from '#core/json.ts'
import { NO_TOKENS, priceCall } from '#core/pricing.ts'
import { compileRates } from '#core/rate-card/compile.ts'
import { type DocumentOptions, parseLocalDocument, parseRuleDocument } from '#core/rules/document.ts'
import { readSpend, spendToJson } from '#core/rules/json.ts'
import { chooseLocalDocument } from '#core/rules/last-good.ts'
import { rateRows } from '#core/rules/read-rates.ts'
import { DOCUMENT } from './document-text.ts'

const OPTIONS: DocumentOptions = {
  defaults: { currency: 'USD', zone: 'America/New_York' },
  tenants: ['acme', 'globex'],
  members: ['mem_a1'],
  now: Date.parse('2026-11-30T12:00:00Z'),
}

describe('a whole document', () => {
  const read = parseRuleDocument(DOCUMENT, OPTIONS)

  test('is read without a word of complaint', () => {
    expect(read.errors).toEqual([])
    expect(read.warnings).toEqual([])
    expect(read.rules.map(rule => rule.name)).toEqual(['acme-month'])
    expect(read.tests).toHaveLength(1)
  })

  test('gives budgets with everything that was left out filled in', () => {
    const rest = { basis: 'equivalent', steps: [50, 75, 90, 100], owners: ['role:admin'] }
    expect(read.budgets).toEqual([
      {
        name: 'monthly',
        amount: '500',
        currency: 'USD',
        window: { kind: 'monthly' },
        zone: 'America/New_York',
        ...rest,
      },
      {
        name: 'acme',
        amount: '12.5',
        currency: 'EUR',
        window: { kind: 'weekly' },
        zone: 'Europe/Amsterdam',
        for: { key: 'tenant', value: 'acme' },
        basis: 'billed',
        steps: [50, 90],
        owners: ['member:mem_a1', 'role:owner'],
      },
      {
        name: 'each-team',
        amount: '20',
        currency: 'USD',
        window: { kind: 'rolling', days: 30 },
        zone: 'America/New_York',
        for: { key: 'team', value: '*' },
        ...rest,
      },
    ])
  })

  test('gives lists, attribution, rates and the policy', () => {
    expect(read.tags).toEqual({ tenant: ['acme', 'globex'], project: ['billing-api'], team: ['data', 'platform'] })
    expect(read.attribution).toEqual([
      { when: { repository: 'billing-*' }, set: { tenant: 'acme', project: 'billing-api' } },
      { when: { machine: 'build-*', environment: 'CI_TEAM=data-*' }, set: { team: 'data' } },
    ])
    expect(read.rates).toEqual([
      {
        provider: 'anthropic',
        model: 'claude-opus-4-6',
        aliases: ['opus-ours'],
        from: '2026-12-01',
        until: '2027-12-01',
        input: '4.5',
        output: '22',
        cacheRead: '0.45',
      },
      {
        provider: 'anthropic',
        model: 'claude-opus-4-6',
        aliases: [],
        input: '5',
        output: '25',
        webSearches: '0.01',
        long: { above: 200_000, input: '10', output: '37.5' },
      },
    ])
    expect(read.unpriced).toEqual({ onUnpricedModel: 'max_rate', providers: ['anthropic', 'openai'] })
    expect(read.exchange).toEqual([
      { currency: 'EUR', from: '2026-01-01', perUsd: '0.92' },
      { currency: 'EUR', from: '2026-12-01', perUsd: '0.95' },
    ])
  })

  test('says where each entry stands', () => {
    expect(read.places.filter(place => place.section === 'budgets').map(p => [p.entry, p.index, p.line])).toEqual([
      ['monthly', 0, 24],
      ['acme', 1, 27],
      ['each-team', 2, 36],
    ])
    expect(read.places.filter(place => place.section === 'attribution').map(p => p.entry)).toEqual(['#1', '#2'])
  })

  test('gives rows that pricing takes, each day at its own price', () => {
    const rows = rateRows(read.rates)
    expect(rows).toHaveLength(1)
    const rates = compileRates(
      { name: 'none', rows: [] },
      { onUnpricedModel: 'max_rate', providers: ['anthropic'] },
      { name: 'ours', rows },
    )
    const cost = (day: string) =>
      priceCall(rates, { model: 'opus-ours', atMs: Date.parse(day), tokens: { ...NO_TOKENS, input: 1000 } }).picoUsd
    expect(cost('2026-11-30T23:59:59Z')).toBe(5_000_000_000n)
    expect(cost('2026-12-01T00:00:00Z')).toBe(4_500_000_000n)
  })

  test('goes through the signed set and comes back the same', () => {
    const { budgets, tags, renames, attribution, rates, unpriced, exchange } = read
    const signed = parseStrictJson(canonicalJson(spendToJson(read))) as never
    const whole = { budgets, tags, renames, attribution, rates, unpriced, exchange }
    expect(readSpend(signed)).toEqual({ ...whole, unsupported: [] })
    expect([renames, rates[0]!.until]).toEqual([[{ key: 'team', from: 'infra', to: 'platform' }], '2027-12-01'])
  })
})

test('a document without these sections has nothing signed for them', () => {
  for (const text of ['', 'boundaries: []\n', 'tags:\nattribution:\nbudgets:\nrates:\nunpriced:\n']) {
    const read = parseRuleDocument(text)
    expect(read.errors).toEqual([])
    expect(spendToJson(read)).toEqual({ budgets: [], rateCard: [], attribution: [] })
    expect(readSpend(spendToJson(read) as never)).toMatchObject({ tags: { tenant: [], project: [] }, unsupported: [] })
  }
})

test('two spellings of one document are signed as one', () => {
  const other = DOCUMENT.replace('"500.00"', '500')
    .replace('[globex, acme]', '[acme, globex]')
    .replace('window: 1w', 'window: weekly')
    .replace('steps: [90, 50]', 'steps: [50, 90, 50]')
  expect(other).not.toBe(DOCUMENT)
  const json = (text: string) => canonicalJson(spendToJson(parseRuleDocument(text, OPTIONS)))
  expect(json(other)).toBe(json(DOCUMENT))
})

const budget = (rest: string) =>
  `tags: { tenant: [acme], team: [a] }\nbudgets:\n  - { name: b, amount: 5, window: daily, ${rest} }\n`
const amount = (text: string) => `budgets:\n  - { name: b, amount: ${text}, window: daily }\n`
const rate = (rest: string) => `rates:\n  - { model: m, provider: anthropic, input: "1", output: "2", ${rest} }\n`
const exchange = (entry: string) => `exchange:\n  - { ${entry} }\n`
const rule = (rest: string) =>
  `tags: { tenant: [acme] }\nattribution:\n  - ${rest}\nbudgets:\n  - { name: b, amount: 5, window: daily }\n`
const bound = (rest: string) =>
  `boundaries:\n  - { name: a, action: spend, when: { budget_used_pct: ">= 90" }, require: ask, ${rest} }\ntags: { tenant: [acme] }\n`

test('where no project is listed, a boundary may name any: a repository’s name stands for it', () => {
  expect(parseRuleDocument(bound('for: { projects: [web, "api-*"] }'), OPTIONS).errors).toEqual([])
})

describe('a mistake is refused with its place and a remedy', () => {
  test.each([
    // amounts
    ['a negative amount', amount('-5'), 2, 'out_of_range', 'write a plain decimal'],
    ['a float that is none', amount('1e3'), 2, 'bad_value', 'write a plain decimal'],
    ['a hexadecimal amount', amount('0x10'), 2, 'bad_value', 'write a plain decimal'],
    ['an infinite amount', amount('.inf'), 2, 'bad_value', 'write a plain decimal'],
    ['a currency sign', amount('"$1,000"'), 2, 'bad_value', 'write "1000"'],
    ['an amount beyond sense', amount('1000000000.01'), 2, 'out_of_range', 'use at most 1000000000'],
    ['too many places', amount('"0.1234567"'), 2, 'bad_value', 'six|6 decimal places'],
    ['a list for an amount', amount('[5]'), 2, 'bad_value', 'write a plain decimal'],
    // budgets
    ['no amount', 'budgets:\n  - { name: b, window: daily }\n', 2, 'missing', 'add amount'],
    ['no window', 'budgets:\n  - { name: b, amount: 5 }\n', 2, 'missing', 'add window'],
    ['no name', 'budgets:\n  - { amount: 5, window: daily }\n', 2, 'missing', 'add name'],
    ['a bad name', 'budgets:\n  - { name: My Budget, amount: 5, window: daily }\n', 2, 'bad_name', 'lower-case'],
    ['a name twice', `${amount('5')}  - { name: b, amount: 6, window: daily }\n`, 3, 'duplicate', 'a name of its own'],
    ['an unknown key', budget('limit: 3'), 3, 'unknown_key', 'use name'],
    ['a slip in a key', budget('onwers: [role:admin]'), 3, 'unknown_key', 'did you mean owners\\?'],
    ['a bare number of days', 'budgets:\n  - { name: b, amount: 5, window: 30d }\n', 2, 'bad_value', 'rolling 30d for'],
    ['a slip in a window', 'budgets:\n  - { name: b, amount: 5, window: monthy }\n', 2, 'bad_value', 'mean monthly\\?'],
    ['an unknown zone', budget('zone: Europe/Amsterdan'), 3, 'unknown_zone', 'did you mean Europe/Amsterdam\\?'],
    ['an offset for a zone', budget('zone: "+02:00"'), 3, 'unknown_zone', 'Europe/Amsterdam'],
    ['a currency that is none', budget('currency: DOLLARS'), 3, 'bad_value', 'three letters'],
    ['a currency without a rate', budget('currency: JPY'), 3, 'missing', 'add one for JPY under exchange'],
    ['an unlisted tenant', budget('for: { tenant: acmee }'), 3, 'unknown_tag', 'did you mean acme\\?'],
    ['an unlisted key', budget('for: { squad: a }'), 3, 'unknown_key', 'list squad under tags'],
    ['two keys', budget('for: { tenant: acme, team: a }'), 3, 'bad_value', 'another budget'],
    ['a pattern for a value', budget('for: { tenant: "ac*" }'), 3, 'bad_value', 'a budget for each'],
    ['an unknown member', budget('for: { member: mem_zz }'), 3, 'unknown_tag', 'name a member'],
    ['a step of nothing', budget('steps: [0]'), 3, 'out_of_range', 'from 1 to 1000'],
    ['a broken step', budget('steps: [50.5]'), 3, 'bad_value', 'from 1 to 1000'],
    ['an unknown basis', budget('basis: biled'), 3, 'bad_value', 'did you mean billed\\?'],
    ['an unknown role', budget('owners: [role:boss]'), 3, 'unknown_role', 'role:member'],
    ['an owner who is gone', budget('owners: [member:mem_gone]'), 3, 'bad_value', 'name a member'],
    ['an owner by mail', budget('owners: [a@b.c]'), 3, 'bad_value', 'write role:admin'],
    // tags
    ['a tag key of another meaning', 'tags: { model: [a] }\n', 1, 'bad_name', 'another word'],
    ['a tag value that is prose', 'tags: { team: ["the platform team"] }\n', 1, 'bad_name', 'lower-case'],
    ['a value twice', 'tags: { team: [a, a] }\n', 1, 'duplicate', 'keep one'],
    ['a tenant that is not there', 'tags: { tenant: [nobody] }\n', 1, 'unknown_tag', 'make the tenant first'],
    ['too many keys', 'tags: { a: [x], b: [x], c: [x], d: [x], e: [x], f: [x], g: [x] }\n', 1, 'too_many', 'at most 8'],
    // attribution
    ['an unlisted value', rule('{ when: { repository: a }, set: { tenant: globex } }'), 3, 'unknown_tag', 'under tags'],
    [
      'an unlisted key',
      rule('{ when: { repository: a }, set: { team: a } }'),
      3,
      'unknown_tag',
      'list team under tags',
    ],
    ['an unknown condition', rule('{ when: { repo: a }, set: { tenant: acme } }'), 3, 'unknown_key', 'use repository'],
    ['no condition', rule('{ when: {}, set: { tenant: acme } }'), 3, 'missing', 'write when'],
    ['nothing set', rule('{ when: { repository: a }, set: {} }'), 3, 'missing', 'write set'],
    ['no variable', rule('{ when: { environment: "a*" }, set: { tenant: acme } }'), 3, 'bad_value', 'NAME=pattern'],
    // rates
    ['a negative price', rate('cache_read: -1'), 2, 'out_of_range', 'plain decimal'],
    ['an absurd price', rate('cache_read: 1000000'), 2, 'out_of_range', 'at most 100000'],
    ['a currency', rate('currency: EUR'), 2, 'unknown_key', 'convert the prices'],
    [
      'an unknown provider',
      'rates:\n  - { model: m, provider: anthropics, input: 1, output: 2 }\n',
      2,
      'bad_value',
      'mean anthropic\\?',
    ],
    [
      'a pattern for a model',
      'rates:\n  - { model: "claude-*", provider: anthropic, input: 1, output: 2 }\n',
      2,
      'bad_name',
      'without wildcards',
    ],
    ['no output price', 'rates:\n  - { model: m, provider: anthropic, input: 1 }\n', 2, 'missing', 'add output'],
    ['a day that is none', rate('from: 2026-02-30'), 2, 'bad_value', '2026-12-01'],
    ['a year that is none', rate('from: 1970-01-01'), 2, 'out_of_range', 'correct the year'],
    [
      'one model and day twice',
      `${rate('')}  - { model: m, provider: anthropic, input: "3", output: "4" }\n`,
      3,
      'overlap',
      'another from',
    ],
    [
      'one alias for two models',
      `${rate('aliases: [x]')}  - { model: n, provider: anthropic, input: 1, output: 1, aliases: [x] }\n`,
      3,
      'overlap',
      'one model',
    ],
    [
      "another rate's model as alias",
      `${rate('aliases: [n]')}  - { model: n, provider: anthropic, input: 1, output: 1 }\n`,
      2,
      'overlap',
      'one model',
    ],
    ['an end before the beginning', rate('from: 2026-03-01, until: 2026-03-01'), 2, 'out_of_range', 'correct one'],
    [
      'a price that ends after the next one begins',
      `${rate('until: 2026-06-02')}  - { model: m, provider: anthropic, from: 2026-06-01, input: 1, output: 1 }\n`,
      2,
      'overlap',
      'end this one on 2026-06-01',
    ],
    ['an unknown key of long', rate('long: { over: 5 }'), 2, 'unknown_key', 'use above'],
    [
      'a policy that is none',
      'unpriced: { on_unpriced_model: max_rates }\n',
      1,
      'bad_value',
      'did you mean max_rate\\?',
    ],
    ['a provider that is none', 'unpriced: { providers: [acme] }\n', 1, 'bad_value', 'use anthropic'],
    // across sections
    [
      'a budget that is not there',
      bound('stage: shadow').replace('>= 90"', '>= 90", budget: month'),
      2,
      'unknown_budget',
      'no budgets yet',
    ],
    [
      'a case with a budget that is not there',
      'tests:\n  - { action: spend, figures: { budget_used_pct: 5, budget: month }, expect: pass }\n',
      2,
      'unknown_budget',
      'name a budget',
    ],
    ['a tenant in for: on no list', bound('for: { tenants: [acmee] }'), 2, 'unknown_tag', 'did you mean acme\\?'],
    [
      'a project in for: that is not on the list',
      bound('for: { projects: [web] }').replace('tenant: [acme]', 'tenant: [acme], project: [webb]'),
      2,
      'unknown_tag',
      'did you mean webb\\?',
    ],
    [
      'a tenant in for: where none is listed',
      bound('for: { tenants: [acme] }').replace('[acme] }\n', '[] }\n'),
      2,
      'unknown_tag',
      'under tags',
    ],
    ['a pattern in for: that matches nothing', bound('for: { tenants: ["glo*"] }'), 2, 'unknown_tag', 'under tags'],
    // exchange
    [
      'a currency for dollars',
      exchange('currency: USD, from: 2026-01-01, per_usd: 1'),
      2,
      'bad_value',
      'another currency',
    ],
    ['a code in small letters', exchange('currency: eur, from: 2026-01-01, per_usd: 1'), 2, 'bad_value', 'write EUR'],
    ['a code of no currency', exchange('currency: EUX, from: 2026-01-01, per_usd: 1'), 2, 'bad_value', 'such as EUR'],
    ['a rate of nothing', exchange('currency: EUR, from: 2026-01-01, per_usd: "0.0"'), 2, 'out_of_range', '0\\.92'],
    [
      'a rate below nothing',
      exchange('currency: EUR, from: 2026-01-01, per_usd: -1'),
      2,
      'out_of_range',
      'plain decimal',
    ],
    [
      'a rate of seven places',
      exchange('currency: EUR, from: 2026-01-01, per_usd: 0.9200001'),
      2,
      'bad_value',
      '6 decimal',
    ],
    ['a rate from no day', exchange('currency: EUR, from: 2026-02-30, per_usd: 1'), 2, 'bad_value', '2026-12-01'],
    ['a rate without a day', exchange('currency: EUR, per_usd: 1'), 2, 'missing', 'add from'],
    ['a day without a rate', exchange('currency: EUR, from: 2026-01-01'), 2, 'missing', 'add per_usd'],
    [
      'a slip in a key of it',
      exchange('currency: EUR, from: 2026-01-01, per_used: 1'),
      2,
      'unknown_key',
      'mean per_usd\\?',
    ],
    [
      'one currency and day twice',
      `${exchange('currency: EUR, from: 2026-01-01, per_usd: 1')}  - { currency: EUR, from: 2026-01-01, per_usd: 2 }\n`,
      3,
      'overlap',
      'another from',
    ],
    [
      'a budget whose window begins before its first rate',
      `budgets:\n  - name: b\n    amount: 5\n    currency: EUR\n    window: monthly\n${exchange('currency: EUR, from: 2026-11-02, per_usd: 1')}`,
      4,
      'missing',
      'from 2026-11-01 or an earlier day',
    ],
    // the document
    ['an unknown section', 'mood: good\n', 1, 'unknown_key', 'exchange and covered'],
    ['a slip in a section', 'budget: []\n', 1, 'unknown_key', 'did you mean budgets\\?'],
    ['a section twice', 'budgets: []\nbudgets: []\n', 2, 'duplicate', 'keep one'],
    ['a map for a list', 'budgets: { a: 1 }\n', 1, 'wrong_kind', 'with a dash'],
    ['an alias of YAML', 'tags: { team: &x [a] }\n', 1, 'yaml', 'write the value out'],
  ])('%s', (_, text, line, code, remedy) => {
    const { errors } = parseRuleDocument(text, OPTIONS)
    const found = errors.find(error => error.code === code)
    expect(found, JSON.stringify(errors, null, 1)).toMatchObject({ line })
    expect(found!.column).toBeGreaterThan(0)
    expect(found!.remedy).toMatch(new RegExp(remedy))
  })

  test('and it is named for what it is in', () => {
    const { errors } = parseRuleDocument(DOCUMENT.replace('zone: Europe/Amsterdam', 'zone: Mars/Olympus'), OPTIONS)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({ section: 'budgets', entry: 'acme', line: 31, column: 11, code: 'unknown_zone' })
    const second = parseRuleDocument(rate('cache_read: -1'), OPTIONS).errors[0]
    expect(second).toMatchObject({ section: 'rates', entry: 'm' })
  })

  test('a mistake in a budget is not also one of the boundary that names it', () => {
    const { errors } = parseRuleDocument(DOCUMENT.replace('amount: 12.5', 'amount: -12.5'), OPTIONS)
    expect(errors.map(({ code }) => code)).toEqual(['out_of_range'])
  })
})

describe('what is allowed and said aloud', () => {
  test.each([
    ['models without a price cost nothing', 'unpriced: { on_unpriced_model: zero }\n', 'downgrade'],
    ['days before a first price', rate('from: 2026-12-01'), 'gap'],
    [
      "everybody is judged by one tenant's budget",
      DOCUMENT.replace('    for: { tenants: [acme] }\n', ''),
      'other_scope',
    ],
  ])('%s', (_, text, code) => {
    const { errors, warnings } = parseRuleDocument(text, { ...OPTIONS, isOnCard: () => false })
    expect(errors).toEqual([])
    expect(warnings.filter(warning => warning.code === code)).toHaveLength(1)
  })

  test('no warning of days that the card has prices for', () => {
    expect(parseRuleDocument(rate('from: 2026-12-01'), { isOnCard: () => true }).warnings).toEqual([])
  })
})

describe('budgets of other currencies', () => {
  const doc = (from: string, zone = 'UTC') =>
    `budgets:\n  - { name: b, amount: 5, currency: EUR, window: monthly, zone: ${zone} }\n${exchange(`currency: EUR, from: ${from}, per_usd: 1`)}`
  const errors = (text: string, options: DocumentOptions = OPTIONS) => parseRuleDocument(text, options).errors

  test('need a rate for the UTC day in which their window begins', () => {
    expect(errors(doc('2026-11-01'))).toEqual([])
    expect(errors(doc('2026-11-02'))[0]!.message).toBe(
      'there is no exchange rate for EUR on 2026-11-01, where the window of b begins',
    )
    // the month begins in Amsterdam an hour before it does in UTC
    expect(errors(doc('2026-11-01', 'Europe/Amsterdam'))[0]!.message).toContain('on 2026-10-31')
    expect(errors(doc('2026-10-31', 'Europe/Amsterdam'))).toEqual([])
  })

  test('take the billing currency where they do not say, and that one needs a rate of today itself', () => {
    const defaults = { currency: 'EUR', zone: 'UTC' }
    const text = 'budgets:\n  - { name: b, amount: 5, window: monthly }\n'
    const rates = (from: string) => exchange(`currency: EUR, from: ${from}, per_usd: 1`)
    const read = parseRuleDocument(text + rates('2026-11-01'), { ...OPTIONS, defaults })
    expect(read.errors).toEqual([])
    expect(read.budgets[0]!.currency).toBe('EUR')
    expect(errors(text, { ...OPTIONS, defaults })).toMatchObject([
      { line: 1, column: 1, remedy: 'add one for EUR under exchange, from 2026-11-30 or an earlier day' },
      { line: 2, section: 'budgets', entry: 'b' },
    ])
    expect(errors('', { ...OPTIONS, defaults })).toMatchObject([{ line: 1, code: 'missing' }])
    expect(errors(rates('2026-12-01'), { ...OPTIONS, defaults })).toMatchObject([{ line: 1, code: 'missing' }])
    expect(errors(rates('2026-11-30'), { ...OPTIONS, defaults })).toEqual([])
  })

  test('are signed with the rates in one order, and without any where there is none', () => {
    const two =
      'exchange:\n  - { currency: JPY, from: 2026-01-01, per_usd: 150 }\n  - { currency: EUR, from: 2026-01-01, per_usd: "0.90" }\n'
    expect(spendToJson(parseRuleDocument(two)).exchange).toEqual([
      { currency: 'EUR', from: '2026-01-01', per_usd: '0.9' },
      { currency: 'JPY', from: '2026-01-01', per_usd: '150' },
    ])
    expect(Object.keys(spendToJson(parseRuleDocument('')))).not.toContain('exchange')
  })

  test('of a set of a newer version keep the rates that can be read', () => {
    const rate = { currency: 'EUR', from: '2026-01-01', per_usd: '0.9' }
    const set = { budgets: [], rateCard: [], attribution: [], exchange: [rate, { ...rate, fee: '1' }, 5, rate] }
    const { exchange: rates, unsupported } = readSpend(set)
    expect(rates).toEqual([{ currency: 'EUR', from: '2026-01-01', perUsd: '0.9' }])
    expect(unsupported.map(({ section, name }) => [section, name])).toEqual([
      ['exchange', 'EUR'],
      ['exchange', '#3'],
      ['exchange', 'EUR'],
    ])
  })
})

describe('a set of a newer version', () => {
  const good = spendToJson(parseRuleDocument(DOCUMENT, OPTIONS))

  test('loses only the entries that cannot be read, and lists them', () => {
    const set = {
      budgets: [...good.budgets, { ...good.budgets[0], name: 'newer', carry_over: true }, 'nonsense'],
      rateCard: [
        { ...good.rateCard[0]!, fees: [], rates: [...(good.rateCard[0]!.rates as []), { model: 'x', per: 'second' }] },
      ],
      attribution: [
        {
          ...good.attribution[0]!,
          rules: [{ when: { branch: 'main' }, set: { tenant: 'acme' } }, ...(good.attribution[0]!.rules as [])],
        },
      ],
    }
    const read = readSpend(set)
    expect(read.budgets.map(({ name }) => name)).toEqual(['monthly', 'acme', 'each-team'])
    expect(read.rates).toHaveLength(2)
    expect(read.attribution).toHaveLength(2)
    expect(read.unsupported.map(({ section, name }) => [section, name])).toEqual([
      ['budgets', 'newer'],
      ['budgets', '#5'],
      ['attribution', '#1'],
      ['rateCard', 'fees'],
      ['rateCard', 'x'],
    ])
    expect(read.unsupported.every(({ reason }) => reason !== '')).toBe(true)
  })

  test('with one name for two budgets keeps the first and lists the second', () => {
    const [first] = good.budgets
    const read = readSpend({ ...good, budgets: [first!, { ...first!, amount: '9999' }] })
    expect(read.budgets.map(({ amount }) => amount)).toEqual(['500'])
    expect(read.unsupported).toEqual([{ section: 'budgets', name: 'monthly', reason: 'the name stands twice' }])
  })

  test('no content of these sections makes reading fail', () => {
    const any = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 3 })
    const nearly = fc.constantFrom(...good.budgets, ...good.rateCard, ...good.attribution)
    const list = fc.oneof(any, fc.array(fc.oneof(fc.jsonValue(), nearly), { maxLength: 4 }))
    fc.assert(
      fc.property(list, list, list, (budgets, rateCard, attribution) => {
        expect(() => readSpend({ budgets, rateCard, attribution })).not.toThrow()
      }),
    )
  })
})

test('no text makes parsing fail', () => {
  const parts = DOCUMENT.split(/(?<=[\s:,{}[\]])/)
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 5 })), { maxLength: 60 }),
      words => {
        expect(() => parseRuleDocument(words.join(''))).not.toThrow()
        expect(() => parseLocalDocument(words.join(''), { zone: 'UTC' })).not.toThrow()
      },
    ),
  )
})

describe("a developer's own budgets", () => {
  const local = (text: string, organisationBudgets?: string[]) =>
    parseLocalDocument(text, {
      zone: 'Europe/Paris',
      other: ['routing'],
      ...(organisationBudgets ? { organisationBudgets } : {}),
    })

  test('are for this workspace unless they say another scope', () => {
    const { budgets, errors, warnings } = local(
      'budgets:\n  - { name: day, amount: 5.00, window: daily }\n  - { name: all, amount: "20", window: weekly, scope: global, zone: UTC, steps: [80] }\n' +
        '  - { name: clients, amount: 50, window: monthly, scope: "tag:tenant" }\nrouting: {}\n',
    )
    expect([errors, warnings]).toEqual([[], []])
    const rest = { zone: 'Europe/Paris', basis: 'equivalent', steps: [50, 75, 90, 100] }
    expect(budgets).toEqual([
      { name: 'day', amount: '5', window: { kind: 'daily' }, scope: 'workspace', ...rest },
      { name: 'all', amount: '20', window: { kind: 'weekly' }, scope: 'global', ...rest, zone: 'UTC', steps: [80] },
      { name: 'clients', amount: '50', window: { kind: 'monthly' }, scope: 'tag:tenant', ...rest },
    ])
  })

  test.each([
    ['an unknown scope', 'budgets:\n  - { name: a, amount: 5, window: daily, scope: repo }\n', 'bad_value'],
    [
      "a key of an organisation's budget",
      'budgets:\n  - { name: a, amount: 5, window: daily, owners: [role:admin] }\n',
      'unknown_key',
    ],
    ['a negative amount', 'budgets:\n  - { name: a, amount: -5, window: daily }\n', 'out_of_range'],
  ])('%s is refused', (_, text, code) => {
    expect(local(text).errors).toMatchObject([{ code, line: 2 }])
  })

  const rule = (name: string) =>
    `boundaries:\n  - { name: a, action: spend, when: { budget_used_pct: ">= 90", budget: "${name}" }, require: ask }\nbudgets:\n  - { name: day, amount: 5, window: daily }\n`

  test("a boundary names one of them, or one of the organisation's; an unknown name is refused", () => {
    expect(local(rule('day')).errors).toEqual([])
    expect(local(rule('dya')).errors).toMatchObject([
      { rule: 'a', code: 'unknown_budget', remedy: 'did you mean day?' },
    ])
    expect(local(rule('org:month')).errors).toEqual([])
    expect(local(rule('org:month'), ['month']).errors).toEqual([])
    expect(local(rule('org:month'), ['week']).errors).toMatchObject([{ code: 'unknown_budget' }])
  })
})

describe('a broken config.yaml', () => {
  const options = { zone: 'UTC' }
  const good = 'budgets:\n  - { name: day, amount: 5, window: daily }\n'
  const broken = good.replace('5', 'five')

  test('leaves the budgets of its last good text in force, with the error told', () => {
    expect(chooseLocalDocument({ text: good, lastGoodText: broken, options })).toMatchObject({
      source: 'current',
      errors: [],
    })
    const kept = chooseLocalDocument({ text: broken, lastGoodText: good, options })
    expect(kept).toMatchObject({ source: 'last-good', budgets: [{ name: 'day' }], errors: [{ line: 2 }] })
  })

  test('without a last good text has no budgets, said aloud; one that is not there is no error', () => {
    for (const lastGood of [{}, { lastGoodText: broken }])
      expect(chooseLocalDocument({ text: broken, ...lastGood, options })).toMatchObject({
        source: 'none',
        budgets: [],
        errors: [{ line: 2 }],
      })
    expect(chooseLocalDocument({ text: undefined, options })).toMatchObject({ source: 'none', errors: [] })
  })
})
