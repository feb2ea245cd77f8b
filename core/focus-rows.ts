/** Sums of usage as FOCUS rows: see core/focus.ts for the columns. */
import { addDays, daysOfMonth } from '#core/day.ts'
import { CLIENT_NAMES, CLIENTS, type Client } from './client.ts'
import type { CsvValue } from './csv.ts'
import { formatDecimal } from './decimal.ts'
import { FOCUS_COLUMNS, type FocusRow } from './focus.ts'
import { canonicalJson } from './json.ts'
import { type AxisRates, PRICE_AXES, type PriceAxis, type Provider, type Rates, unitPrices } from './pricing.ts'
import type { Bucket } from './usage/bucket.ts'

/** Sums of one UTC day that share model, size, tags, cover and kind of price. `picoUsd` is the ledger's. */
export type FocusUsage = Omit<Bucket, 'quarter' | 'partial'> & { day: string }

/** What a row needs of its day beside the sums. Prices are pico-dollars for a token (a request, of `webSearches`). */
export type FocusPrices = {
  /** The prices that the ledger used; undefined where the model has none. */
  contracted: AxisRates | undefined
  /** The card's own, where the organisation's are others. */
  list?: AxisRates | undefined
  /** Version of the rule set whose prices these are; 0: the card's alone. */
  ruleVersion: number
}

export type FocusAccount = {
  org: { id: string; name: string }
  /** Names of tenants by key; one that is gone keeps its key as name. */
  tenants: ReadonlyMap<string, string>
  /** ISO 4217, and what one dollar is in it on a day, in millionths (10^6 for dollars). */
  currency: string
  perUsdMicros(day: string): bigint
}

/** The prices of a sum: the organisation's, and the card's own beside them where they differ. */
export function focusPrices(
  rates: Rates,
  card: Rates,
  usage: Pick<FocusUsage, 'model' | 'provider' | 'day' | 'long'>,
  ruleVersion: number,
): FocusPrices {
  const own = unitPrices(rates, usage)
  return {
    contracted: own?.rates,
    list: own?.kind === 'override' ? unitPrices(card, usage)?.rates : undefined,
    ruleVersion,
  }
}

type Meter = { meter: string; unit: 'Tokens' | 'Requests'; details: Record<string, string> }

/** How versions of the specification to come will say it is not settled, so the keys are our own. */
const input = (action: 'None' | 'Read' | 'Write') => ({ x_CacheAction: action, x_TokenDirection: 'Input' })
const METERS: Record<PriceAxis, Meter> = {
  input: { meter: 'Input Tokens', unit: 'Tokens', details: input('None') },
  cacheRead: { meter: 'Cache Read Tokens', unit: 'Tokens', details: input('Read') },
  cacheWrite5m: { meter: 'Cache Write Tokens (5 minutes)', unit: 'Tokens', details: input('Write') },
  cacheWrite1h: { meter: 'Cache Write Tokens (1 hour)', unit: 'Tokens', details: input('Write') },
  output: { meter: 'Output Tokens', unit: 'Tokens', details: { x_TokenDirection: 'Output' } },
  webSearches: { meter: 'Web Search Requests', unit: 'Requests', details: {} },
}

export const PROVIDER_NAMES: Record<Provider, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'x-ai': 'xAI',
  deepseek: 'DeepSeek',
  mistral: 'Mistral AI',
  moonshotai: 'Moonshot AI',
  zai: 'Z.ai',
  minimax: 'MiniMax',
  other: 'Other',
}

/** Places of a cost: a price per token in pico-dollars times an exchange rate of six places. */
const COST_PLACES = 18
const decimal = (value: bigint, places: number): CsvValue => ({ decimal: formatDecimal(value, places) })
const instant = (day: string): string => `${day}T00:00:00Z`

/** The calendar month (UTC) of a day: its first instant, and the one after its last. */
export function billingPeriod(day: string): { start: string; end: string } {
  const { from, to } = daysOfMonth(day.slice(0, 7))
  return { start: instant(from), end: instant(to) }
}

/** How a cost came about. */
const BASIS = {
  card: 'rate_card',
  override: 'rate_card',
  substitute: 'substitute',
  zero: 'unavailable',
  fallback: 'upper_bound',
} as const

/** What all rows of one sum have in common. */
function common(usage: FocusUsage, prices: FocusPrices, account: FocusAccount): FocusRow {
  const { day, client, provider, long, tags, covered, rate } = usage
  const { tenant } = tags
  const period = billingPeriod(day)
  const service = (CLIENTS as readonly string[]).includes(client) ? CLIENT_NAMES[client as Client] : 'Other'
  const empty = Object.fromEntries(FOCUS_COLUMNS.map(column => [column, null])) as FocusRow
  return {
    ...empty,
    BillingAccountId: account.org.id,
    BillingAccountName: account.org.name,
    BillingCurrency: account.currency,
    BillingPeriodStart: period.start,
    BillingPeriodEnd: period.end,
    ChargePeriodStart: instant(day),
    ChargePeriodEnd: instant(addDays(day, 1)),
    ChargeCategory: 'Usage',
    ChargeFrequency: 'Usage-Based',
    InvoiceIssuerName: PROVIDER_NAMES[provider],
    PricingCategory: 'Standard',
    ProviderName: PROVIDER_NAMES[provider],
    PublisherName: PROVIDER_NAMES[provider],
    ServiceCategory: 'AI and Machine Learning',
    ServiceSubcategory: 'Generative AI',
    ServiceName: service,
    SubAccountId: tenant ?? null,
    SubAccountName: tenant === undefined ? null : (account.tenants.get(tenant) ?? tenant),
    Tags: canonicalJson(tags),
    x_Covered: covered,
    x_LongContext: long ? 'true' : 'false',
    x_PricingBasis: BASIS[rate],
    x_RuleVersion: prices.ruleVersion,
    x_TeamId: tags.team ?? null,
  }
}

