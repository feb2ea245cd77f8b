import { findPriced, type Provider, priceCall, type Rates } from '#core/pricing.ts'
import { type MeteredCall, modelId, type PricedMeteredCall, providerName } from './bucket.ts'

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
