import type * as z from 'zod/mini'
import { formatDecimal, MONEY_PLACES, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { INVOICE_LINES_MAX, INVOICE_TEXT_MAX } from '#core/limits.ts'
import { clip } from '#core/plain-text.ts'
import { divideNearest } from '#core/spend/exchange.ts'

/** One amount of a provider's invoice. `day` is a UTC day; what the provider does not say is absent. */
export type InvoiceLine = {
  day?: string
  /** The provider's id of the model. */
  model?: string
  /** As the provider words it, cut to one plain line of 60 characters. */
  description?: string
  /** ISO 4217. */
  currency: string
  /** 10^-12 of the currency's unit; negative for what is given back. */
  pico: bigint
}

/** @throws AppError BAD_INPUT, the message naming the place and `details.place` holding it */
export const refuseAt = (place: string, what: string): AppError =>
  new AppError('BAD_INPUT', `${place}: ${what}.`, { details: { place } })

/** More places than any report has; what is finer than a pico is rounded to it. */
const FINE = 30

/** An amount in units of 10^-shift of the currency's unit (2: cents), to the nearest pico. Undefined for what is no decimal. */
export function picoOf(text: string, shift = 0): bigint | undefined {
  const fine = parseDecimal(text, FINE)
  return fine === undefined ? undefined : divideNearest(fine, 10n ** BigInt(FINE - MONEY_PLACES + shift))
}

/** A JSON number as a decimal text, digit by digit as it was sent (its shortest spelling, an exponent written out). */
export function numberText(value: number): string {
  const text = String(value)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!match) return text
  const [, sign = '', lead = '', rest = '', exponent = '0'] = match
  const digits = BigInt(lead + rest)
  const places = rest.length - Number(exponent)
  return `${sign}${places <= 0 ? String(digits * 10n ** BigInt(-places)) : formatDecimal(digits, places)}`
}

/** A line's description, fit to be shown; nothing for nothing. */
export const wordedAs = (text: string | null | undefined): { description?: string } =>
  text ? { description: clip(text) } : {}

/** The pages of a report: one page, or a list of them in their order. The last must be the last there is. */
export function readPages<T extends { has_more: boolean }>(
  text: string,
  Page: z.ZodMiniType<T>,
): { page: T; at: string }[] {
  if (text.length > INVOICE_TEXT_MAX) throw new AppError('TOO_LARGE', 'The report is larger than 8 MiB.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuseAt('the report', 'it is not JSON')
  }
  const isList = Array.isArray(value)
  const list: unknown[] = isList ? (value as unknown[]) : [value]
  const pages = list.map((item, i) => {
    const at = isList ? `[${i}]` : ''
    const read = Page.safeParse(item)
    if (read.success) return { page: read.data, at }
    const { path, message } = read.error.issues[0]!
    throw refuseAt(placeOf(at, path), message === 'Invalid input' ? 'this is not what the provider documents' : message)
  })
  if (pages.length === 0) throw refuseAt('the report', 'it has no page')
  if (pages.at(-1)!.page.has_more)
    throw refuseAt(`${pages.at(-1)!.at || 'the report'}`, 'has_more is true: the report goes on. Add its further pages')
  return pages
}

/** `data[0].results[2].amount` */
export function placeOf(before: string, path: readonly PropertyKey[]): string {
  let place = before
  for (const step of path) place += typeof step === 'number' ? `[${step}]` : `${place && '.'}${clip(String(step))}`
  return place || 'the report'
}

/** Adds a line, as long as there are not too many. */
export function addLine(lines: InvoiceLine[], line: InvoiceLine): void {
  if (lines.length >= INVOICE_LINES_MAX)
    throw new AppError('TOO_LARGE', `There are more than ${INVOICE_LINES_MAX} lines.`)
  lines.push(line)
}
