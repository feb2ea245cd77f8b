import type { Budget } from '#core/budget/budget.ts'
import type { Provider, UnpricedPolicy } from '#core/pricing.ts'
import type { ExchangeRate } from '#core/spend/exchange.ts'
import type { DeclaredCover } from '#core/usage/declared-cover.ts'
import type { Rename } from '#core/usage/renames.ts'
import type { TagLists, Tags } from '#core/usage/tags.ts'

/** What a session can be told by, in the order a document gives them. All but `environment` are patterns, `*` the wildcard. */
export const ATTRIBUTION_CONDITIONS = ['repository', 'directory', 'machine', 'member', 'environment'] as const
export type AttributionCondition = (typeof ATTRIBUTION_CONDITIONS)[number]

/**
 * To whom sessions belong: where all of `when` hold, the values of `set`; of several rules that hold the first decides, for each
 * key. `environment` is `NAME=pattern`.
 */
export interface AttributionRule {
  when: Readonly<Partial<Record<AttributionCondition, string>>>
  set: Tags
}

/** Prices as exact decimals in shortest form: USD per million tokens, `webSearches` USD per request. Absent: see the card's rules. */
export interface RatePrices {
  input: string
  output: string
  cacheRead?: string
  cacheWrite5m?: string
  cacheWrite1h?: string
  webSearches?: string
}

/** An organisation's own price of a model from a day on. */
export interface Rate extends RatePrices {
  provider: Provider
  /** Exact id. */
  model: string
  /** Further exact ids. */
  aliases: readonly string[]
  /** First UTC day, `2026-12-01`; absent: from ever. */
  from?: string
  /** The first UTC day on which it does not hold any more: what the card says holds again. Absent: until another one begins. */
  until?: string
  /** Dearer prices for a call whose whole input side is above so many tokens. */
  long?: Partial<RatePrices> & { above: number }
}

/** Everything of a rule document that is about spend. */
export interface SpendRules {
  /** Values per key; `tenant` and `project` are always there. */
  tags: TagLists
  /** Values that are called otherwise now. */
  renames: readonly Rename[]
  attribution: readonly AttributionRule[]
  budgets: readonly Budget[]
  rates: readonly Rate[]
  unpriced: UnpricedPolicy | undefined
  /** What a dollar is in other currencies, in the document's order. */
  exchange: readonly ExchangeRate[]
  /** What of clients a plan covers, where neither records nor sign-ins tell; undefined: nothing is said. */
  covered: DeclaredCover | undefined
}