/**
 * The rows of one sum: one for each meter that counted something, and one for a difference, where the ledger's cost is not what
 * these prices give. Their list costs add up to the ledger's cost, or, for a model without a price, their upper bounds do.
 */
export function focusRows(usage: FocusUsage, prices: FocusPrices, account: FocusAccount): FocusRow[] {
  const { tokens, picoUsd, model, provider, long, covered, rate, day } = usage
  const base = common(usage, prices, account)
  const perUsd = account.perUsdMicros(day)
  const unpriced = rate === 'fallback'
  const contracted = unpriced || rate === 'zero' ? undefined : prices.contracted
  const list = contracted && (prices.list ?? contracted)
  const metered = covered === 'metered'
  const rows: FocusRow[] = []
  let explained = 0n
  for (const axis of PRICE_AXES) {
    const count = BigInt(tokens[axis])
    if (count === 0n) continue
    const { meter, unit, details } = METERS[axis]
    const sku = `${provider}/${model}/${axis}${long ? '/long' : ''}`
    const scale = unit === 'Tokens' ? 6 : 0
    // a token's pico-dollars are a million tokens' micro-dollars
    const price = (of: AxisRates) => decimal(of[axis] * 10n ** BigInt(scale) * perUsd, COST_PLACES)
    const cost = contracted ? contracted[axis] * count : 0n
    explained += cost
    const listCost = list ? list[axis] * count : 0n
    rows.push({
      ...base,
      ChargeDescription: `${meter} of ${model}${long ? ' in large calls' : ''}`,
      BilledCost: decimal(metered ? cost * perUsd : 0n, COST_PLACES),
      EffectiveCost: decimal(metered ? cost * perUsd : 0n, COST_PLACES),
      ContractedCost: decimal(cost * perUsd, COST_PLACES),
      ListCost: decimal(listCost * perUsd, COST_PLACES),
      ConsumedQuantity: decimal(count, 0),
      ConsumedUnit: unit,
      PricingQuantity: decimal(count, scale),
      PricingUnit: unit === 'Tokens' ? '1000000 Tokens' : 'Requests',
      ListUnitPrice: list ? price(list) : null,
      ContractedUnitPrice: contracted ? price(contracted) : null,
      SkuId: sku,
      SkuPriceId: contracted ? `${sku}@${prices.ruleVersion}` : null,
      SkuMeter: meter,
      SkuPriceDetails: canonicalJson({ x_ModelId: model, x_Provider: provider, ...details }),
    })
  }
  if (unpriced) return withBound(rows, base, picoUsd * perUsd, model)
  const rest = picoUsd - explained
  if (rest !== 0n) rows.push(difference(base, rest * perUsd, metered, model))
  return rows
}

/** The bound of a model without a price stands on the first of its rows: it is of the whole sum, and no axis has a share of it. */
function withBound(rows: FocusRow[], base: FocusRow, bound: bigint, model: string): FocusRow[] {
  const [first, ...rest] = rows
  const head = first ?? { ...difference(base, 0n, false, model) }
  return [{ ...head, x_UpperBoundCost: decimal(bound, COST_PLACES) }, ...rest]
}

function difference(base: FocusRow, cost: bigint, metered: boolean, model: string): FocusRow {
  return {
    ...base,
    ChargeCategory: 'Adjustment',
    ChargeFrequency: 'One-Time',
    ChargeDescription: `Difference to the recorded cost of ${model}`,
    PricingCategory: null,
    BilledCost: decimal(metered ? cost : 0n, COST_PLACES),
    EffectiveCost: decimal(metered ? cost : 0n, COST_PLACES),
    ContractedCost: decimal(cost, COST_PLACES),
    ListCost: decimal(cost, COST_PLACES),
  }
}

/**
 * Lines of statements that no usage row stands for: corrections of a closed `month`, and what an invoice says beyond our reckoning
 * (`reported`). Billed in the month of `day`.
 */
export function focusCorrection(
  line: {
    day: string
    month?: string
    reported?: boolean
    tenant?: string
    description: string
    picoAmount: bigint
    provider?: Provider
    ruleVersion: number
  },
  account: FocusAccount,
): FocusRow {
  const provider = line.provider ?? 'other'
  const usage: FocusUsage = {
    day: line.day,
    client: 'other',
    provider,
    model: 'none',
    long: false,
    tags: line.tenant === undefined ? {} : { tenant: line.tenant },
    covered: 'metered',
    rate: 'card',
    calls: 0,
    tokens: { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, webSearches: 0 },
    picoUsd: 0n,
  }
  const row = difference(common(usage, { contracted: undefined, ruleVersion: line.ruleVersion }, account), 0n, true, '')
  // an amount of a statement is in its currency already
  const cost = decimal(line.picoAmount, 12)
  return {
    ...row,
    ChargeClass: line.month === undefined ? null : 'Correction',
    ChargeDescription: line.description,
    BilledCost: cost,
    EffectiveCost: cost,
    ContractedCost: cost,
    ListCost: cost,
    x_PricingBasis: line.reported ? 'provider_reported' : null,
    x_LongContext: null,
    ...(line.month === undefined ? {} : monthAsCharge(line.month)),
  }
}

/** A correction is billed now and is about the month that is closed. */
function monthAsCharge(month: string) {
  const { start, end } = billingPeriod(`${month}-01`)
  return { ChargePeriodStart: start, ChargePeriodEnd: end }
}
