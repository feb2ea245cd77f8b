/**
 * What a model call costs at list price. Money is whole pico-dollars (10^-12 USD) in bigint:
 * the smallest list prices are exact in it, and nothing is rounded before it is shown.
 */
import { dayStart } from '#core/day.ts'
import { formatDecimal, parseDecimal } from './decimal.ts'
import { AppError } from './error.ts'

/**
 * One call's tokens on disjoint axes: none contains another. Whole numbers, never negative.
 * Output includes reasoning. `webSearches` counts requests of a server-side tool that is priced per request.
 */
export type UsageTokens = {
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  webSearches: number
}
export type PriceAxis = keyof UsageTokens
export const PRICE_AXES: readonly PriceAxis[] = [
  'input',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
  'webSearches',
]
export const NO_TOKENS: UsageTokens = {
  input: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  webSearches: 0,
}

/** Decimal strings: USD per million tokens; `webSearches` USD per request. Null and absent mean the same. */
export type RateFigures = { [A in PriceAxis]?: string | null }
export type RateEntry = RateFigures & {
  /** First UTC day it holds, YYYY-MM-DD; absent = from ever. */
  from?: string | null
  /** The first UTC day it does not hold any more; absent = until the next one. */
  until?: string | null
  /** Dearer rates for a call whose whole input side is above so many tokens. */
  long?: (RateFigures & { above: number }) | null
}
export type RateRow = {
  provider: string
  /** Exact id. */
  id: string
  /** Further exact ids for the same prices. */
  aliases?: string[]
  /** Whether it counts for the bound on unknown models. */
  chat?: boolean
  entries: RateEntry[]
}
/** `name` identifies the content: another content has another name. */
export type RateCard = { name: string; rows: RateRow[] }

/** `max_rate`: the dearest on each axis. `zero` is a downgrade and is shown as one. Else an id whose prices stand in. */
export type UnpricedPolicy = { onUnpricedModel: 'max_rate' | 'zero' | { model: string }; providers: string[] }
/** What holds where an organisation has not said otherwise. */
export const DEFAULT_UNPRICED: UnpricedPolicy = { onUnpricedModel: 'max_rate', providers: ['anthropic'] }

/** Who sells the tokens, as far as cards name them. `other` stands for all else. */
export const PROVIDERS = [
  'anthropic',
  'openai',
  'google',
  'x-ai',
  'deepseek',
  'mistral',
  'moonshotai',
  'zai',
  'minimax',
  'other',
] as const
export type Provider = (typeof PROVIDERS)[number]

export type AxisRates = Readonly<Record<PriceAxis, bigint>>
/** Prices from a day on. `kind` says whose they are. */
export type CompiledEntry = {
  kind: 'card' | 'override'
  /** Whose price of what from when: `card:anthropic/claude-opus-4-6@2026-03-13`. */
  name: string
  from: string | undefined
  fromMs: number
  /** Where nothing follows it and it has an end. */
  untilMs?: number | undefined
  rates: AxisRates
  long: { above: number; rates: AxisRates } | undefined
  /** The axes that have a price of their own; on the others another stands in. */
  told: readonly PriceAxis[]
}
/** `fromEver`: the first entry holds before its day too. A card's does; an organisation's price for a model of its own does not. */
export type CompiledRow = { provider: string; id: string; entries: readonly CompiledEntry[]; fromEver: boolean }

/** A rate card made ready (core/rate-card/compile.ts); build it once, price many calls with it. */
export type Rates = {
  readonly name: string
  readonly byId: ReadonlyMap<string, readonly CompiledRow[]>
  readonly policy: UnpricedPolicy
  /** The bound for unknown models and, on each axis, the model that set it. */
  readonly bound: { readonly rates: AxisRates; readonly setBy: Readonly<Record<PriceAxis, string>> }
}

export type PricedCall = {
  picoUsd: bigint
  /** `card`, `override`: the model's own price, the card's or the organisation's. Else the model has none. */
  rate: 'card' | 'override' | 'fallback' | 'zero' | 'substitute'
  /** The row used; for a fallback, the models that set the bound on the axes this call uses. */
  pricedAs: string[]
  /** Whether the dearer rates for large calls were used. */
  long: boolean
  /** The dated prices used, e.g. `card:anthropic/claude-opus-4-6@2026-03-13`; absent where there are none. */
  entry?: string
}

