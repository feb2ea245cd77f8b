/** The function that usage readers price with. */
import type { PriceRecord } from '#agent/clients/usage-source.ts'
import { priceCall, type Rates } from '#core/pricing.ts'

/** How usage is priced: `rateCard` names card and policy, so that another of either re-prices what was read. */
export type Pricing = { rateCard: string; price: PriceRecord }

/** What a `UsageReader` takes. A model that has no price of its own counts as `fallback`, however the policy prices it. */
export function pricingFrom(rates: Rates): Pricing {
  const { policy, name } = rates
  // other prices or another policy must re-price what was read
  const rateCard = `${name} ${JSON.stringify(policy)}`
  return {
    rateCard,
    price: record => {
      const { picoUsd, rate } = priceCall(rates, record)
      return { picoUsd, fallback: rate !== 'card' && rate !== 'override' }
    },
  }
}
