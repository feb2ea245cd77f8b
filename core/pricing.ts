/**
 * What a model call costs at list price. Money is whole pico-dollars (10^-12 USD) in bigint:
 * the smallest list prices are exact in it, and nothing is rounded before it is shown.
 */
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

type AxisRates = Record<PriceAxis, bigint>
type CompiledEntry = { fromMs: number; rates: AxisRates; long: { above: number; rates: AxisRates } | undefined }
type CompiledRow = { provider: string; id: string; entries: CompiledEntry[] }

/** A rate card made ready; build it once, price many calls with it. */
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
}

const bad = (what: string) => new AppError('BAD_INPUT', `rate card: ${what}`)

/**
 * A decimal string times 10^scale, exact.
 * @throws AppError BAD_INPUT for anything that is not a plain non-negative decimal or has more digits than fit.
 */
function scaleDecimal(text: string, scale: number, where: string): bigint {
  const m = /^(\d{1,9})(?:\.(\d+))?$/.exec(text)
  const fraction = m?.[2] ?? ''
  if (!m || fraction.length > scale) throw bad(`${where} is not a price`)
  return BigInt(m[1] + fraction.padEnd(scale, '0'))
}

/** USD as a decimal string ("20", "0.25") to pico-dollars. @throws AppError BAD_INPUT */
export const usdToPico = (usd: string): bigint => scaleDecimal(usd, 12, 'amount')