/** USD as a decimal string ("20", "0.25") to pico-dollars. @throws AppError BAD_INPUT for a negative amount or none */
export function usdToPico(usd: string): bigint {
  const pico = parseDecimal(usd)
  if (pico === undefined || pico < 0n) throw new AppError('BAD_INPUT', 'The amount is not a price.')
  return pico
}

/** Pico-dollars as an exact decimal in USD, without needless zeros: 995106250000n is "0.99510625". */
export const picoToUsd = (pico: bigint): string => formatDecimal(pico)

// declared forms of one id; each step leaves a whole id, so that no id is ever matched by a part of it
const PROVIDER_PREFIX = /^(anthropic|openai|google|x-ai|deepseek|mistral|mistralai|moonshotai|zai|minimax)\/(.+)$/
const BEDROCK_PREFIX = /^(?:(?:us|eu|apac|jp|au|us-gov|global)\.)?anthropic\.(.+)$/
const SUFFIXES = [/\[1m\]$/, /-v\d+(?::\d+)?$/, /@(?:\d{8}|default)$/, /-20\d{6}$/, /-20\d\d-\d\d-\d\d$/]

/** The ids that a recorded id can stand for, the nearest first, and the provider that it names. */
export function formsOf(model: string): { ids: string[]; provider: string | undefined } {
  const prefixed = PROVIDER_PREFIX.exec(model)
  const bedrock = BEDROCK_PREFIX.exec(model)
  let id = prefixed?.[2] ?? bedrock?.[1] ?? model
  const named = prefixed ? (prefixed[1] === 'mistralai' ? 'mistral' : prefixed[1]) : bedrock ? 'anthropic' : undefined
  const ids = [id]
  for (const suffix of SUFFIXES) {
    id = id.replace(suffix, '')
    if (id !== ids.at(-1)) ids.push(id)
  }
  return { ids, provider: named }
}

/** What ids were found to be, of each set of rates: there are few, and they come a million times. */
const foundRows = new WeakMap<Rates, Map<string, CompiledRow | undefined>>()
/** Ids come from outside, so what is kept has an end. */
const KEPT_MOST = 5000

function findRow(rates: Rates, model: string, provider?: string): CompiledRow | undefined {
  let kept = foundRows.get(rates)
  if (kept === undefined) {
    kept = new Map()
    foundRows.set(rates, kept)
  }
  const key = provider === undefined ? model : `${model} ${provider}`
  const before = kept.get(key)
  if (before !== undefined || kept.has(key)) return before
  if (kept.size >= KEPT_MOST) kept.clear()
  const row = lookUpRow(rates, model, provider)
  kept.set(key, row)
  return row
}

function lookUpRow(rates: Rates, model: string, provider: string | undefined): CompiledRow | undefined {
  const choose = (id: string, of: string | undefined) => {
    const rows = rates.byId.get(id)
    const own = rows?.find(row => row.provider === of)
    // whoever resells under no name of the card's sells the model of the first row
    return own ?? (of === undefined || of === 'other' ? rows?.[0] : undefined)
  }
  const exact = choose(model, provider)
  if (exact) return exact
  const { ids, provider: named } = formsOf(model)
  for (const id of ids) {
    const row = choose(id, named ?? provider)
    if (row) return row
  }
  return undefined
}

/** The card's own id and provider that an id stands for: exact or a declared form of it. Undefined = not on the card. */
export function findPriced(
  rates: Rates,
  model: string,
  provider?: string,
): { id: string; provider: string } | undefined {
  const row = findRow(rates, model, provider)
  return row && { id: row.id, provider: row.provider }
}

function multiply(tokens: UsageTokens, rates: AxisRates): bigint {
  let sum = 0n
  for (const axis of PRICE_AXES) if (tokens[axis] !== 0) sum += BigInt(tokens[axis]) * rates[axis]
  return sum
}

