/** The list prices that this version was built with: the same for machines and for the control plane. */
import { DEFAULT_UNPRICED, type RateCard, type Rates, type UnpricedPolicy } from '#core/pricing.ts'
import { compileRates } from './compile.ts'
import prices from './prices.json' with { type: 'json' }

export const RATE_CARD: RateCard = prices

/**
 * The built-in card ready for use, with an organisation's overrides and policy when there are any.
 * @throws AppError BAD_INPUT for an override that is no price
 */
export const builtInRates = (policy: UnpricedPolicy = DEFAULT_UNPRICED, overrides?: RateCard): Rates =>
  compileRates(RATE_CARD, policy, overrides)
