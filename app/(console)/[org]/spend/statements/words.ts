import type { inferRouterOutputs } from '@trpc/server'
import { formatDay, formatList } from '#app/_ui/format.ts'
import type { Basis } from '#core/budget/budget.ts'
import { monthWords } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { minorPlaces } from '#core/spend/exchange.ts'
import { moneyText } from '#core/spend/round.ts'
import type { AppRouter } from '#server/api/root.ts'

type Outputs = inferRouterOutputs<AppRouter>['statement']
export type StatementList = Outputs['list']
export type MonthRow = StatementList['months'][number]
export type StatementRow = MonthRow['rows'][number]
export type StatementDetail = Outputs['get']
export type Bill = StatementDetail['bill']
export type Line = Bill['lines'][number]
export type Hinder = StatementRow['hinders'][number]
export type Tenant = StatementList['tenants'][number]
export type RuleShown = StatementList['setting']['rules'][number]
export type Allocation = RuleShown['rule']

/** An amount that is rounded already, as the currency's people write it. */
export const money = (amount: string, currency: string): string =>
  moneyText(parseDecimal(amount) ?? 0n, { currency, places: minorPlaces(currency) })

/** What is not in a total: as exact as it takes to be seen. */
export const exactMoney = (amount: string, currency: string): string =>
  moneyText(parseDecimal(amount) ?? 0n, { currency })

/** A line's cell: rounded so that lines add up, and never nothing where there is something. */
export const shownMoney = ({ shown, amount }: Pick<Line, 'shown' | 'amount'>, currency: string): string =>
  moneyText(parseDecimal(shown) ?? 0n, { currency, places: minorPlaces(currency), exact: parseDecimal(amount) ?? 0n })

export const isNothing = (amount: string): boolean => (parseDecimal(amount) ?? 0n) === 0n

/** Rounded amounts together. */
export const sumOf = (amounts: readonly string[]): bigint =>
  amounts.reduce((sum, amount) => sum + (parseDecimal(amount) ?? 0n), 0n)

/** Why the statements together come to something else than the tenants’ part of the ledger; undefined when they do not. */
export function beyondWords({
  rows,
  currency,
  own,
  allocated,
}: Pick<MonthRow, 'rows' | 'currency' | 'own' | 'allocated'>) {
  if (rows.length === 0 || rows.some(row => row.currency !== currency)) return undefined
  const beyond = sumOf(rows.map(({ total }) => total)) - sumOf([own, allocated])
  const size = beyond < 0n ? -beyond : beyond
  const places = minorPlaces(currency)
  if (size * 2n <= BigInt(rows.length) * 10n ** BigInt(12 - places))
    return size * 2n < 10n ** BigInt(12 - places) ? undefined : 'Each statement is rounded by itself.'
  return `The statements come to ${moneyText(size, { currency, places })} ${beyond < 0n ? 'less' : 'more'} than the tenants’ part: invoice differences, earlier months, credits, and what changed after closing.`
}

export const basisWords = (basis: Basis): string =>
  basis === 'billed' ? 'usage that is paid for by use' : 'all usage at list prices'

/** Why a draft cannot be closed now, in a line. */
export function hinderWords(hinder: Hinder, zone: string): string {
  switch (hinder.why) {
    case 'not_over':
      return `the month lasts until ${formatDay(new Date(hinder.until.getTime() - 1), zone)}`
    case 'earlier_open':
      return `${monthWords(hinder.month)} is still open`
    case 'unpriced':
      return `no price of ${formatList(hinder.models)}`
    case 'problem':
      // others may follow in the same sentence
      return hinder.words.replace(/\.$/, '')
    case 'nothing':
      return 'nothing is on it'
  }
}

/** A model as a bill names it: its provider only where nobody would know. */
export const modelWords = ({ model, provider }: Pick<Line, 'model' | 'provider'>): string =>
  model ?? (provider === undefined ? 'any model' : `any model of ${provider}`)

/** What an allocated, reconciled, adjusted or credited line is about. */
export function lineWords(line: Line): string {
  const month = line.month === undefined ? '' : monthWords(line.month)
  if (line.kind === 'credit') return `Credit of ${month}`
  if (line.kind === 'carried') return 'Does not fit into this month: goes to the next as a credit'
  if (line.kind === 'reconciliation') return `Invoice difference${line.of === undefined ? '' : `, ${line.of}`}`
  const what = [
    line.of,
    line.project && `project ${line.project}`,
    line.model ?? (line.adjusts === 'reconciliation' ? 'invoice difference' : undefined),
  ]
  return [month, ...what].filter(Boolean).join(', ') || 'Usage'
}

/** Percentages as people wrote them, and the rule in a few words. */
export const SHARING: readonly { value: Allocation['kind']; label: string; hint: string }[] = [
  { value: 'none', label: 'Not allocated', hint: 'It stays with the organisation and stands on nobody’s statement.' },
  {
    value: 'proportional',
    label: 'In proportion',
    hint: 'Each tenant takes a part like its own priced spend of the month.',
  },
  {
    value: 'equivalent',
    label: 'In proportion to list prices',
    hint: 'A part like its own use at list prices, whatever covers it.',
  },
  { value: 'even', label: 'In equal parts', hint: 'Every tenant takes the same, also one that spent nothing.' },
  { value: 'fixed', label: 'By fixed shares', hint: 'Percentages that you write; what they leave of a hundred stays.' },
]
