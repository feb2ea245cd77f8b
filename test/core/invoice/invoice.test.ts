import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { readAnthropicCosts } from '#core/invoice/anthropic.ts'
import { readInvoiceCsv, readLine } from '#core/invoice/csv-lines.ts'
import { type InvoiceLine, numberText, picoOf } from '#core/invoice/line.ts'
import { readOpenAiCosts } from '#core/invoice/openai.ts'
import { reconcile, spreadDifference } from '#core/invoice/reconcile.ts'

const usd = (text: string) => parseDecimal(text)!
const shown = (lines: InvoiceLine[]) =>
  lines.map(l => [l.day, l.model, l.description, l.currency, formatDecimal(l.pico)])

const anthropicDay = (day: string, results: object[], over: object = {}) => ({
  starting_at: `${day}T00:00:00Z`,
  ending_at: new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString(),
  results,
  ...over,
})
const anthropicLine = (over: object = {}) => ({
  currency: 'USD',
  amount: '123.78912',
  workspace_id: 'wrkspc_1',
  description: 'Claude Opus 4.5 Usage - Input Tokens',
  cost_type: 'tokens',
  context_window: '0-200k',
  model: 'claude-opus-4-5',
  service_tier: 'standard',
  token_type: 'uncached_input_tokens',
  ...over,
})
const anthropic = (data: object[], over: object = {}) => ({ data, has_more: false, next_page: null, ...over })

describe("Anthropic's cost report", () => {
  test('is in cents, by UTC day, with the model where it was asked for', () => {
    const report = anthropic([
      anthropicDay('2026-11-29', [
        anthropicLine(),
        anthropicLine({ model: null, description: null, cost_type: 'web_search', amount: '-10' }),
      ]),
      anthropicDay('2026-11-30', [{ currency: 'USD', amount: '0.00000000000000000001' }]),
    ])
    expect(shown(readAnthropicCosts(JSON.stringify(report)))).toEqual([
      ['2026-11-29', 'claude-opus-4-5', 'Claude Opus 4.5 Usage - Input Tokens', 'USD', '1.2378912'],
      ['2026-11-29', undefined, 'web_search', 'USD', '-0.1'],
      ['2026-11-30', undefined, undefined, 'USD', '0'],
    ])
  })

  test('may be several pages, the last of which is the last', () => {
    const first = anthropic([anthropicDay('2026-11-29', [anthropicLine()])], { has_more: true, next_page: 'page_x' })
    const last = anthropic([anthropicDay('2026-11-30', [anthropicLine()])])
    expect(readAnthropicCosts(JSON.stringify([first, last]))).toHaveLength(2)
    expect(() => readAnthropicCosts(JSON.stringify(first))).toThrow('the report goes on')
    expect(() => readAnthropicCosts(JSON.stringify([last, last]))).toThrow(
      '[1].data[0].starting_at: 2026-11-30 stands above already',
    )
  })

  test.each([
    ['no JSON', '{', 'the report: it is not JSON'],
    ['no page', '[]', 'it has no page'],
    ['another document', '{"object":"page"}', 'data: '],
    [
      'an amount that is a number',
      anthropic([anthropicDay('2026-11-29', [anthropicLine({ amount: 1 })])]),
      'data[0].results[0].amount',
    ],
    [
      'an amount in words',
      anthropic([anthropicDay('2026-11-29', [anthropicLine({ amount: '1,5' })])]),
      'data[0].results[0].amount: an amount is a decimal text',
    ],
    [
      'a currency in small letters',
      anthropic([anthropicDay('2026-11-29', [anthropicLine({ currency: 'usd' })])]),
      'data[0].results[0].currency: a currency is three capital letters',
    ],
    [
      'an hour',
      anthropic([anthropicDay('2026-11-29', [], { starting_at: '2026-11-29T01:00:00Z' })]),
      'data[0].starting_at: a bucket is one UTC day',
    ],
    [
      'a week',
      anthropic([anthropicDay('2026-11-22', [], { ending_at: '2026-11-29T00:00:00Z' })]),
      'a bucket is one UTC day',
    ],
  ])('with %s is refused with the place', (_what, report, message) => {
    expect(() => readAnthropicCosts(typeof report === 'string' ? report : JSON.stringify(report))).toThrow(message)
  })
})

const openAi = (results: object[], over: object = {}) =>
  JSON.stringify({
    object: 'page',
    data: [{ object: 'bucket', start_time: 1_764_460_800, end_time: 1_764_547_200, results, ...over }],
    has_more: false,
    next_page: null,
  })
