import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv } from '#core/csv.ts'
import { parseDecimal } from '#core/decimal.ts'
import { FOCUS_COLUMNS, FOCUS_NOT_NULL, focusCsv, focusJson } from '#core/focus.ts'
import {
  billingPeriod,
  type FocusAccount,
  type FocusUsage,
  focusCorrection,
  focusPrices,
  focusRows,
} from '#core/focus-rows.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { bucketsByDay } from '#core/usage/bucket.ts'
import { priceMetered } from '#core/usage/price-metered.ts'
import { anyCall, DAY } from './usage/any-usage.ts'

const card = builtInRates()
const organisation = builtInRates(undefined, {
  name: 'v3',
  rows: [
    { provider: 'anthropic', id: 'claude-opus-4-5', entries: [{ input: '4.5', output: '22', cacheRead: '0.45' }] },
  ],
})
const account = (currency = 'USD', perUsd = 1_000_000n): FocusAccount => ({
  org: { id: 'org_aaaaaaaaaaaaaaaa', name: 'Example, "Ltd"' },
  tenants: new Map([['acme', 'Acme GmbH']]),
  currency,
  perUsdMicros: () => perUsd,
})
type Json = ReturnType<typeof focusJson>
const rowsOf = (usage: FocusUsage, rates = card, of = account()): Json[] =>
  focusRows(usage, focusPrices(rates, card, usage, 3), of).map(focusJson)
const usageOf = (call: Parameters<typeof priceMetered>[1], rates = card): FocusUsage => {
  const [[day, [bucket]]] = [...bucketsByDay([priceMetered(rates, call)])] as unknown as [[string, [FocusUsage]]]
  return { ...bucket, day }
}
const call = {
  key: 'a',
  client: 'claude-code',
  model: 'claude-opus-4-5',
  atMs: DAY,
  tokens: { ...NO_TOKENS, input: 6, cacheWrite5m: 159_217, output: 2745, webSearches: 2 },
  tags: { tenant: 'acme', project: 'billing-api' },
  covered: 'metered',
} as const

/** A decimal to 24 places, which no product here exceeds. */
const exact = (text: unknown): bigint => parseDecimal(String(text), 24)!
const sum = (rows: Json[], column: 'BilledCost' | 'ListCost' | 'ContractedCost') =>
  rows.reduce((n, row) => n + exact(row[column]), 0n)