/** Pico-dollars as an exact decimal in USD, without needless zeros: 995106250000n is "0.99510625". */
export function picoToUsd(pico: bigint): string {
  const sign = pico < 0n ? '-' : ''
  const digits = (pico < 0n ? -pico : pico).toString().padStart(13, '0')
  const fraction = digits.slice(-12).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -12)}${fraction && `.${fraction}`}`
}

// a price that the card leaves out falls to the next dearer one it has, never to zero
const FALLS_TO: Partial<Record<PriceAxis, PriceAxis>> = {
  cacheRead: 'input',
  cacheWrite5m: 'input',
  cacheWrite1h: 'cacheWrite5m',
}

function compileFigures(figures: RateFigures, base: RateFigures | undefined, where: string): AxisRates {
  const out = {} as AxisRates
  for (const axis of ['input', 'output', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'webSearches'] as const) {
    const text = figures[axis] ?? base?.[axis]
    const next = FALLS_TO[axis]
    // USD per million tokens times 10^6 is pico-dollars per token
    if (text != null) out[axis] = scaleDecimal(text, axis === 'webSearches' ? 12 : 6, `${where} ${axis}`)
    else if (next) out[axis] = out[next]
    else if (axis === 'webSearches') out[axis] = 0n
    else throw bad(`${where} has no ${axis} price`)
  }
  return out
}

function compileRow(row: RateRow): CompiledRow {
  const where = `${row.provider}/${row.id}`
  const entries = row.entries.map(entry => {
    const fromMs = entry.from == null ? Number.NEGATIVE_INFINITY : Date.parse(`${entry.from}T00:00:00Z`)
    if (Number.isNaN(fromMs)) throw bad(`${where} has a bad date`)
    const long = entry.long
      ? { above: entry.long.above, rates: compileFigures(entry.long, entry, `${where} long`) }
      : undefined
    return { fromMs, rates: compileFigures(entry, undefined, where), long }
  })
  if (entries.length === 0) throw bad(`${where} has no prices`)
  return { provider: row.provider, id: row.id, entries: entries.sort((a, b) => a.fromMs - b.fromMs) }
}

/**
 * Makes a card ready. Rows of `overrides` (an organisation's, named for its content, e.g. by the rule set's digest)
 * replace the card's rows of the same provider and id.
 * @throws AppError BAD_INPUT for a price or date that is none, or when no chat model of the policy's providers is left
 */
export function compileRates(card: RateCard, policy: UnpricedPolicy, overrides?: RateCard): Rates {
  const replaced = new Set(overrides?.rows.map(r => `${r.provider}/${r.id}`))
  const rows = [...(overrides?.rows ?? []), ...card.rows.filter(r => !replaced.has(`${r.provider}/${r.id}`))]
  const byId = new Map<string, CompiledRow[]>()
  const bound = { rates: {} as AxisRates, setBy: {} as Record<PriceAxis, string> }
  for (const row of rows) {
    const compiled = compileRow(row)
    for (const id of [row.id, ...(row.aliases ?? [])]) byId.set(id, [...(byId.get(id) ?? []), compiled])
    if (row.chat === false || !policy.providers.includes(row.provider)) continue
    for (const { rates, long } of compiled.entries)
      for (const axis of PRICE_AXES)
        for (const rate of long ? [rates[axis], long.rates[axis]] : [rates[axis]])
          if (bound.rates[axis] === undefined || rate > bound.rates[axis]) {
            bound.rates[axis] = rate
            bound.setBy[axis] = row.id
          }
  }
  if (bound.rates.input === undefined) throw bad('no chat model of the enabled providers')
  return { name: overrides ? `${card.name}+${overrides.name}` : card.name, byId, policy, bound }
}

// declared forms of one id; each step leaves a whole id, so that no id is ever matched by a part of it
const PROVIDER_PREFIX = /^(anthropic|openai|google|x-ai|deepseek|mistral|mistralai|moonshotai|zai|minimax)\/(.+)$/
const BEDROCK_PREFIX = /^(?:(?:us|eu|apac|jp|au|us-gov|global)\.)?anthropic\.(.+)$/
const SUFFIXES = [/\[1m\]$/, /-v\d+(?::\d+)?$/, /@(?:\d{8}|default)$/, /-20\d{6}$/, /-20\d\d-\d\d-\d\d$/]

function findRow(rates: Rates, model: string): CompiledRow | undefined {
  let id = model
  let provider: string | undefined
  const get = () => {
    const rows = rates.byId.get(id)
    return provider === undefined ? rows?.[0] : rows?.find(r => r.provider === provider)
  }
  const exact = get()
  if (exact) return exact
  const prefixed = PROVIDER_PREFIX.exec(id)
  const bedrock = BEDROCK_PREFIX.exec(id)
  if (prefixed) {
    provider = prefixed[1] === 'mistralai' ? 'mistral' : prefixed[1]
    id = prefixed[2]!
  } else if (bedrock) {
    provider = 'anthropic'
    id = bedrock[1]!
  }
  let row = get()
  for (const suffix of SUFFIXES) {
    if (row) break
    id = id.replace(suffix, '')
    row = get()
  }
  return row
}

/** The card's own id that this id stands for: exact or a declared form of it. Undefined = not on the card. */
export const findPricedModel = (rates: Rates, model: string): string | undefined => findRow(rates, model)?.id

function multiply(tokens: UsageTokens, rates: AxisRates): bigint {
  let sum = 0n
  for (const axis of PRICE_AXES) if (tokens[axis] !== 0) sum += BigInt(tokens[axis]) * rates[axis]
  return sum
}

function entryAt(row: CompiledRow, atMs: number): CompiledEntry {
  let found = row.entries[0]!
  for (const entry of row.entries) if (entry.fromMs <= atMs) found = entry
  return found
}

function priceByRow(row: CompiledRow, atMs: number, tokens: UsageTokens): bigint {
  const { rates, long } = entryAt(row, atMs)
  const inputSide = tokens.input + tokens.cacheRead + tokens.cacheWrite5m + tokens.cacheWrite1h
  return multiply(tokens, long && inputSide > long.above ? long.rates : rates)
}

/**
 * Prices one call at the prices of its own time. A model that is not on the card is priced as the policy says, and
 * the result says so; it is never dropped.
 * @throws AppError BAD_INPUT for a count that is not a whole non-negative number
 */
export function priceCall(rates: Rates, call: { model: string; atMs: number; tokens: UsageTokens }): PricedCall {
  const { tokens, atMs } = call
  for (const axis of PRICE_AXES)
    if (!Number.isSafeInteger(tokens[axis]) || tokens[axis] < 0) throw new AppError('BAD_INPUT', `bad count of ${axis}`)
  const row = findRow(rates, call.model)
  if (row) return { picoUsd: priceByRow(row, atMs, tokens), rate: 'card', pricedAs: [row.id] }
  const { onUnpricedModel } = rates.policy
  if (onUnpricedModel === 'zero') return { picoUsd: 0n, rate: 'zero', pricedAs: [] }
  // a stand-in that is itself unknown fails closed to the bound
  const standIn = onUnpricedModel === 'max_rate' ? undefined : findRow(rates, onUnpricedModel.model)
  if (standIn) return { picoUsd: priceByRow(standIn, atMs, tokens), rate: 'substitute', pricedAs: [standIn.id] }
  const setBy = PRICE_AXES.filter(a => tokens[a] > 0).map(a => rates.bound.setBy[a])
  return { picoUsd: multiply(tokens, rates.bound.rates), rate: 'fallback', pricedAs: [...new Set(setBy)] }
}
