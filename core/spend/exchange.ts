import { dayStart, isDay } from '#core/day.ts'
import { MONEY_PLACES, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'

/** ISO 4217 codes are three capitals. */
export const CURRENCY = /^[A-Z]{3}$/
/** Places of an exchange rate; published ones have two to five. */
export const RATE_PLACES = 6
const RATE_UNIT = 10n ** BigInt(RATE_PLACES)

/**
 * What one dollar is in another currency, from a UTC day on until the next entry of that currency. Entered by people, dated and
 * kept. It is dollars times this, never a division, so that converted parts add up to the converted whole.
 */
export type ExchangeRate = {
  currency: string
  /** YYYY-MM-DD */
  from: string
  /** A decimal above zero of at most six places: for the euro about `0.92`. */
  perUsd: string
}

type Entry = { from: string; perUsd: bigint; text: string }
/** Rates made ready: of each currency its entries by day. */
export type ExchangeRates = ReadonlyMap<string, readonly Entry[]>

const bad = (message: string, remedy?: string) => new AppError('BAD_INPUT', message, remedy ? { remedy } : {})

/** @throws AppError BAD_INPUT for a rate that is none, or for two of one currency from one day */
export function compileExchange(entries: readonly ExchangeRate[]): ExchangeRates {
  const byCurrency = new Map<string, Entry[]>()
  for (const { currency, from, perUsd: text } of entries) {
    if (!CURRENCY.test(currency)) throw bad('A currency is three capital letters, such as EUR.')
    if (currency === 'USD') throw bad('The dollar has no exchange rate: prices are in dollars.')
    if (!isDay(from)) throw bad(`The exchange rate of ${currency} has no day.`, 'Write it as 2026-12-01.')
    const perUsd = parseDecimal(text, RATE_PLACES)
    if (perUsd === undefined || perUsd <= 0n)
      throw bad(`The exchange rate of ${currency} from ${from} is not a rate.`, 'Write units per dollar, such as 0.92.')
    const list = byCurrency.get(currency) ?? []
    if (list.some(entry => entry.from === from)) throw bad(`${currency} has two exchange rates from ${from}.`)
    byCurrency.set(currency, [...list, { from, perUsd, text }])
  }
  for (const list of byCurrency.values()) list.sort((a, b) => (a.from < b.from ? -1 : 1))
  return byCurrency
}

/**
 * The entry that a conversion on a UTC day uses, as it was entered; undefined for dollars. Before the first entry there is no
 * rate, and none is made up.
 * @throws AppError BAD_INPUT where there is none
 */
export function rateUsed(
  rates: ExchangeRates,
  currency: string,
  day: string,
): { from: string; perUsd: string } | undefined {
  if (currency === 'USD') return undefined
  const { from, text } = entryOn(rates, currency, day)
  return { from, perUsd: text }
}

function entryOn(rates: ExchangeRates, currency: string, day: string): Entry {
  let found: Entry | undefined
  for (const entry of rates.get(currency) ?? []) if (entry.from <= day) found = entry
  if (!found)
    throw bad(`There is no exchange rate of ${currency} for ${day}.`, 'Enter one from that day or an earlier one.')
  return found
}

/** What a dollar is on a UTC day, in 10^-6 of a currency. Pico-dollars times this are atto-units, exact. @throws AppError BAD_INPUT */
export const perUsdOn = (rates: ExchangeRates, currency: string, day: string): bigint =>
  currency === 'USD' ? RATE_UNIT : entryOn(rates, currency, day).perUsd

/** Whether dollars of a UTC day and of all that follow can be converted. */
export const hasRateSince = (rates: ExchangeRates, currency: string, day: string): boolean =>
  currency === 'USD' || (rates.get(currency)?.some(({ from }) => from <= day) ?? false)

/** The entries of a currency that hold on a UTC day or later. */
export function ratesSince(rates: ExchangeRates, currency: string, day: string): ExchangeRate[] {
  const list = rates.get(currency) ?? []
  const first = list.findLastIndex(({ from }) => from <= day)
  return list.slice(Math.max(0, first)).map(({ from, text }) => ({ currency, from, perUsd: text }))
}

/** The moments (ms) inside a span at which a currency's rate changes, rising: UTC midnights. */
export function rateChanges(rates: ExchangeRates, currency: string, start: number, end: number): number[] {
  if (currency === 'USD') return []
  const changes: number[] = []
  let before: bigint | undefined
  for (const { from, perUsd } of rates.get(currency) ?? []) {
    const at = dayStart(from)
    if (at > start && at < end && perUsd !== before) changes.push(at)
    before = perUsd
  }
  return changes
}

/** Dollars of some days in another currency, at each day's own rate: exact, in 10^-18 of the currency's unit (atto). */
export function attoIn(
  rates: ExchangeRates,
  currency: string,
  byDay: Iterable<{ day: string; picoUsd: bigint }>,
): bigint {
  let atto = 0n
  for (const { day, picoUsd } of byDay) atto += picoUsd * perUsdOn(rates, currency, day)
  return atto
}

/** One amount from atto to pico, a half away from zero. For amounts that must add up use {@link picoParts}. */
export const picoOf = (atto: bigint): bigint => divideNearest(atto, RATE_UNIT)

/** Amounts that add up, from atto to pico: so that they still add up (largest remainder). */
export const picoParts = (attos: readonly bigint[]): { parts: bigint[]; total: bigint } => shareOut(attos, RATE_UNIT)

/**
 * One amount of dollars in another currency at a UTC day's rate, to the nearest pico-unit, a half away from zero. For amounts
 * that must add up use {@link attoIn} and {@link picoParts}.
 * @throws AppError BAD_INPUT when there is no rate of that day
 */
export const fromUsd = (rates: ExchangeRates, picoUsd: bigint, currency: string, day: string): bigint =>
  divideNearest(attoIn(rates, currency, [{ day, picoUsd }]), RATE_UNIT)

/** The way back, for what is entered in another currency (an invoice, a budget); rounded in the same way. @throws AppError BAD_INPUT */
export const toUsd = (rates: ExchangeRates, pico: bigint, currency: string, day: string): bigint =>
  currency === 'USD' ? pico : divideNearest(pico * RATE_UNIT, entryOn(rates, currency, day).perUsd)

/** Division to the nearest whole number, a half away from zero. `divisor` is above zero. */
export function divideNearest(value: bigint, divisor: bigint): bigint {
  // an odd divisor has no exact half, so adding the smaller one rounds right too
  const half = divisor / 2n
  return value < 0n ? -((-value + half) / divisor) : (value + half) / divisor
}

/** Division downwards, of negative values too. */
const divideDown = (value: bigint, divisor: bigint): bigint =>
  (value - (((value % divisor) + divisor) % divisor)) / divisor

/**
 * Parts in units of `unit`, whole, that add up to their sum to the nearest unit: each is its value rounded down or up. The units
 * that rounding down leaves go to the largest remainders, of equal ones to the earlier part; zero stays zero.
 */
export function shareOut(parts: readonly bigint[], unit: bigint): { parts: bigint[]; total: bigint } {
  const total = divideNearest(
    parts.reduce((a, b) => a + b, 0n),
    unit,
  )
  const whole = parts.map(part => divideDown(part, unit))
  let left = total - whole.reduce((a, b) => a + b, 0n)
  const order = parts
    .map((part, i) => ({ i, rest: part - whole[i]! * unit }))
    .filter(({ rest }) => rest > 0n)
    .sort((a, b) => (a.rest === b.rest ? a.i - b.i : a.rest > b.rest ? -1 : 1))
  for (const { i } of order) {
    if (left <= 0n) break
    whole[i]! += 1n
    left -= 1n
  }
  return { parts: whole, total }
}

/** Currencies whose smallest paid amount is not a hundredth (ISO 4217): places of the minor unit. */
const MINOR_PLACES: Readonly<Record<string, number>> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ').map(code => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map(code => [code, 3]),
])
export const minorPlaces = (currency: string): number => MINOR_PLACES[currency] ?? 2
/** Pico-units in a currency's smallest paid amount: 10^10 for a cent. */
export const minorUnit = (currency: string): bigint => 10n ** BigInt(MONEY_PLACES - minorPlaces(currency))
