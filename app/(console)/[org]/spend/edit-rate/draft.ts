/** What the form holds, and the same as the document writes it. */

import { type Finding, Findings } from '#core/boundary/problem.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { treeFromJson } from '#core/boundary/tree.ts'
import { PRICE_AXES, type PriceAxis } from '#core/pricing.ts'
import { readRate } from '#core/rules/read-rates.ts'
import { AXIS_KEYS } from '../rates/words.ts'

type Prices = Readonly<Record<PriceAxis, string>>
export type Draft = {
  model: string
  provider: string
  from: string
  until: string
  prices: Prices
  /** Input tokens above which a call costs more; empty: none do. */
  above: string
  long: Prices
  aliases: string
}

export const NO_PRICES = Object.fromEntries(PRICE_AXES.map(axis => [axis, ''])) as Prices

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
const pricesOf = (json: JsonObject): Prices =>
  Object.fromEntries(PRICE_AXES.map(axis => [axis, textOf(json[AXIS_KEYS[axis]])])) as Prices

/** A price of the document as the form holds it. */
export function draftOf(rate: JsonObject): Draft {
  const long = typeof rate.long === 'object' && !Array.isArray(rate.long) ? (rate.long as JsonObject) : {}
  return {
    model: textOf(rate.model),
    provider: textOf(rate.provider),
    from: textOf(rate.from),
    until: textOf(rate.until),
    prices: pricesOf(rate),
    above: textOf(long.above),
    long: pricesOf(long),
    aliases: Array.isArray(rate.aliases) ? rate.aliases.join(', ') : '',
  }
}

const pricesToJson = (prices: Prices): JsonObject =>
  Object.fromEntries(
    PRICE_AXES.filter(axis => prices[axis].trim() !== '').map(axis => [AXIS_KEYS[axis], prices[axis].trim()]),
  )

/** The price in the document's own keys and words; whatever is wrong with it is found when it is read. */
export function documentOf({ model, provider, from, until, prices, above, long, aliases }: Draft): JsonObject {
  const names = aliases.split(/[\s,]+/).filter(Boolean)
  const size = above.trim()
  return {
    model: model.trim(),
    provider,
    ...(from === '' ? {} : { from }),
    ...(until === '' ? {} : { until }),
    ...pricesToJson(prices),
    ...(size === '' ? {} : { long: { above: /^\d{1,9}$/.test(size) ? Number(size) : size, ...pricesToJson(long) } }),
    ...(names.length === 0 ? {} : { aliases: names }),
  }
}

/** What is wrong with a draft; nothing when it can be published. */
export function problemsOf(draft: Draft): readonly Finding[] {
  const findings = new Findings()
  const tree = treeFromJson(documentOf(draft))
  if (tree) readRate(tree, findings)
  return findings.errors
}
