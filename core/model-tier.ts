/** The ladder of model tiers, least first. */
export const TIERS = ['haiku', 'sonnet', 'opus'] as const
export type Tier = (typeof TIERS)[number]

/** True for a tier on the ladder; `unknown` is none. */
export function isTier(value: unknown): value is Tier {
  return typeof value === 'string' && (TIERS as readonly string[]).includes(value)
}

/** 0 for haiku up to 2 for opus; -1 for anything that is no tier (`unknown` included). */
export function tierRank(value: string): number {
  return (TIERS as readonly string[]).indexOf(value)
}

/**
 * Declared tiers: exact model ids, dated spellings written out. A model that is not here is ranked by price or is
 * unknown; no id is ever guessed from a part of it. An organisation may pass more.
 */
export const MODEL_CATALOGUE: Readonly<Record<Tier, readonly string[]>> = {
  haiku: [
    'claude-3-haiku-20240307',
    'claude-3-5-haiku-20241022',
    'claude-3-5-haiku-latest',
    'claude-haiku-4-5',
    'claude-haiku-4-5-20251001',
    'claude-haiku-4.5',
    'claude-haiku-5-5',
    'codex-mini-latest',
    'o4-mini',
    'gpt-4o-mini',
    'gpt-4.1-mini',
    'gpt-4.1-nano',
    'gpt-5-mini',
    'gpt-5-nano',
    'gpt-5.1-codex-mini',
    'gpt-5.4-mini',
    'gpt-5.4-nano',
    'gpt-5.6-luna',
    'gpt-6-luna',
    'gemini-2.0-flash',
    'gemini-2.5-flash',
    'gemini-2.5-flash-lite',
    'gemini-3-flash-preview',
    'gemini-3.1-flash-lite',
    'gemini-3.5-flash',
    'gemini-3.5-flash-lite',
    'gemini-3.6-flash',
    'gemini-3.7-flash',
    'gemini-3.8-flash',
  ],
  sonnet: [
    'claude-3-5-sonnet-20240620',
    'claude-3-5-sonnet-20241022',
    'claude-3-7-sonnet-20250219',
    'claude-3-7-sonnet-latest',
    'claude-sonnet-4-0',
    'claude-sonnet-4-20250514',
    'claude-sonnet-4-5',
    'claude-sonnet-4-5-20250929',
    'claude-sonnet-4.5',
    'claude-sonnet-4-6',
    'claude-sonnet-4.6',
    'claude-sonnet-5',
    'claude-sonnet-5-5',
    'o3',
    'gpt-4o',
    'gpt-4.1',
    'gpt-5',
    'gpt-5-codex',
    'gpt-5.1',
    'gpt-5.1-codex',
    'gpt-5.1-codex-max',
    'gpt-5.2',
    'gpt-5.2-codex',
    'gpt-5.3-codex',
    'gpt-5.4',
    'gpt-5.5',
    'gpt-5.6-terra',
    'gemini-2.5-pro',
    'gemini-3-pro-preview',
    'gemini-3.1-pro-preview',
  ],
  opus: [
    'claude-3-opus-20240229',
    'claude-3-opus-latest',
    'claude-opus-4-0',
    'claude-opus-4-20250514',
    'claude-opus-4-1',
    'claude-opus-4-1-20250805',
    'claude-opus-4.1',
    'claude-opus-4-5',
    'claude-opus-4-5-20251101',
    'claude-opus-4-6',
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-opus-4.5',
    'claude-opus-4.6',
    'claude-opus-5',
    'claude-opus-5-5',
    'claude-fable-5',
    'claude-fable-5-1',
    'gpt-5-pro',
    'gpt-5.4-pro',
    'gpt-5.5-pro',
    'gpt-5.6-sol',
    'gpt-6-sol',
    'gpt-6-astra',
  ],
}

/** Claude Code's own names for a model. `opusplan` plans on opus, so it stands as high as its dearest half. */
const CLAUDE_ALIASES: Readonly<Record<string, Tier>> = {
  haiku: 'haiku',
  sonnet: 'sonnet',
  opus: 'opus',
  opusplan: 'opus',
}

