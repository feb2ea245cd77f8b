import { utcDay } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { type ExchangeRates, hasRateSince, perUsdOn, picoOf, picoParts, ratesSince } from '#core/spend/exchange.ts'
import type { SpendRow } from '#core/spend/group.ts'
import type { Tx } from '../../db.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import type { Rates, SumRow } from './sums.ts'

/** What a report's amounts are in, and the rates that they were converted at; no rates: they are in dollars. */
export type ReportCurrency = {
  currency: string
  rates: { from: string; perUsd: string }[]
  /** The currency that the organisation is billed in, where the period has usage from before its first rate. */
  lacking?: { currency: string; from: string | null }
}

/** The currency that an organisation is billed in with its rates, for one period. */
export type Billing = { currency: string; exchange: ExchangeRates; rates: Rates | undefined; from: Date; to: Date }

/** What sums of a period are converted by. For dollars it asks the database nothing. */
export async function billingOf(
  db: Tx,
  orgId: string,
  currency: string,
  { from, to }: { from: Date; to: Date },
): Promise<Billing> {
  if (currency === 'USD') return { currency, exchange: new Map(), rates: undefined, from, to }
  const { exchange } = await budgetsInForce(db, orgId)
  const [first, last] = [utcDay(from.getTime()), utcDay(to.getTime() - 1)]
  const since = ratesSince(exchange, currency, first).map(rate => rate.from)
  const days = since.filter(day => day > first && day <= last)
  const perUsd = [first, ...days].map(day =>
    hasRateSince(exchange, currency, day) ? perUsdOn(exchange, currency, day) : null,
  )
  return { currency, exchange, rates: { days, perUsd }, from, to }
}

/**
 * Rows in the currency, rounded to 10^-12 so that they add up to the exact sum rounded once; `picoUsd` of each is an amount of
 * that currency. All of them in dollars when one of them is from before the first rate: currencies never mix.
 */
export function inBilling(
  rows: readonly SumRow[],
  { currency, exchange, from, to }: Billing,
): { rows: readonly SpendRow[]; shown: ReportCurrency } {
  if (currency === 'USD') return { rows, shown: { currency, rates: [] } }
  const [first, last] = [utcDay(from.getTime()), utcDay(to.getTime() - 1)]
  if (rows.some(({ rateless }) => rateless !== 0n)) {
    const start = exchange.get(currency)?.[0]?.from
    return { rows, shown: { currency: 'USD', rates: [], lacking: { currency, from: start ?? null } } }
  }
  const { parts } = picoParts(rows.map(({ atto }) => atto!))
  const rates = ratesSince(exchange, currency, first).filter(rate => rate.from <= last)
  return {
    rows: rows.map((row, i) => ({ ...row, picoUsd: parts[i]! })),
    shown: { currency, rates: rates.map(({ from: day, perUsd }) => ({ from: day, perUsd })) },
  }
}

/** Dollars of UTC days in a report's currency, rounded once. */
export function sumShown(
  byDay: readonly { day: string; cost: bigint }[],
  { exchange }: Billing,
  { currency }: ReportCurrency,
): string {
  const start = exchange.get(currency)?.[0]?.from ?? ''
  const atto = byDay.reduce((sum, { day, cost }) => {
    // of a day before the first rate nothing was spent that counts; its notes are told at the first rate there is
    return sum + cost * perUsdOn(exchange, currency, hasRateSince(exchange, currency, day) ? day : start)
  }, 0n)
  return formatDecimal(picoOf(atto))
}
