import type { inferRouterOutputs } from '@trpc/server'
import { addMonths } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { PROVIDER_NAMES } from '#core/focus-rows.ts'
import type { Provider } from '#core/pricing.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { amountText, moneyText, placesFor, roundParts } from '#core/spend/round.ts'
import type { AppRouter } from '#server/api/root.ts'

type Outputs = inferRouterOutputs<AppRouter>['invoice']
export type InvoiceRow = Outputs['list']['items'][number]
export type InvoiceDetail = Outputs['get']
export type ComparedRow = InvoiceDetail['rows'][number]
export type SpreadParts = NonNullable<InvoiceDetail['spread']>

export const picoOf = (amount: string): bigint => parseDecimal(amount) ?? 0n
export const isNothing = (amount: string): boolean => picoOf(amount) === 0n
export const providerName = (provider: string): string => PROVIDER_NAMES[provider as Provider] ?? provider

export const SOURCE_WORDS: Record<string, string> = {
  anthropic: 'Anthropic’s cost report',
  openai: 'OpenAI’s costs report',
  csv: 'a CSV',
  hand: 'entered by hand',
}

/** An amount by itself, as exact as it takes to be seen. */
export const money = (amount: string, currency: string): string => moneyText(picoOf(amount), { currency })

/** With a sign: what is too much and what is too little are told apart without colour. */
export function signedMoney(pico: bigint, currency: string, places?: number): string {
  const text = moneyText(pico, { currency, ...(places === undefined ? {} : { places, exact: pico }) })
  return pico > 0n ? `+${text}` : text.replace('-', '−')
}

/** Cells of a comparison: columns add up to their totals, and theirs less ours is the difference in every row. */
export type SidesText = { ours: string; theirs: string; difference: string }
export function sidesColumns(
  rows: readonly { ours: string; theirs: string }[],
  currency: string,
): { cells: SidesText[]; total: SidesText } {
  const [ours, theirs] = [rows.map(row => picoOf(row.ours)), rows.map(row => picoOf(row.theirs))]
  const sum = (parts: readonly bigint[]) => parts.reduce((a, b) => a + b, 0n)
  const places = Math.max(placesFor(sum(ours), currency), placesFor(sum(theirs), currency))
  const [mine, yours] = [roundParts(ours, places), roundParts(theirs, places)]
  const cells = (a: bigint, exactA: bigint, b: bigint, exactB: bigint): SidesText => ({
    ours: moneyText(a, { currency, places, exact: exactA }),
    theirs: moneyText(b, { currency, places, exact: exactB }),
    difference: a === b ? moneyText(0n, { currency, places }) : signedMoney(b - a, currency, places),
  })
  return {
    cells: rows.map((_, i) => cells(mine.parts[i]!, ours[i]!, yours.parts[i]!, theirs[i]!)),
    total: cells(mine.total, sum(ours), yours.total, sum(theirs)),
  }
}

/** How much of the invoice a difference is: `+3.4 %`; nothing of an invoice of nothing. */
export function shareWords(difference: string, theirs: string): string | undefined {
  const whole = picoOf(theirs)
  if (whole <= 0n) return undefined
  const tenths = (picoOf(difference) * 1000n * 10n ** 12n) / whole
  const text = amountText(tenths / 10n, { places: 1, exact: tenths })
  return `${tenths > 0n ? '+' : ''}${text.replace('-', '−')}\u00a0% of the invoice`
}

/** The rule in a few words, as a state. */
export const ruleWords: Record<AllocationRule['kind'], string> = {
  none: 'not spread',
  proportional: 'in proportion',
  equivalent: 'by list prices',
  even: 'in equal parts',
  fixed: 'by fixed shares',
}

/** Months that an invoice can be of, the newest first: two years back from this one. */
export const invoiceMonths = (today: string): string[] =>
  Array.from({ length: 24 }, (_, back) => addMonths(today.slice(0, 7), -back))
