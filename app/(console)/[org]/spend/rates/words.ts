/** Prices in words. */
import { formatCount } from '#app/_ui/format.ts'
import type { Json, JsonObject } from '#core/boundary/rule.ts'
import { PRICE_AXES, type PriceAxis } from '#core/pricing.ts'

export const AXIS_NAMES: Readonly<Record<PriceAxis, string>> = {
  input: 'Input',
  cacheRead: 'Cache read',
  cacheWrite5m: 'Cache write, 5 min',
  cacheWrite1h: 'Cache write, 1 h',
  output: 'Output',
  webSearches: 'Web search, each',
}

/** The document's own words for them. */
export const AXIS_KEYS: Readonly<Record<PriceAxis, string>> = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite5m: 'cache_write_5m',
  cacheWrite1h: 'cache_write_1h',
  output: 'output',
  webSearches: 'web_search',
}

export const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'x-ai': 'xAI',
  deepseek: 'DeepSeek',
  mistral: 'Mistral',
  moonshotai: 'Moonshot AI',
  zai: 'Z.ai',
  minimax: 'MiniMax',
  other: 'Other',
}
export const providerName = (provider: string): string => PROVIDER_NAMES[provider] ?? provider

/** A price as it is, every digit of it, two places at least: `$0.075`, `$15.00`. */
export function priceText(decimal: string): string {
  const [whole, fraction = ''] = decimal.split('.')
  return `$${formatCount(BigInt(whole!))}.${fraction.padEnd(2, '0')}`
}

/** What a price of the document says of an axis; undefined where it leaves it out. */
export function priceOf(rate: JsonObject, axis: PriceAxis): string | undefined {
  const value: Json | undefined = rate[AXIS_KEYS[axis]]
  return typeof value === 'string' ? value : undefined
}

/** `1,200 in, 300 read, 50 out`: the kinds of tokens that there are. */
export function tokenParts(tokens: Readonly<Record<PriceAxis, number>>): string {
  const short: Readonly<Record<PriceAxis, string>> = {
    input: 'in',
    cacheRead: 'cache read',
    cacheWrite5m: 'cache write 5 min',
    cacheWrite1h: 'cache write 1 h',
    output: 'out',
    webSearches: 'searches',
  }
  return PRICE_AXES.filter(axis => tokens[axis] > 0)
    .map(axis => `${formatCount(tokens[axis])} ${short[axis]}`)
    .join(', ')
}

/** `from 1 Dec 2026 until 1 Jan 2027`, days of UTC. */
export function daysWords(from: string | null, until: string | null): string {
  const begins = from === null ? 'from ever' : `from ${from}`
  return until === null ? begins : `${begins} until ${until}`
}
