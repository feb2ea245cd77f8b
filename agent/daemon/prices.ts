import type { PriceRecord } from '#agent/clients/adapter.ts'
import prices from '#agent/pricing/prices.json' with { type: 'json' }
import { compileRates, DEFAULT_UNPRICED, priceCall, type RateCard } from '#core/pricing.ts'

export type Pricing = { rateCard: string; price: PriceRecord }

/** List prices of the maintained card; a model that is not on it at the bound of DESIGN §7, and said so. */
export function listPrices(): Pricing {
  const rates = compileRates(prices as RateCard, DEFAULT_UNPRICED)
  return {
    rateCard: rates.name,
    price: record => {
      const { picoUsd, rate } = priceCall(rates, record)
      return { picoUsd, fallback: rate !== 'card' }
    },
  }
}
