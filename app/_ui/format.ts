/**
 * Pure wording of numbers and times. Always the same language (English) on server and in the browser, so that what the
 * server renders is what the browser hydrates. No clock: the present comes in as an argument.
 */

const MINUS = '−'
const NBSP = '\u00a0'
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A figure for "there is none"; never confuse it with nought. */
export const NONE = '–'

const DECIMAL = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/

/**
 * An amount of money, exact: the decimal string is never turned into a floating number.
 * Two places, but a small non-zero amount shows its first two significant digits and is never rounded to nought.
 * @param amount decimal string, such as `8412.37` or `-0.000042`
 * @param currency ISO 4217 code
 * @param places fixed number of places instead
 * @throws RangeError when `amount` is no decimal number
 */
export function formatMoney(amount: string, currency: string, places?: number): string {
  const text = amount.trim()
  if (!DECIMAL.test(text)) throw new RangeError(`not a decimal amount: ${amount.slice(0, 40)}`)
  const small = places === undefined && isBelowOneCent(text)
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    ...(small
      ? { maximumSignificantDigits: 2 }
      : { minimumFractionDigits: places ?? 2, maximumFractionDigits: places ?? 2 }),
  })
  return withTrueMinus(format.format(text as `${number}`))
}

function isBelowOneCent(text: string): boolean {
  const size = Math.abs(Number(text))
  return size > 0 && size < 0.01
}

/** A share as a percentage with a space before the sign: 0.369 is `36.9 %`. */
export function formatPercent(fraction: number, places = 1): string {
  if (!Number.isFinite(fraction)) return NONE
  return `${withTrueMinus(decimal(fraction * 100, places))}${NBSP}%`
}

/** A whole number with thousands marks: `18,204`. */
export function formatCount(count: number | bigint): string {
  return withTrueMinus(new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 }).format(count))
}

/** A count with its noun: `1 machine`, `41 machines`, `2 boundaries`. */
export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)}${NBSP}${count === 1 ? one : many}`
}

/** Names joined as a sentence would: `a, b and c`. */
export function formatList(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  if (names.length < 2) return names[0] ?? ''
  return `${names.slice(0, -1).join(', ')} ${word} ${names[names.length - 1]}`
}

/** A span of time in its two greatest units: `47 min`, `2 h 5 min`, `3 d 4 h`, `12 s`, `340 ms`. Parts are cut, not rounded. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return NONE
  const span = Math.abs(ms)
  const sign = ms < 0 ? MINUS : ''
  if (span < SECOND) return `${sign}${Math.floor(span)}${NBSP}ms`
  if (span < MINUTE) return `${sign}${Math.floor(span / SECOND)}${NBSP}s`
  if (span < HOUR) return sign + pair(span, MINUTE, 'min', SECOND, 's')
  if (span < DAY) return sign + pair(span, HOUR, 'h', MINUTE, 'min')
  return sign + pair(span, DAY, 'd', HOUR, 'h')
}

function pair(span: number, unit: number, name: string, lesser: number, lesserName: string): string {
  const rest = Math.floor((span % unit) / lesser)
  const whole = `${Math.floor(span / unit)}${NBSP}${name}`
  return rest === 0 ? whole : `${whole} ${rest}${NBSP}${lesserName}`
}

/** How long ago, or how far ahead, in one unit: `just now`, `3 min ago`, `in 2 h`, `5 d ago`; the day itself after 30 days. */
export function formatRelative(then: Date, now: Date): string {
  const ahead = then.getTime() - now.getTime()
  const span = Math.abs(ahead)
  if (span < 45 * SECOND) return 'just now'
  if (span >= 30 * DAY) return formatDay(then, 'UTC')
  const words = oneUnit(span)
  return ahead > 0 ? `in ${words}` : `${words} ago`
}

function oneUnit(span: number): string {
  if (span < HOUR) return `${Math.max(1, Math.floor(span / MINUTE))}${NBSP}min`
  if (span < DAY) return `${Math.floor(span / HOUR)}${NBSP}h`
  return `${Math.floor(span / DAY)}${NBSP}d`
}

/** What is left until a moment: `47 min left`; with seconds in the last two minutes; then `time is up`. */
export function formatTimeLeft(until: Date, now: Date): string {
  const span = until.getTime() - now.getTime()
  if (span <= 0) return 'time is up'
  const shown =
    span < 2 * MINUTE || span >= HOUR
      ? formatDuration(Math.max(span, SECOND))
      : `${Math.floor(span / MINUTE)}${NBSP}min`
  return `${shown} left`
}

/** `30 Nov 2026` in the zone given (IANA name; the browser's own when absent). */
export function formatDay(at: Date, timeZone?: string): string {
  const part = parts(at, timeZone)
  return `${part.day} ${part.month} ${part.year}`
}

/** `30 Nov 2026, 13:23` (or with seconds) in the zone given; every result has the same number of digits. */
export function formatDateTime(at: Date, timeZone?: string, seconds = false): string {
  const part = parts(at, timeZone)
  return `${part.day} ${part.month} ${part.year}, ${part.hour}:${part.minute}${seconds ? `:${part.second}` : ''}`
}

function parts(at: Date, timeZone?: string): Record<string, string> {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  return Object.fromEntries(format.formatToParts(at).map(part => [part.type, part.value]))
}

function decimal(value: number, places: number): string {
  const text = new Intl.NumberFormat('en-US', { minimumFractionDigits: places, maximumFractionDigits: places }).format(
    value,
  )
  return /[1-9]/.test(text) ? text : text.replace('-', '')
}

function withTrueMinus(text: string): string {
  return text.replace('-', MINUS)
}