const openAiLine = (value: unknown, over: object = {}) => ({
  object: 'organization.costs.result',
  amount: { value, currency: 'usd' },
  line_item: null,
  project_id: null,
  ...over,
})

describe("OpenAI's costs", () => {
  test('are in dollars, with the model in the line item', () => {
    const report = openAi([
      openAiLine(0.06),
      openAiLine(0.1 + 0.2, { line_item: 'gpt-5.5-2026-04-24, cached input' }),
      openAiLine(1.5e-7, { line_item: 'GPT-5.5, output' }),
      openAiLine('12.000000000000000', { line_item: 'Image models' }),
    ])
    expect(shown(readOpenAiCosts(report))).toEqual([
      ['2025-11-30', undefined, undefined, 'USD', '0.06'],
      ['2025-11-30', 'gpt-5.5-2026-04-24', 'gpt-5.5-2026-04-24, cached input', 'USD', '0.3'],
      ['2025-11-30', 'gpt-5.5', 'GPT-5.5, output', 'USD', '0.00000015'],
      ['2025-11-30', undefined, 'Image models', 'USD', '12'],
    ])
  })

  test.each([
    [
      'another object',
      openAi([{ ...openAiLine(1), object: 'organization.usage.completions.result' }]),
      'data[0].results[0].object',
    ],
    ['no amount', openAi([{ object: 'organization.costs.result' }]), 'data[0].results[0].amount'],
    ['an amount in words', openAi([openAiLine('a lot')]), 'data[0].results[0].amount.value: an amount is a number'],
    ['half a day', openAi([], { start_time: 1_764_460_801 }), 'data[0].start_time: a bucket is one UTC day'],
    ['a time before there was one', openAi([], { start_time: -86_400 }), 'data[0].start_time'],
  ])('with %s are refused with the place', (_what, report, message) => {
    expect(() => readOpenAiCosts(report)).toThrow(message)
  })

  test('a number is read digit by digit', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), value => {
        const text = numberText(value)
        expect(text).toMatch(/^-?\d+(\.\d+)?$/)
        expect(Number(text)).toBe(Object.is(value, -0) ? 0 : value)
      }),
    )
    expect(picoOf('0.0000000000005')).toBe(1n)
  })
})

describe('an invoice as CSV', () => {
  test('has the columns it names, in any order', () => {
    const text = 'Amount,day,model,description\r\n1234.50,2026-11-30,claude-opus-4-5,"Opus, input"\r\n-3,,,\r\n'
    expect(shown(readInvoiceCsv(text, 'EUR'))).toEqual([
      ['2026-11-30', 'claude-opus-4-5', 'Opus, input', 'EUR', '1234.5'],
      [undefined, undefined, undefined, 'EUR', '-3'],
    ])
    expect(readInvoiceCsv('amount,currency\n1,USD\n', 'EUR')[0]!.currency).toBe('USD')
  })

  test.each([
    ['', 'line 1: the file is empty'],
    ['day\n2026-11-30\n', 'line 1: there is no column amount'],
    ['amonut\n1\n', 'line 1, column 1: did you mean amount'],
    ['amount,Amount\n1,1\n', 'line 1, column 2: amount stands twice'],
    ['amount,day\n1\n', 'line 2: it has 1 cells'],
    ['amount,day\n1,30.11.2026\n', 'line 2, column 2: write a day as 2026-11-30'],
    ['amount,day\n1,2026-02-30\n', 'line 2, column 2'],
    ['day,amount\n2026-11-30,"1,234.50"\n', 'line 2, column 2: write an amount as 1234.50'],
    ['amount\n\n$5\n', 'line 3, column 1'],
    ['amount,model\n1,two words\n', 'line 2, column 2: this is no id'],
    ['amount,currency\n1,usd\n', 'line 2, column 2: a currency'],
    ['amount\n"1\n', 'line 2, column 1: a quote is opened here'],
  ])('%j is refused with the place', (text, message) => {
    expect(() => readInvoiceCsv(text, 'USD')).toThrow(message)
  })

  test('one line may come from a form, and is refused by the same words', () => {
    expect(readLine({ amount: '5' }, 'USD')).toEqual({ currency: 'USD', pico: usd('5') })
    expect(() => readLine({ amount: '' }, 'USD')).toThrow('amount: write an amount')
  })
})

