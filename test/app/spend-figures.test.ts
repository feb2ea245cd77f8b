import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { axisMarks, axisText } from '#app/(console)/[org]/spend/axis.ts'
import { burnData } from '#app/(console)/[org]/spend/budgets/burn-data.ts'
import { type BudgetDetail, forecastNote, type Share } from '#app/(console)/[org]/spend/budgets/words.ts'
import { chartData } from '#app/(console)/[org]/spend/chart-data.ts'
import { documentOf, draftOf, emptyDraft, readDraft, textWith } from '#app/(console)/[org]/spend/edit-budget/draft.ts'
import {
  type Report,
  roundColumn,
  roundInto,
  shareTenths,
  type TotalShown,
} from '#app/(console)/[org]/spend/figures.ts'
import { beyondWords, type StatementRow } from '#app/(console)/[org]/spend/statements/words.ts'
import { NO_TOKENS } from '#core/pricing.ts'
import { parseRuleDocument } from '#core/rules/document.ts'

const CENT = 10_000_000_000n
const sum = (parts: readonly bigint[]) => parts.reduce((a, b) => a + b, 0n)
const amounts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 16n }), { minLength: 1, maxLength: 40 })

describe('rounded columns', () => {
  it('add up to their total, each part within a cent of itself, and nothing stays nothing', () => {
    fc.assert(
      fc.property(amounts, parts => {
        const column = roundColumn(parts, 'USD')
        expect(sum(column.parts)).toBe(column.total)
        const unit = 10n ** BigInt(12 - column.places)
        column.parts.forEach((part, i) => {
          expect(part % unit).toBe(0n)
          expect(part - parts[i]! < unit && parts[i]! - part < unit).toBe(true)
          if (parts[i] === 0n) expect(part).toBe(0n)
        })
      }),
    )
  })

  it('reach a total that is itself a sum of rounded ones', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: -3, max: 3 }), (parts, off) => {
        fc.pre(parts.some(part => part !== 0n))
        const near = (sum(parts) / CENT + BigInt(off)) * CENT
        expect(sum(roundInto(parts, near, 2))).toBe(near)
      }),
    )
  })

  it('have shares that are the whole together', () => {
    fc.assert(
      fc.property(amounts, parts => {
        fc.pre(sum(parts) > 0n)
        expect(shareTenths(parts).reduce((a, b) => a + b, 0)).toBe(1000)
      }),
    )
    expect(shareTenths([0n, 0n])).toEqual([0, 0])
  })
})

const total = (cents: number, bound = 0): TotalShown => ({
  calls: 1,
  partial: 0,
  tokens: { ...NO_TOKENS },
  priced: { plan: '0', metered: `${cents / 1000}`, unknown: '0' },
  bound: { plan: '0', metered: `${bound}`, unknown: '0' },
  rates: { card: 1, override: 0, fallback: 0, zero: 0, substitute: 0 },
})

/** Seven tenants over three days in thirds of cents, and something that has none. */
function someReport(): Report {
  const values = ['a', 'b', 'c', 'd', 'e', 'f', null]
  const cost = (v: number, d: number) => (v + 1) * 3333 + d * 7 + 1
  return {
    by: 'tenant',
    basis: 'equivalent',
    rows: values.map((value, v) => ({
      value,
      label: value,
      total: total([0, 1, 2].reduce((s, d) => s + cost(v, d), 0)),
    })),
    total: total(0),
    steps: [0, 1, 2].map(d => ({
      start: `2026-11-0${d + 1}`,
      values: values.map((value, v) => ({ value, total: total(cost(v, d), v === 0 ? 2 : 0) })),
    })),
  } as unknown as Report
}

describe('the stacked chart', () => {
  const data = chartData(
    someReport(),
    'equivalent',
    ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04'],
    'unattributed',
  )

  it('names four, puts the others together and keeps what is unattributed apart', () => {
    expect(data.series.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', '2 others', 'unattributed'])
  })

  it('has a table that adds up across and down to the page’s total', () => {
    for (const one of data.series) expect(sum(one.shown), one.name).toBe(one.total)
    expect(sum(data.series.map(one => one.total))).toBe(data.total)
    expect(sum(data.rowTotals)).toBe(data.total)
    expect(data.rowTotals).toEqual(data.starts.map((_, i) => sum(data.series.map(one => one.shown[i]!))))
    expect(data.total % CENT).toBe(0n)
  })

  it('keeps what has no price beside the total and never in it', () => {
    expect(sum(data.atMost)).toBe(6n * 10n ** 12n)
    expect(data.total < 6n * 10n ** 14n).toBe(true)
    const without = chartData(
      { ...someReport(), steps: someReport().steps.map(step => ({ ...step, values: step.values.slice(1) })) },
      'equivalent',
      ['2026-11-01'],
      'unattributed',
    )
    expect(without.total).toBe(data.total)
  })
})

describe('an axis', () => {
  it('begins at nought, holds the most and has round marks', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), most => {
        const marks = axisMarks(most)
        expect(marks[0]).toBe(0)
        expect(marks.at(-1)! >= most * (1 - 1e-9)).toBe(true)
        expect(marks.length).toBeLessThanOrEqual(6)
        expect(new Set(marks.map(mark => axisText(mark, marks[1]!, 'EUR'))).size).toBe(marks.length)
      }),
    )
    expect(axisMarks(0)).toEqual([0, 1])
  })

  it('writes what is below nought with the sign before the currency’s', () => {
    expect(axisText(-500, 500, 'USD')).toBe('-$500')
    expect(axisText(-1200, 400, 'EUR')).toBe('-€1,200')
  })
})

