import { modelTier } from '#core/model-tier.ts'
import { unitPrices } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import type { Ranks } from '#core/routing.ts'

const day = (now: number) => new Date(now).toISOString().slice(0, 10)

/** Tiers by the catalogue, prices by the built-in card of today. */
export function ranksNow(now: () => number): Ranks {
  const rates = builtInRates()
  return {
    tierOf: model => modelTier(model),
    priceOf: (model, provider) => {
      const of = { model, day: day(now()), long: false, ...(provider === 'other' ? {} : { provider }) }
      const found = unitPrices(rates, of)
      return found && { input: found.rates.input, output: found.rates.output }
    },
  }
}
