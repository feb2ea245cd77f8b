import { findPriced, PRICE_AXES, type Provider, priceBucket, priceCall, type Rates } from '#core/pricing.ts'
import {
  areSound,
  type Bucket,
  type MeteredCall,
  mergeBuckets,
  modelId,
  type PricedMeteredCall,
  providerName,
} from './bucket.ts'

/** A call as a collector knows it: `provider` where the client records it. */
export type UnpricedCall = Omit<MeteredCall, 'provider'> & { provider?: string | undefined }

/**
 * A collected call with its price. The provider is the client's word, else that of the model's row; the model is priced by
 * the id under which it goes into a bucket, so that the control plane finds the same price.
 */
export function priceMetered(rates: Rates, call: UnpricedCall): PricedMeteredCall {
  const model = modelId(call.model)
  const named = call.provider === undefined ? findPriced(rates, model)?.provider : call.provider
  const provider: Provider = providerName(named)
  const { picoUsd, rate, long } = priceCall(rates, { model, provider, atMs: call.atMs, tokens: call.tokens })
  return { ...call, model, provider, picoUsd, rate, long }
}

/** What pricing a day anew found. */
export type Repriced = {
  buckets: Bucket[]
  /** The day as it was sent, and at these rates. */
  sentPico: bigint
  picoUsd: bigint
  /** Buckets whose cost or kind of price came out otherwise: told as a note on the data, not held against the machine. */
  differing: number
  /** Buckets with tokens, a known price, and a cost of 0 as sent: an error of the sender's reckoning. */
  free: number
}

/**
 * Prices the buckets of one UTC day from their tokens, whatever cost they came with. A bucket whose model now has a price, or
 * has one no more, moves to the key that says so.
 */
export function repriceDay(rates: Rates, day: string, buckets: readonly Bucket[]): Repriced {
  let sentPico = 0n
  let total = 0n
  let differing = 0
  let free = 0
  const priced = buckets.map(bucket => {
    const { picoUsd, rate } = priceBucket(rates, { ...bucket, day })
    sentPico += bucket.picoUsd
    total += picoUsd
    if (picoUsd !== bucket.picoUsd || rate !== bucket.rate) differing++
    if (bucket.picoUsd === 0n && picoUsd > 0n && rate !== 'fallback') free++
    return { ...bucket, picoUsd, rate }
  })
  return { buckets: mergeBuckets(priced), sentPico, picoUsd: total, differing, free }
}

/** Models without a price, with what was used of them: what an administrator is asked to price. */
export type UnpricedModel = { provider: Provider; model: string; calls: number; tokens: number; boundPico: bigint }

export function unpricedModels(buckets: Iterable<Bucket>): UnpricedModel[] {
  const byModel = new Map<string, UnpricedModel>()
  for (const { provider, model, calls, tokens, rate, picoUsd } of buckets) {
    if (rate === 'card' || rate === 'override') continue
    const key = `${provider} ${model}`
    const row = byModel.get(key) ?? { provider, model, calls: 0, tokens: 0, boundPico: 0n }
    row.calls += calls
    row.boundPico += picoUsd
    for (const axis of PRICE_AXES) if (axis !== 'webSearches') row.tokens += tokens[axis]
    byModel.set(key, row)
  }
  return [...byModel.values()].sort((a, b) => (a.boundPico === b.boundPico ? 0 : a.boundPico > b.boundPico ? -1 : 1))
}

/** Calls that can be counted, and those whose counts no call can have: told, and left out. */
export function sortOut<T extends Pick<MeteredCall, 'tokens'>>(calls: Iterable<T>): { sound: T[]; unsound: T[] } {
  const sound: T[] = []
  const unsound: T[] = []
  for (const call of calls) (areSound(call.tokens) ? sound : unsound).push(call)
  return { sound, unsound }
}
