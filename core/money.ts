/**
 * Fixed-point numbers with six places: money in micro-dollars, percentages in millionths of a point.
 *
 * A safe integer (`number`), not a bigint. The bound: nothing above MAX_MICROS = 10^15 (a billion dollars) is ever
 * made here, and a sum or difference of two such values stays below 2^53 ≈ 9.007 × 10^15, so every addition and
 * comparison of readings and thresholds is exact. Sums over many calls belong to the ledger, which uses bigint.
 */
export type Micros = number

export const MICROS_PER_UNIT = 1_000_000
export const MAX_MICROS: Micros = 1_000_000_000 * MICROS_PER_UNIT

/** A decimal cut at six places: the part that fits, rounded down, and whether anything was cut off. */
export interface CutDecimal {
  floor: Micros
  cut: boolean
}

/** Reads a plain non-negative decimal (`20`, `0.5`, `19.9999995`) of any length; undefined for all else, or above MAX_MICROS. */
export function cutDecimal(text: string): CutDecimal | undefined {
  const match = /^(\d{1,400})(?:\.(\d{1,400}))?$/.exec(text)
  if (!match) return undefined
  const whole = (match[1] ?? '').replace(/^0+(?=\d)/, '')
  if (whole.length > 10) return undefined
  const places = match[2] ?? ''
  const floor = Number(whole) * MICROS_PER_UNIT + Number(places.slice(0, 6).padEnd(6, '0'))
  return floor > MAX_MICROS ? undefined : { floor, cut: /[1-9]/.test(places.slice(6)) }
}

/** An exact decimal of at most six places as micros; undefined when it is not one (never rounded, never a float). */
export function parseMicros(text: string): Micros | undefined {
  const read = cutDecimal(text)
  return read === undefined || read.cut ? undefined : read.floor
}

/**
 * A measured number, such as a client's JSON gives, as a cut decimal. It is read from its shortest decimal spelling,
 * which is what the sender wrote. Undefined for a negative or non-finite number or one above MAX_MICROS.
 */
export function cutNumber(value: number): CutDecimal | undefined {
  if (!Number.isFinite(value) || value < 0) return undefined
  const text = String(value)
  if (!text.includes('e')) return cutDecimal(text)
  if (text.includes('e+')) return undefined
  return { floor: 0, cut: true } // shortest spelling uses e- only below 10^-6
}

/** `value / perMicro` micros, rounded up: how a finer sum (say pico-dollars, perMicro 10^6) becomes a cost reading. */
export function microsUp(value: bigint, perMicro: bigint): Micros {
  if (value <= 0n) return 0
  const up = (value + perMicro - 1n) / perMicro
  return up > BigInt(MAX_MICROS) ? MAX_MICROS : Number(up)
}

/** The shortest exact decimal: `20`, `19.99`, `0.000001`. The inverse of parseMicros. */
export function formatMicros(micros: Micros): string {
  const sign = micros < 0 ? '-' : ''
  const abs = Math.abs(micros)
  const places = String(abs % MICROS_PER_UNIT)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${sign}${Math.floor(abs / MICROS_PER_UNIT)}${places === '' ? '' : `.${places}`}`
}

/** Dollars for people, exact: at least two places, more only where they are not zero: `$20.00`, `$19.999999`. */
export function formatUsd(micros: Micros): string {
  const text = formatMicros(Math.abs(micros))
  const [whole = '0', places = ''] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${micros < 0 ? '-' : ''}$${grouped}.${places.padEnd(2, '0')}`
}

/**
 * A measured cost for people: rounded up to the cent from a dollar on, to a hundredth of a cent below it, so that what is
 * shown never stands under a threshold that was crossed. `$20.14`, `$0.0042`.
 */
export function formatCost(micros: Micros): string {
  const unit = Math.abs(micros) >= MICROS_PER_UNIT ? 10_000 : 100
  return formatUsd(Math.ceil(micros / unit) * unit)
}