describe('reconciliation', () => {
  const line = (amount: string, more: Partial<InvoiceLine> = {}): InvoiceLine => ({
    currency: 'USD',
    pico: usd(amount),
    ...more,
  })
  const own = [
    { day: '2026-11-29', model: 'claude-opus-4-5', pico: usd('10') },
    { day: '2026-11-30', model: 'claude-opus-4-5', pico: usd('4') },
    { day: '2026-11-30', pico: usd('1') },
  ]
  const rows = (r: ReturnType<typeof reconcile>) =>
    r.rows.map(x => [x.day, x.model, formatDecimal(x.ours), formatDecimal(x.theirs), formatDecimal(x.difference)])

  test('is by day and model, a dated id meeting its alias; the rest is unexplained', () => {
    const invoice = [
      line('11', { day: '2026-11-29', model: 'claude-opus-4-5-20251101' }),
      line('2', { day: '2026-11-30', model: 'claude-haiku-4-5' }),
      line('3', { day: '2026-11-30', description: 'Web search' }),
      line('-5', { description: 'Credit' }),
    ]
    const result = reconcile(own, invoice, id => id.replace(/-20\d{6}$/, ''))
    expect(rows(result)).toEqual([
      ['2026-11-29', 'claude-opus-4-5', '10', '11', '1'],
      ['2026-11-30', 'claude-haiku-4-5', '0', '2', '2'],
      ['2026-11-30', 'claude-opus-4-5', '4', '0', '-4'],
    ])
    expect(result.unexplained).toMatchObject({ ours: usd('1'), theirs: usd('-2'), difference: usd('-3') })
    expect(result.unexplained.lines).toHaveLength(2)
    expect(result).toMatchObject({ ours: usd('15'), theirs: usd('11'), difference: usd('-4') })
  })

  test('of a sum alone is of sums, of days alone by day', () => {
    expect(rows(reconcile(own, [line('20')]))).toEqual([[undefined, undefined, '15', '20', '5']])
    expect(rows(reconcile(own, [line('9', { day: '2026-11-29' }), line('6', { day: '2026-11-30' })]))).toEqual([
      ['2026-11-29', undefined, '10', '9', '-1'],
      ['2026-11-30', undefined, '5', '6', '1'],
    ])
    expect(reconcile(own, []).difference).toBe(usd('-15'))
  })

  test('rows and what is unexplained are the whole difference, whatever the invoice says', () => {
    const amount = fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n })
    const day = fc.constantFrom('2026-11-29', '2026-11-30')
    const model = fc.constantFrom('a', 'b')
    const anyLine = fc.record(
      { day, model, pico: amount, currency: fc.constant('USD') },
      { requiredKeys: ['pico', 'currency'] },
    )
    const anyOwn = fc.record({ day, model, pico: amount }, { requiredKeys: ['day', 'pico'] })
    fc.assert(
      fc.property(fc.array(anyOwn, { maxLength: 8 }), fc.array(anyLine, { maxLength: 8 }), (ours, lines) => {
        const result = reconcile(ours as never, lines as never)
        expect(result.rows.reduce((n, row) => n + row.difference, result.unexplained.difference)).toBe(
          result.difference,
        )
        expect(result.difference).toBe(lines.reduce((n, l) => n + l.pico, 0n) - ours.reduce((n, l) => n + l.pico, 0n))
      }),
    )
  })

  test('of two currencies is refused', () => {
    expect(() => reconcile(own, [line('1'), { currency: 'EUR', pico: 1n }])).toThrow('in USD and in EUR')
  })

  test('spreads the difference as a line of its own, in whole cents and with what is left to the pico', () => {
    const spread = spreadDifference(
      usd('-1.0049'),
      { kind: 'even' },
      new Map([
        ['acme', 0n],
        ['globex', 5n],
        ['initech', 1n],
      ]),
      { provider: 'anthropic', invoice: '2026-11', currency: 'USD' },
    )
    const parts = [...spread.lines.values()]
    expect(parts.reduce((n, l) => n + l.pico, spread.left)).toBe(usd('-1.0049'))
    expect(parts.map(({ pico }) => formatDecimal(pico))).toEqual(['-0.33', '-0.33', '-0.34'])
    expect(parts[0]).toMatchObject({
      kind: 'reconciliation',
      provider: 'anthropic',
      of: '2026-11',
      rule: 'in equal parts',
    })
    const about = { provider: 'openai', invoice: 'x', currency: 'USD' }
    expect(spreadDifference(usd('1'), { kind: 'none' }, new Map(), about)).toEqual({
      lines: new Map(),
      left: usd('1'),
      why: 'rule',
    })
  })
})
