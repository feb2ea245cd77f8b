/** The list prices this connector was built with, and the function that usage readers price with. */
import type { PriceRecord } from '#agent/clients/adapter.ts'
import {
  compileRates,
  DEFAULT_UNPRICED,
  priceCall,
  type RateCard,
  type Rates,
  type UnpricedPolicy,
} from '#core/pricing.ts'
import prices from './prices.json' with { type: 'json' }

export const RATE_CARD: RateCard = prices

/** How usage is priced: `rateCard` names card and policy, so that another of either re-prices what was read. */
export type Pricing = { rateCard: string; price: PriceRecord }

/**
 * The built-in card ready for use, with an organisation's overrides and policy when there are any.
 * @throws AppError BAD_INPUT for an override that is no price
 */
export const builtInRates = (policy: UnpricedPolicy = DEFAULT_UNPRICED, overrides?: RateCard): Rates =>
  compileRates(RATE_CARD, policy, overrides)

/** What a `UsageReader` takes. A model that is not on the card counts as `fallback`, however the policy prices it. */
export function pricingFrom(rates: Rates): Pricing {
  const { policy, name } = rates
  // other prices or another policy must re-price what was read
  const rateCard = `${name} ${JSON.stringify(policy)}`
  return {
    rateCard,
    price: record => {
      const { picoUsd, rate } = priceCall(rates, record)
      return { picoUsd, fallback: rate !== 'card' }
    },
  }
}