it('a burn-down begins with the amount, ends with what is left and goes below nought when more is spent', () => {
  const budget = {
    amount: '10',
    start: new Date('2026-11-01T00:00:00Z'),
    end: new Date('2026-12-01T00:00:00Z'),
    days: [
      { date: '2026-11-01', cost: '4', sum: '4' },
      { date: '2026-11-02', cost: '8', sum: '12' },
    ],
  } as unknown as BudgetDetail
  const share = { forecast: { state: 'too_early', days: 1 } } as unknown as Share
  const { points, marks, end } = burnData(budget, share, new Date('2026-11-02T12:00:00Z'))
  expect(points.map(({ left }) => left)).toEqual([10, 6, -2])
  expect(points.at(-1)!.x).toBeCloseTo(1.5 / 30)
  expect(marks[0]).toBeLessThan(-1)
  expect(end).toBeUndefined()
  const over = (sum: string) =>
    burnData({ ...budget, days: [{ date: '2026-11-01', cost: sum, sum }] }, share, new Date('2026-11-01T12:00:00Z'))
  for (const sum of ['0', '9', '11', '100', '123456789']) {
    const { marks: all } = over(sum)
    expect([sum, all.length <= 7, all.includes(0)]).toEqual([sum, true, true])
    expect([all[0]! <= 10 - Number(sum), all.at(-1)! >= 10]).toEqual([true, true])
  }
})

it('a budget that is used up is not foretold to be used up later', () => {
  const forecast = { state: 'forecast', method: 'mean', expected: '12', low: '11', high: '13', reachedOn: '2026-11-30' }
  const note = (exhausted: boolean) => forecastNote({ forecast, exhausted } as unknown as Share, 'USD')
  expect(note(false)).toBe('$11.00 to $13.00; used up on 30 Nov 2026')
  expect(note(true)).toBe('$11.00 to $13.00')
})

describe('a month whose statements come to something else than the tenants’ part of the ledger', () => {
  const month = (totals: string[], own: string, currency = 'USD') => ({
    rows: totals.map(total => ({ total, currency }) as StatementRow),
    currency: 'USD',
    own,
    allocated: '1',
  })
  it('says by how much and of what, and nothing where they agree', () => {
    expect(beyondWords(month(['10.00', '5.00'], '14'))).toBeUndefined()
    expect(beyondWords(month(['12.50', '5.00'], '14'))).toContain('$2.50 more than the tenants’ part')
    expect(beyondWords(month(['12.50', '1.00'], '14'))).toContain('$1.50 less than the tenants’ part')
  })
  it('tells cents that rounding makes from the rest, and never compares two currencies', () => {
    expect(beyondWords(month(['10.01', '5.01'], '14.01'))).toBe('Each statement is rounded by itself.')
    expect(beyondWords(month(['10.001', '5.003'], '14'))).toBeUndefined()
    expect(beyondWords(month(['12.50'], '14', 'EUR'))).toBeUndefined()
  })
})

describe('the form of a budget', () => {
  const defaults = { currency: 'USD', zone: 'Europe/Amsterdam' }
  const TEXT =
    '# ours\nbudgets:\n  # agreed in June\n  - name: monthly\n    amount: "500"\n    window: monthly # calendar\n'

  it('changes what it is about and keeps the comments of everything else', () => {
    const draft = { ...emptyDraft(defaults), name: 'monthly', amount: '750' }
    const { budget } = readDraft(draft, defaults, ['USD'])
    const edited = textWith(TEXT, budget!, defaults, 'monthly')
    expect(edited).toMatchObject({ ok: true, text: TEXT.replace('"500"', '"750"') })
  })

  it('says what is wrong in the document’s own words before anything is sent', () => {
    for (const wrong of [
      { name: 'No Spaces' },
      { amount: 'ten' },
      { steps: '50, half' },
      { window: 'rolling' as const, days: '0' },
      { owners: ['everybody'] },
      { owners: [] },
      { currency: 'EUR' },
    ]) {
      const draft = { ...emptyDraft(defaults), name: 'monthly', amount: '750', ...wrong }
      expect(readDraft(draft, defaults, ['USD']).problems?.length, JSON.stringify(wrong)).toBeGreaterThan(0)
    }
  })

  it('keeps the currency and all owners of a budget, and writes a currency that is not the organisation’s', () => {
    const text = TEXT.replace('"500"', '"500"\n    currency: EUR\n    owners: [role:lead, member:mem_a1]')
    const [budget] = parseRuleDocument(text, { defaults }).budgets
    expect(budget).toMatchObject({ currency: 'EUR', owners: ['member:mem_a1', 'role:lead'] })
    const draft = draftOf(budget!)
    const read = readDraft(draft, defaults, ['USD', 'EUR']).budget!
    expect(textWith(text, read, defaults, 'monthly')).toMatchObject({ ok: true, text })
    const added = readDraft({ ...draft, name: 'other' }, defaults, ['USD', 'EUR']).budget!
    expect(textWith(text, added, defaults, undefined)).toMatchObject({
      text: expect.stringContaining('name: other\n    amount: "500"\n    currency: EUR'),
    })
  })

  it('leaves out whom it is for when that is everybody', () => {
    const draft = { ...emptyDraft({ currency: 'USD', zone: 'UTC' }), name: 'a', amount: '1' }
    expect(documentOf(draft)).not.toHaveProperty('for')
    expect(documentOf({ ...draft, key: 'tenant', value: 'acme' }).for).toEqual({ tenant: 'acme' })
  })
})
