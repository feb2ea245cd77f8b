import { utcDay } from '#core/day.ts'
import { findPriced, type Provider, priceBucket, priceCall, type Rates } from '#core/pricing.ts'
import { type MeteredCall, modelId, type PricedMeteredCall, providerName } from './bucket.ts'

/** A call as a collector knows it: `provider` where the client records it. */
export type UnpricedCall = Omit<MeteredCall, 'provider'> & { provider?: string | undefined }

/**
 * A collected call with its price. The provider is the client's word, else that of the model's row; the model is priced by
 * the id under which it goes into a bucket, so that the control plane finds the same price. The size of a sum over many calls
 * (`isSum`) says nothing about any of them: the dearer rates for large calls are not taken for it.
 */
export function priceMetered(rates: Rates, call: UnpricedCall, { isSum = false } = {}): PricedMeteredCall {
  const model = modelId(call.model)
  const named = call.provider === undefined ? findPriced(rates, model)?.provider : call.provider
  const provider: Provider = providerName(named)
  const { atMs, tokens } = call
  const { picoUsd, rate, long } = isSum
    ? priceBucket(rates, { model, provider, day: utcDay(atMs), long: false, tokens })
    : priceCall(rates, { model, provider, atMs, tokens })
  return { ...call, model, provider, picoUsd, rate, long }
}