describe('rows', () => {
  test('are one for each meter that counted something', () => {
    const rows = rowsOf(usageOf(call))
    expect(
      rows.map(row => [
        row.SkuMeter,
        row.ConsumedQuantity,
        row.PricingQuantity,
        row.PricingUnit,
        row.ListUnitPrice,
        row.BilledCost,
      ]),
    ).toEqual([
      ['Input Tokens', '6', '0.000006', '1000000 Tokens', '5', '0.00003'],
      ['Cache Write Tokens (5 minutes)', '159217', '0.159217', '1000000 Tokens', '6.25', '0.99510625'],
      ['Output Tokens', '2745', '0.002745', '1000000 Tokens', '25', '0.068625'],
      ['Web Search Requests', '2', '2', 'Requests', '0.01', '0.02'],
    ])
    expect(rows[0]).toMatchObject({
      BillingAccountId: 'org_aaaaaaaaaaaaaaaa',
      BillingPeriodStart: '2026-11-01T00:00:00Z',
      BillingPeriodEnd: '2026-12-01T00:00:00Z',
      ChargePeriodStart: '2026-11-29T00:00:00Z',
      ChargePeriodEnd: '2026-11-30T00:00:00Z',
      SubAccountId: 'acme',
      SubAccountName: 'Acme GmbH',
      ServiceName: 'Claude Code',
      ProviderName: 'Anthropic',
      Tags: '{"project":"billing-api","tenant":"acme"}',
      x_PricingBasis: 'rate_card',
      x_TeamId: null,
      SkuPriceDetails:
        '{"x_CacheAction":"None","x_ModelId":"claude-opus-4-5","x_Provider":"anthropic","x_TokenDirection":"Input"}',
    })
  })

  test('quantity times unit price is the cost, and the costs are the ledger, for any usage in any currency', () => {
    fc.assert(
      fc.property(
        anyCall,
        fc.constantFrom(card, organisation),
        fc.constantFrom(1_000_000n, 923_451n, 155_123_400n),
        (made, rates, perUsd) => {
          const usage = usageOf(made, rates)
          const rows = rowsOf(usage, rates, account('EUR', perUsd))
          for (const row of rows) {
            for (const column of FOCUS_NOT_NULL) expect(row[column], column).not.toBeNull()
            if (row.ListUnitPrice !== null)
              expect((exact(row.PricingQuantity) * exact(row.ListUnitPrice)) / 10n ** 24n).toBe(exact(row.ListCost))
            if (row.ContractedUnitPrice !== null)
              expect((exact(row.PricingQuantity) * exact(row.ContractedUnitPrice)) / 10n ** 24n).toBe(
                exact(row.ContractedCost),
              )
            expect(row.SubAccountId === null).toBe(row.SubAccountName === null)
          }
          const ledger = usage.picoUsd * perUsd * 10n ** 6n
          expect(sum(rows, 'ContractedCost')).toBe(usage.rate === 'fallback' ? 0n : ledger)
          expect(sum(rows, 'BilledCost')).toBe(usage.rate === 'fallback' || usage.covered !== 'metered' ? 0n : ledger)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('of what a plan covers are billed nothing and keep their list cost', () => {
    const rows = rowsOf(usageOf({ ...call, covered: 'plan' }))
    expect([sum(rows, 'BilledCost'), sum(rows, 'ListCost')]).toEqual([0n, exact('1.08376125')])
    expect(rows[0]).toMatchObject({ x_Covered: 'plan', EffectiveCost: '0' })
  })

  test('of a price of the organisation have the card’s beside it', () => {
    const [row] = rowsOf(usageOf({ ...call, tokens: { ...NO_TOKENS, input: 1_000_000 } }, organisation), organisation)
    expect(row).toMatchObject({
      ListUnitPrice: '5',
      ContractedUnitPrice: '4.5',
      ListCost: '5',
      ContractedCost: '4.5',
      BilledCost: '4.5',
    })
  })

  test('of a model without a price cost nothing, have no unit price, and bear the bound apart, once', () => {
    const usage = usageOf({ ...call, model: 'nobody-knows' })
    const rows = rowsOf(usage)
    expect(rows.map(row => [row.ListUnitPrice, row.SkuPriceId, row.BilledCost, row.x_PricingBasis])).toEqual(
      rows.map(() => [null, null, '0', 'upper_bound']),
    )
    expect(rows.filter(row => row.x_UpperBoundCost !== null).map(row => exact(row.x_UpperBoundCost))).toEqual([
      usage.picoUsd * 10n ** 12n,
    ])
  })

  test('whose recorded cost is another than the prices give have the difference as a row of its own', () => {
    const usage = { ...usageOf(call), picoUsd: parseDecimal('1')! }
    const rows = rowsOf(usage)
    expect(rows.at(-1)).toMatchObject({
      ChargeCategory: 'Adjustment',
      ListCost: '-0.08376125',
      ConsumedQuantity: null,
      PricingCategory: null,
    })
    expect(sum(rows, 'BilledCost')).toBe(exact('1'))
  })

  test('without a tenant have neither its id nor its name', () => {
    expect(rowsOf(usageOf({ ...call, tags: { project: 'x' } }))[0]).toMatchObject({
      SubAccountId: null,
      SubAccountName: null,
    })
    expect(rowsOf(usageOf({ ...call, tags: { tenant: 'gone' } }))[0]).toMatchObject({
      SubAccountId: 'gone',
      SubAccountName: 'gone',
    })
  })
})

test('a correction is billed in its own month and is about the closed one', () => {
  const row = focusJson(
    focusCorrection(
      {
        day: '2026-12-31',
        month: '2026-11',
        tenant: 'acme',
        description: 'Late usage of November',
        picoAmount: -(10n ** 11n),
        ruleVersion: 3,
      },
      account('EUR'),
    ),
  )
  expect(row).toMatchObject({
    BilledCost: '-0.1',
    BillingCurrency: 'EUR',
    ChargeClass: 'Correction',
    BillingPeriodStart: '2026-12-01T00:00:00Z',
    BillingPeriodEnd: '2027-01-01T00:00:00Z',
    ChargePeriodStart: '2026-11-01T00:00:00Z',
    ChargePeriodEnd: '2026-12-01T00:00:00Z',
  })
  for (const column of FOCUS_NOT_NULL) expect(row[column], column).not.toBeNull()
})

test('what a provider’s invoice says beyond our reckoning is no correction of a closed month', () => {
  const line = {
    day: '2026-11-30',
    description: 'Invoice 7',
    picoAmount: 10n ** 12n,
    ruleVersion: 3,
    provider: 'anthropic',
    reported: true,
  } as const
  expect(focusJson(focusCorrection(line, account()))).toMatchObject({
    ChargeClass: null,
    x_PricingBasis: 'provider_reported',
    InvoiceIssuerName: 'Anthropic',
    ChargePeriodStart: '2026-11-30T00:00:00Z',
    BilledCost: '1',
  })
})

test.each([
  ['2026-11-30', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'],
  ['2026-12-31', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['2028-02-29', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
])('the billing period of %s is a calendar month', (day, start, end) => {
  expect(billingPeriod(day)).toEqual({ start, end })
})

describe('the file', () => {
  const rows = [
    ...focusRows(usageOf(call), focusPrices(card, card, usageOf(call), 3), account()),
    focusCorrection({ day: '2026-12-01', description: '=1+1', picoAmount: -1n, ruleVersion: 0 }, account()),
  ]
  const read = readCsv(focusCsv(rows))
  const table = 'rows' in read ? read.rows.map(row => row.cells) : []
  const column = (name: (typeof FOCUS_COLUMNS)[number]) =>
    table.slice(1).map(cells => cells[FOCUS_COLUMNS.indexOf(name)]!)

  test('has the columns that a row has, in PascalCase or with x_', () => {
    expect(table[0]).toEqual([...FOCUS_COLUMNS])
    for (const name of FOCUS_COLUMNS) expect(name).toMatch(/^(x_)?[A-Z][A-Za-z]+$/)
    expect(Object.keys(rows[0]!).sort()).toEqual([...FOCUS_COLUMNS].sort())
    expect(new Set(table.map(cells => cells.length))).toEqual(new Set([FOCUS_COLUMNS.length]))
  })

  test('has plain decimals, moments in UTC, empty cells for null, and text as text', () => {
    for (const name of FOCUS_COLUMNS)
      for (const cell of column(name)) {
        expect(cell, name).not.toMatch(/^(null|undefined|N\/A|NaN|\[object)/)
        if (/(Cost|Price|Quantity)$/.test(name)) expect(cell, name).toMatch(/^(-?\d+(\.\d*[1-9])?)?$/)
        if (/Period(Start|End)$/.test(name)) expect(cell, name).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      }
    expect(column('BilledCost').at(-1)).toBe('-0.000000000001')
    expect(column('ChargeDescription').at(-1)).toBe("'=1+1")
    expect(column('BillingAccountName')[0]).toBe('Example, "Ltd"')
    expect(column('ConsumedQuantity').at(-1)).toBe('')
  })

  test('has tags as one flat object of texts', () => {
    for (const cell of column('Tags'))
      for (const value of Object.values(JSON.parse(cell) as object)) expect(typeof value).toBe('string')
  })
})