/** What one model costs, in any one currency and unit: only the order matters. */
export interface ModelPrice {
  model: string
  input: number
  output: number
}

export interface TierLookup {
  /** Tiers declared by the organisation; they win over the built-in catalogue. */
  declared?: Readonly<Record<string, Tier>>
  /** With a price list, a model nobody declared is ranked by price. */
  prices?: readonly ModelPrice[]
}

const byModel = new Map<string, Tier>(TIERS.flatMap(tier => MODEL_CATALOGUE[tier].map(id => [id, tier] as const)))

/** Who sells it, as a part of the id: `openai/gpt-5.5`, `us.anthropic.claude-opus-4-6-v1:0`. */
const SELLER = /^(?:(?:anthropic|openai|google)\/|(?:(?:us|eu|apac|jp|au|us-gov|global)\.)?anthropic\.)/
/** A longer context (`claude-opus-4-6[1m]`), a speed (`gpt-6-sol:priority`), a release of the seller's. */
const MANNER = /(?:\[1m\]|:(?:priority|flex)|-v\d+(?::\d+)?)$/

/** The model in an id, without who sells it and how it is run; every other part of an id belongs to it. */
const bareModel = (model: string): string => model.replace(SELLER, '').replace(MANNER, '')

/** The declared tier of an exact id or alias; undefined where none is declared. */
function declaredTier(model: string, declared: TierLookup['declared']): Tier | undefined {
  const bare = bareModel(model)
  if (declared !== undefined && Object.hasOwn(declared, bare)) return declared[bare]
  if (Object.hasOwn(CLAUDE_ALIASES, bare)) return CLAUDE_ALIASES[bare]
  return byModel.get(bare)
}

/** The tier of a model id or alias: declared, else by price rank, else `unknown`. */
export function modelTier(model: string, lookup: TierLookup = {}): Tier | 'unknown' {
  const tier = declaredTier(model, lookup.declared)
  if (tier !== undefined) return tier
  return lookup.prices === undefined ? 'unknown' : tierByPriceRank(model, lookup.prices, lookup.declared)
}

/**
 * The tier a subagent is about to run on: the model it names, or its session's when it names none or `inherit`.
 * `unknown` when neither is known.
 */
export function subagentTier(
  call: { model?: string; sessionModel?: string },
  lookup: TierLookup = {},
): Tier | 'unknown' {
  const inherits = call.model === undefined || call.model === '' || call.model === 'inherit'
  const model = inherits ? call.sessionModel : call.model
  return model === undefined || model === 'inherit' ? 'unknown' : modelTier(model, lookup)
}

/**
 * The tier of an undeclared model by its place in a price list: the highest tier whose cheapest declared model it
 * costs at least as much as (output price, then input price); haiku when it is cheaper than all of them. `unknown`
 * when the model has no usable price or the list holds no declared model to compare with.
 */
export function tierByPriceRank(
  model: string,
  prices: readonly ModelPrice[],
  declared: TierLookup['declared'] = undefined,
): Tier | 'unknown' {
  const own = prices.find(row => row.model === bareModel(model))
  if (own === undefined || !isPriced(own)) return 'unknown'
  let compared = false
  for (const tier of [...TIERS].reverse()) {
    const peers = prices.filter(row => isPriced(row) && declaredTier(row.model, declared) === tier)
    if (peers.length === 0) continue
    compared = true
    const cheapest = peers.reduce((least, row) => (comparePrice(row, least) < 0 ? row : least))
    if (comparePrice(own, cheapest) >= 0) return tier
  }
  return compared ? 'haiku' : 'unknown'
}

function comparePrice(a: ModelPrice, b: ModelPrice): number {
  return a.output - b.output || a.input - b.input
}

function isPriced(row: ModelPrice): boolean {
  return Number.isFinite(row.output) && Number.isFinite(row.input) && row.output > 0
}
