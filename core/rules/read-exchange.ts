import type { Findings, Place } from '#core/boundary/problem.ts'
import { refuseUnknownKeys } from '#core/boundary/read-rule.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import type { Budget } from '#core/budget/budget.ts'
import { windowAt } from '#core/budget/window.ts'
import { utcDay } from '#core/day.ts'
import { type ExchangeRate, RATE_PLACES } from '#core/spend/exchange.ts'
import { readDay, readDecimal, readMap, required, writtenText } from './fields.ts'
import { MAX_PER_USD } from './limits.ts'

export const EXCHANGE_KEYS = ['currency', 'from', 'per_usd'] as const
const EXAMPLE = '{ currency: EUR, from: 2026-12-01, per_usd: "0.92" }'

/** One entry of `exchange:`: what a dollar is in a currency from a day on. Undefined, with findings, when it is wrong. */
export function readExchangeRate(tree: Tree, findings: Findings): ExchangeRate | undefined {
  const map = readMap(tree, 'an exchange rate', EXAMPLE, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, EXCHANGE_KEYS, 'an exchange rate', findings)
  const currencyEntry = required(map, 'currency', 'the exchange rate', 'add currency: EUR', findings)
  const fromEntry = required(map, 'from', 'the exchange rate', 'add from: 2026-12-01', findings)
  const rateEntry = required(map, 'per_usd', 'the exchange rate', 'add per_usd: "0.92"', findings)
  const currency = currencyEntry === undefined ? undefined : readForeign(currencyEntry, findings)
  const from = fromEntry === undefined ? undefined : readDay(fromEntry, findings)
  const perUsd = rateEntry === undefined ? undefined : readDecimal(rateEntry, MAX_PER_USD, findings, RATE_PLACES)
  if (perUsd === '0')
    findings.error(rateEntry!.value, 'out_of_range', 'per_usd is above zero', 'write units per dollar, such as "0.92"')
  if (findings.errors.length > before) return undefined
  return { currency: currency!, from: from!, perUsd: perUsd! }
}

/** A currency that exists, by its code. */
export function readCurrencyCode({ value }: Pick<TreeEntry, 'value'>, findings: Findings): string | undefined {
  const text = writtenText(value)
  if (text !== undefined && isCurrency(text)) return text
  const upper = text?.toUpperCase()
  const remedy =
    upper !== undefined && isCurrency(upper) ? `write ${upper}` : 'use the three letters of one, such as EUR'
  findings.error(value, 'bad_value', `${describeTree(value)} is not a currency`, remedy)
  return undefined
}

/** Whether there is a currency of that code. */
export const isCurrency = (code: string): boolean =>
  /^[A-Z]{3}$/.test(code) && Intl.supportedValuesOf('currency').includes(code)

function readForeign(entry: TreeEntry, findings: Findings): string | undefined {
  const code = readCurrencyCode(entry, findings)
  if (code !== 'USD') return code
  const message = 'the dollar has no exchange rate: prices are in dollars'
  findings.error(entry.value, 'bad_value', message, 'name another currency, or remove the entry')
  return undefined
}

/** A currency has one rate from one day. */
export function checkExchange(read: readonly { rate: ExchangeRate; tree: TreeMap }[], findings: Findings): void {
  const days = new Set<string>()
  for (const { rate, tree } of read) {
    const { currency, from } = rate
    const id = `${currency} ${from}`
    if (days.has(id)) {
      const at = entryOf(tree, 'from')!.value
      const remedy = 'keep one, or give the later one another from'
      findings.error(at, 'overlap', `${currency} has two exchange rates from ${from}`, remedy)
    }
    days.add(id)
  }
}

/**
 * A budget of another currency has a rate for every day of its window of `now`, and so for all that follow; the currency that
 * the organisation is billed in has one for today. Without `now` any rate of the currency will do.
 */
export function checkRatesNeeded(
  needed: { budgets: readonly Budget[]; budgetTree: Tree | undefined; billing: string; section: Place },
  rates: readonly ExchangeRate[],
  now: number | undefined,
  findings: Findings,
): void {
  const { budgets, budgetTree, billing, section } = needed
  for (const { name, currency, window, zone } of budgets) {
    const map = entryNamed(budgetTree, name)
    const day = now === undefined ? undefined : utcDay(windowAt(window, zone, now).start)
    if (map === undefined || hasRate(rates, currency, day)) continue
    const at = entryOf(map, 'currency')?.value ?? entryOf(map, 'amount')?.value ?? map
    const since = day === undefined ? '' : ` on ${day}, where the window of ${name} begins`
    findings.error(at, 'missing', `there is no exchange rate for ${currency}${since}`, remedyFor(currency, day))
  }
  const today = now === undefined ? undefined : utcDay(now)
  if (hasRate(rates, billing, today)) return
  const message = `there is no exchange rate for ${billing}, the currency that the organisation is billed in`
  findings.error(section, 'missing', message, remedyFor(billing, today))
}

const remedyFor = (currency: string, day: string | undefined): string =>
  day === undefined
    ? `add one for ${currency} under exchange`
    : `add one for ${currency} under exchange, from ${day} or an earlier day`

/** Whether dollars of a day and of all that follow can be converted; without a day: of some. */
const hasRate = (rates: readonly ExchangeRate[], currency: string, day: string | undefined): boolean =>
  currency === 'USD' || rates.some(rate => rate.currency === currency && (day === undefined || rate.from <= day))

function entryNamed(tree: Tree | undefined, name: string): TreeMap | undefined {
  if (tree?.kind !== 'list') return undefined
  return tree.items.find((item): item is TreeMap => {
    const value = item.kind === 'map' ? entryOf(item, 'name')?.value : undefined
    return value !== undefined && writtenText(value) === name
  })
}
