/** The ledger's calls, priced and attributed: by one way for the terminal, for uploads and for budgets. */
import { hash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { isAppError } from '#core/error.ts'
import { DEFAULT_UNPRICED, NO_TOKENS, type Rates } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import type { TrustedRuleSet } from '#core/rule-set.ts'
import { rateRows } from '#core/rules/read-rates.ts'
import { listedTags } from '#core/usage/attribution.ts'
import { type PricedMeteredCall, type RateKind, USAGE_CLIENTS, type UsageClient } from '#core/usage/bucket.ts'
import { type Cover, coverOf, declaredKey } from '#core/usage/declared-cover.ts'
import { priceMetered } from '#core/usage/price-metered.ts'
import type { TagLists } from '#core/usage/tags.ts'
import { attributionOf, type Self, spendOf } from './attribute.ts'
import type { LedgerCall } from './ledger.ts'
import type { Place } from './place.ts'

/** Prices and rules that calls are metered by. */
export type Meter = {
  rates: Rates
  set: TrustedRuleSet | undefined
  self: Self
}

const compiled = new WeakMap<TrustedRuleSet, Rates>()
let card: Rates | undefined

/** The built-in card with the organisation's overrides and policy. Overrides that do not fit together leave the card alone. */
export function ratesOf(set: TrustedRuleSet | undefined): Rates {
  card ??= builtInRates()
  const spend = spendOf(set)
  if (!set || !spend || (spend.rates.length === 0 && spend.unpriced === undefined)) return card
  let rates = compiled.get(set)
  if (rates === undefined) {
    const overrides = spend.rates.length > 0 ? { name: set.digest, rows: rateRows(spend.rates) } : undefined
    try {
      rates = builtInRates(spend.unpriced ?? DEFAULT_UNPRICED, overrides)
    } catch (error) {
      if (!isAppError(error)) throw error
      rates = card
    }
    compiled.set(set, rates)
  }
  return rates
}

export const makeMeter = (set: TrustedRuleSet | undefined, self: Self): Meter => ({ rates: ratesOf(set), set, self })

const sections = new WeakMap<TrustedRuleSet, string>()

/** Names what calls are metered by: sums that were made by another have to be made anew. A publish of other rules changes nothing. */
export function meterKey({ set, self }: Meter): string {
  let ofRules = set === undefined ? '' : sections.get(set)
  if (set !== undefined && ofRules === undefined) {
    const { attribution, rateCard, covered } = set.set
    ofRules = hash(
      'sha256',
      JSON.stringify([attribution, rateCard, ...(covered === undefined ? [] : [covered])]),
      'base64url',
    ).slice(0, 22)
    sections.set(set, ofRules)
  }
  return `${ratesOf(undefined).name} ${ofRules} ${declaredKey(self.declared)}`
}

/** A priced call with where it came from. */
export type MeteredHere = PricedMeteredCall & { place: Place; subagent: boolean }

/** Models of which no list here has a price now, and what stands in for it. */
export function unpricedOf(
  models: readonly { model: string; provider?: string }[],
  rates: Rates,
  atMs: number,
): { model: string; rate: RateKind }[] {
  const rateOf = new Map<string, RateKind>()
  for (const { model, provider } of models) {
    const call = {
      key: '',
      client: 'other' as const,
      model,
      atMs,
      tokens: NO_TOKENS,
      tags: {},
      covered: 'unknown' as const,
    }
    const { rate } = priceMetered(rates, { ...call, ...(provider === undefined ? {} : { provider }) })
    if (rate !== 'card' && rate !== 'override') rateOf.set(model, rate)
  }
  return [...rateOf].map(([model, rate]) => ({ model, rate })).sort((a, b) => (a.model < b.model ? -1 : 1))
}

const CALLS_AT_ONCE = 500

/** Whether a plan covers a call: see {@link coverOf}. What its own record says is before what its session's client told. */
export const coverOfCall = (
  { covered, place, atMs }: Pick<LedgerCall, 'covered' | 'atMs'> & { place: Pick<Place, 'client' | 'covered'> },
  { set, self }: Pick<Meter, 'set'> & { self: Pick<Self, 'declared'> },
): Cover =>
  coverOf(
    covered ?? place.covered,
    { client: place.client, atMs },
    { organisation: spendOf(set)?.covered, machine: self.declared },
  )

/** Prices and attributes calls. `lists`: only what may leave the machine stays in the tags, the rest is told as `unlisted`. */
export async function meter(
  calls: readonly LedgerCall[],
  { rates, set, self }: Meter,
  lists?: TagLists,
): Promise<MeteredHere[]> {
  const rules = spendOf(set)
  const tagsAt = new Map<Place, ReturnType<typeof listedTags>>()
  const metered: MeteredHere[] = []
  for (const [i, one] of calls.entries()) {
    const { key, model, atMs, tokens, subagent, place, provider, partial, isSum } = one
    if (i % CALLS_AT_ONCE === CALLS_AT_ONCE - 1) await breathe()
    let found = tagsAt.get(place)
    if (found === undefined) {
      const { tags } = attributionOf(place, rules, self)
      found = lists === undefined ? { tags: { ...tags }, unlisted: [] } : listedTags(tags, lists)
      tagsAt.set(place, found)
    }
    const client = clientOf(place.client)
    const call = {
      key,
      client,
      model,
      atMs,
      tokens,
      ...coverOfCall(one, { set, self }),
      ...(provider === undefined ? {} : { provider }),
      ...(partial ? { partial } : {}),
      ...found,
    }
    metered.push({ ...priceMetered(rates, call, { isSum: isSum === true }), place, subagent })
  }
  return metered
}

const clientOf = (client: string): UsageClient =>
  (USAGE_CLIENTS as readonly string[]).includes(client) ? (client as UsageClient) : 'other'
