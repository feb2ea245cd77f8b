/**
 * Decimals as whole numbers of their smallest unit: exact at any size, never a float. Money has twelve places
 * (pico-units: 10^-12 of a dollar or of another currency's unit), as `numeric(38,12)` in the database.
 */
export const MONEY_PLACES = 12

/**
 * A plain decimal (`20`, `-0.25`) times 10^places. Undefined for anything else: an exponent, a plus sign, spaces, more
 * places than fit (trailing zeros beyond them fit), or more than 26 digits before the point.
 */
export function parseDecimal(text: string, places: number = MONEY_PLACES): bigint | undefined {
  const match = /^(-?)(\d{1,26})(?:\.(\d{1,40}))?$/.exec(text)
  if (!match) return undefined
  const fraction = match[3] ?? ''
  if (/[1-9]/.test(fraction.slice(places))) return undefined
  const value = BigInt(match[2]! + fraction.slice(0, places).padEnd(places, '0'))
  return match[1] === '-' ? -value : value
}

/** The shortest decimal of a scaled number: with 12 places 995106250000n is `0.99510625`. The inverse of parseDecimal. */
export function formatDecimal(value: bigint, places: number = MONEY_PLACES): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const cut = digits.length - places
  const fraction = digits.slice(cut).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}${fraction && `.${fraction}`}`
}

/** Below, equal to or above, as -1, 0 or 1: exact, whatever the number of places. @throws RangeError for what is no plain decimal */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const left = parseDecimal(a)
  const right = parseDecimal(b)
  if (left === undefined || right === undefined) throw new RangeError(`no decimals to compare: ${a}, ${b}`)
  return left < right ? -1 : left > right ? 1 : 0
}
