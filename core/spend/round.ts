/**
 * Amounts for people. Money is exact inside (pico-units); it is rounded here, once, at the end: a total is the rounded sum, and
 * the parts under it are rounded so that they add up to it (largest remainder).
 */
import { MONEY_PLACES } from '#core/decimal.ts'
import { divideNearest, minorPlaces, shareOut } from './exchange.ts'

const unitOf = (places: number): bigint => 10n ** BigInt(MONEY_PLACES - places)

/** An amount to so many places, a half away from zero; still in pico-units. */
export const roundTo = (pico: bigint, places: number): bigint => divideNearest(pico, unitOf(places)) * unitOf(places)

/**
 * Parts of a total as they are shown, to so many places and still in pico-units: they add up to the rounded total exactly, each
 * within one unit of its own value (largest remainder); zero stays zero.
 */
export function roundParts(parts: readonly bigint[], places: number): { parts: bigint[]; total: bigint } {
  const unit = unitOf(places)
  const shared = shareOut(parts, unit)
  return { parts: shared.parts.map(part => part * unit), total: shared.total * unit }
}

/**
 * How many places an amount needs so that at least two of its digits show: a currency's own for a unit and more, further ones
 * below a tenth. Zero has the currency's own places, and nothing else is ever shown as zero.
 */
export function placesFor(pico: bigint, currency = 'USD'): number {
  const own = minorPlaces(currency)
  if (pico === 0n) return own
  const digits = (pico < 0n ? -pico : pico).toString().length
  // the first digit that is not zero stands at place 13 - digits; one more place shows two
  return Math.min(MONEY_PLACES, Math.max(own, MONEY_PLACES - digits + 2))
}

/**
 * An amount in words of digits, without a sign for the currency: `1,234.50`, `0.0035`, `-0.25`, `0.00`. `places` fixes a column's;
 * a part that is not zero and would round to nothing is `<0.01` there (or `>-0.01`), never `0.00`.
 */
export function amountText(pico: bigint, options: { currency?: string; places?: number; exact?: bigint } = {}): string {
  const { currency = 'USD', places = placesFor(pico, currency), exact = pico } = options
  const rounded = roundTo(pico, places)
  if (rounded === 0n && exact !== 0n) {
    const least = plain(unitOf(places), places)
    return exact > 0n ? `<${least}` : `>-${least}`
  }
  return plain(rounded, places)
}

function plain(pico: bigint, places: number): string {
  const digits = ((pico < 0n ? -pico : pico) / unitOf(places)).toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, ',')
  return `${pico < 0n ? '-' : ''}${whole}${places > 0 ? `.${digits.slice(-places)}` : ''}`
}

/** Signs that people know; every other currency is written by its code. */
const SIGNS: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥' }

/** What stands before an amount: a sign, or the code and a space. */
export const currencySign = (currency: string): string => SIGNS[currency] ?? `${currency} `

/** The same with its currency: `$1,234.50`, `-$0.25`, `<$0.01`, `CHF 12.00`. */
export function moneyText(pico: bigint, options: { currency?: string; places?: number; exact?: bigint } = {}): string {
  const { currency = 'USD' } = options
  const [, lead = '', digits = ''] = /^([<>]?-?)(.*)$/.exec(amountText(pico, options)) ?? []
  const sign = SIGNS[currency]
  return sign === undefined ? `${currency} ${lead}${digits}` : `${lead}${sign}${digits}`
}

/** Cells of one column and its total, of one number of places and adding up as they are shown. */
export function columnText(
  parts: readonly bigint[],
  options: { currency?: string; places?: number } = {},
): { cells: string[]; total: string; places: number } {
  const currency = options.currency ?? 'USD'
  const sum = parts.reduce((a, b) => a + b, 0n)
  const places = options.places ?? placesFor(sum, currency)
  const rounded = roundParts(parts, places)
  return {
    cells: rounded.parts.map((part, i) => moneyText(part, { currency, places, exact: parts[i]! })),
    total: moneyText(rounded.total, { currency, places, exact: sum }),
    places,
  }
}