function entryAt(row: CompiledRow, atMs: number): CompiledEntry | undefined {
  let found = row.fromEver ? row.entries[0] : undefined
  for (const entry of row.entries) if (entry.fromMs <= atMs) found = entry
  return found?.untilMs !== undefined && found.untilMs <= atMs ? undefined : found
}

function findEntry(rates: Rates, of: { model: string; provider?: string | undefined; atMs: number }) {
  const row = findRow(rates, of.model, of.provider)
  const entry = row && entryAt(row, of.atMs)
  return entry && { row, entry }
}

/** The whole input side of one call, which is what a threshold of size is compared with. */
const inputSide = (t: UsageTokens) => t.input + t.cacheRead + t.cacheWrite5m + t.cacheWrite1h

function priceAt(
  rates: Rates,
  of: { model: string; provider?: string | undefined; atMs: number; tokens: UsageTokens },
  isLongFor: (above: number) => boolean,
): PricedCall {
  const { tokens } = of
  for (const axis of PRICE_AXES)
    if (!Number.isSafeInteger(tokens[axis]) || tokens[axis] < 0) throw new AppError('BAD_INPUT', `bad count of ${axis}`)
  const { onUnpricedModel } = rates.policy
  const own = findEntry(rates, of)
  if (!own && onUnpricedModel === 'zero') return { picoUsd: 0n, rate: 'zero', pricedAs: [], long: false }
  const standIn = own || typeof onUnpricedModel === 'string' ? undefined : { ...of, model: onUnpricedModel.model }
  const found = own ?? (standIn && findEntry(rates, { ...standIn, provider: undefined }))
  if (found) {
    const { row, entry } = found
    const long = entry.long !== undefined && isLongFor(entry.long.above)
    return {
      picoUsd: multiply(tokens, long ? entry.long!.rates : entry.rates),
      rate: own ? entry.kind : 'substitute',
      pricedAs: [row.id],
      long,
      entry: entry.name,
    }
  }
  // an unknown model, and a stand-in that is itself unknown, fail closed to the bound
  const setBy = PRICE_AXES.filter(a => tokens[a] > 0).map(a => rates.bound.setBy[a])
  return {
    picoUsd: multiply(tokens, rates.bound.rates),
    rate: 'fallback',
    pricedAs: [...new Set(setBy)],
    long: false,
  }
}

/**
 * Prices one call at the prices of its own UTC day. A model that is not on the card is priced as the policy says, and the
 * result says so; it is never dropped. `provider`, where it is known, chooses among rows of one id.
 * @throws AppError BAD_INPUT for a count that is not a whole non-negative number
 */
export function priceCall(
  rates: Rates,
  call: { model: string; provider?: string | undefined; atMs: number; tokens: UsageTokens },
): PricedCall {
  return priceAt(rates, call, above => inputSide(call.tokens) > above)
}

/**
 * Prices many calls of one model and UTC day at once. Size is decided per call, so it comes with the bucket; with it the
 * price is linear in the tokens, and a bucket costs exactly what its calls cost one by one.
 * @throws AppError BAD_INPUT for a count that is not a whole non-negative number
 */
export function priceBucket(
  rates: Rates,
  bucket: { model: string; provider?: string | undefined; day: string; long: boolean; tokens: UsageTokens },
): PricedCall {
  return priceAt(rates, { ...bucket, atMs: dayStart(bucket.day) }, () => bucket.long)
}

/**
 * What one token of each axis costs (a request, of `webSearches`), in pico-dollars, for calls of one model and UTC day; undefined
 * where the model has no price of its own then. Counts times these are exactly what {@link priceBucket} gives.
 */
export function unitPrices(
  rates: Rates,
  of: { model: string; provider?: string | undefined; day: string; long: boolean },
): { rates: AxisRates; kind: CompiledEntry['kind'] } | undefined {
  const found = findEntry(rates, { ...of, atMs: dayStart(of.day) })
  return found && { rates: (of.long && found.entry.long?.rates) || found.entry.rates, kind: found.entry.kind }
}
