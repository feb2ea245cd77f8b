import { type Findings, nearest, oneOf } from '#core/boundary/problem.ts'
import { refuseUnknownKeys } from '#core/boundary/read-rule.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import { clip } from '#core/plain-text.ts'
import { PROVIDERS, type RateRow, type UnpricedPolicy } from '#core/pricing.ts'
import { MODEL_ID } from '#core/usage/bucket.ts'
import { oneOrMore, readChoice, readDay, readDecimal, readMap, readWhole, required, writtenText } from './fields.ts'
import { MAX_ALIASES, MAX_RATE } from './limits.ts'
import type { Rate, RatePrices } from './shape.ts'

/** What a document calls each price. */
export const PRICE_KEYS = {
  input: 'input',
  output: 'output',
  cache_read: 'cacheRead',
  cache_write_5m: 'cacheWrite5m',
  cache_write_1h: 'cacheWrite1h',
  web_search: 'webSearches',
} as const satisfies Record<string, keyof RatePrices>
type PriceKey = keyof typeof PRICE_KEYS
const PRICES = Object.keys(PRICE_KEYS) as PriceKey[]

export const RATE_KEYS = ['model', 'provider', 'from', 'until', ...PRICES, 'long', 'aliases'] as const
const LONG_KEYS = ['above', ...PRICES] as const
export const UNPRICED_KEYS = ['on_unpriced_model', 'providers'] as const

const EXAMPLE = '{ model: my-model, provider: anthropic, from: 2026-12-01, input: "3", output: "15" }'

/** One entry of `rates:`; undefined, with findings, when anything in it is wrong. */
export function readRate(tree: Tree, findings: Findings): Rate | undefined {
  const map = readMap(tree, 'a rate', EXAMPLE, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  const currency = entryOf(map, 'currency')
  if (currency !== undefined) {
    const message = 'prices are in US dollars per million tokens, and a rate has no currency'
    findings.error(currency.keyAt, 'unknown_key', message, 'convert the prices, and leave currency out')
  }
  const known = { ...map, entries: map.entries.filter(entry => entry !== currency) }
  refuseUnknownKeys(known, RATE_KEYS, 'a rate', findings)
  const model = readModel(required(map, 'model', 'the rate', 'add model: and its exact id', findings), findings)
  const providerEntry = required(map, 'provider', 'the rate', `add provider: ${oneOf(PROVIDERS)}`, findings)
  const provider = providerEntry === undefined ? undefined : readChoice(providerEntry, PROVIDERS, findings)
  for (const key of ['input', 'output']) required(map, key, 'the rate', `add ${key}: "3"`, findings)
  const prices = readPrices(map, findings)
  const fromEntry = entryOf(map, 'from')
  const from = fromEntry === undefined ? undefined : readDay(fromEntry, findings)
  const untilEntry = entryOf(map, 'until')
  const until = untilEntry === undefined ? undefined : readDay(untilEntry, findings)
  if (until !== undefined && from !== undefined && until <= from)
    findings.error(untilEntry!.value, 'out_of_range', `until ${until} is not after from ${from}`, 'correct one of them')
  const longEntry = entryOf(map, 'long')
  const long = longEntry === undefined ? undefined : readLong(longEntry, findings)
  const aliasEntry = entryOf(map, 'aliases')
  const aliases = aliasEntry === undefined ? [] : readAliases(aliasEntry, model, findings)
  if (findings.errors.length > before || model === undefined || provider === undefined) return undefined
  const { input, output, ...rest } = prices
  return {
    provider,
    model,
    aliases,
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    input: input!,
    output: output!,
    ...rest,
    ...(long === undefined ? {} : { long }),
  }
}

function readModel(entry: TreeEntry | undefined, findings: Findings): string | undefined {
  if (entry === undefined) return undefined
  const text = writtenText(entry.value)
  if (text !== undefined && MODEL_ID.test(text)) return text
  const remedy = 'write the exact id, without wildcards, as usage shows it'
  findings.error(entry.value, 'bad_name', `${describeTree(entry.value)} is not a model's id`, remedy)
  return undefined
}

function readPrices(map: TreeMap, findings: Findings): Partial<RatePrices> {
  const prices: Partial<RatePrices> = {}
  for (const key of PRICES) {
    const entry = entryOf(map, key)
    const price = entry === undefined ? undefined : readDecimal(entry, MAX_RATE, findings)
    if (price !== undefined) prices[PRICE_KEYS[key]] = price
  }
  return prices
}

function readLong({ value }: TreeEntry, findings: Findings): Rate['long'] {
  const map = readMap(value, 'long', 'long: { above: 200000, input: "6", output: "22.5" }', findings)
  if (map === undefined) return undefined
  refuseUnknownKeys(map, LONG_KEYS, 'long', findings)
  const entry = required(map, 'above', 'long', 'add above: 200000', findings)
  const above = entry === undefined ? undefined : readWhole(entry.value, 'above', 1, 100_000_000, findings)
  const prices = readPrices(map, findings)
  return above === undefined ? undefined : { above, ...prices }
}

function readAliases({ value }: TreeEntry, model: string | undefined, findings: Findings): string[] {
  const items = oneOrMore(value)
  if (value.kind === 'map' || items.length > MAX_ALIASES) {
    findings.error(value, 'bad_value', `aliases cannot be ${describeTree(value)}`, `list at most ${MAX_ALIASES} ids`)
    return []
  }
  const aliases = items.flatMap(item => readModel({ key: 'aliases', keyAt: item, value: item }, findings) ?? [])
  return [...new Set(aliases)].filter(alias => alias !== model).sort()
}

/** `unpriced:`. Providers are those whose models set the bound on a model without a price. */
export function readUnpriced(tree: Tree, defaults: UnpricedPolicy, findings: Findings): UnpricedPolicy | undefined {
  const map = readMap(tree, 'unpriced', 'unpriced: { on_unpriced_model: max_rate, providers: [anthropic] }', findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, UNPRICED_KEYS, 'unpriced', findings)
  const standIn = entryOf(map, 'on_unpriced_model')
  const listed = entryOf(map, 'providers')
  const onUnpricedModel = standIn === undefined ? defaults.onUnpricedModel : readStandIn(standIn.value, findings)
  const items = listed === undefined ? [] : oneOrMore(listed.value)
  if (listed !== undefined && (listed.value.kind === 'map' || items.length === 0)) {
    const message = `providers cannot be ${describeTree(listed.value)}`
    findings.error(listed.value, 'bad_value', message, `list one or more of ${oneOf(PROVIDERS)}`)
  }
  const providers = items.flatMap(value => readChoice({ key: 'a provider', value }, PROVIDERS, findings) ?? [])
  if (findings.errors.length > before || onUnpricedModel === undefined) return undefined
  return { onUnpricedModel, providers: listed === undefined ? defaults.providers : [...new Set(providers)].sort() }
}

function readStandIn(value: Tree, findings: Findings): UnpricedPolicy['onUnpricedModel'] | undefined {
  const text = writtenText(value)
  if (text === 'max_rate') return text
  if (text === 'zero') {
    const remedy = 'use max_rate, so that a budget binds what has no price yet'
    findings.warn(value, 'downgrade', 'models without a price cost nothing in every budget and report', remedy)
    return text
  }
  const near = text === undefined ? undefined : nearest(text, ['max_rate', 'zero'])
  if (text !== undefined && near === undefined && MODEL_ID.test(text)) return { model: text }
  const message = `on_unpriced_model cannot be ${describeTree(value)}`
  const remedy = near === undefined ? "use max_rate, zero or a model's id" : `did you mean ${near}?`
  findings.error(value, 'bad_value', message, remedy)
  return undefined
}

/** Refuses two prices of one model for one day, and one name for two models; warns of days before a model's first price. */
export function checkRates(
  rates: readonly { rate: Rate; tree: TreeMap }[],
  isOnCard: ((provider: string, model: string) => boolean) | undefined,
  findings: Findings,
): void {
  const days = new Set<string>()
  const models = new Set(rates.map(({ rate }) => `${rate.provider}/${rate.model}`))
  const begins = new Set(
    rates.filter(({ rate }) => rate.from === undefined).map(({ rate }) => `${rate.provider}/${rate.model}`),
  )
  const names = new Map<string, string>()
  const warned = new Set<string>()
  checkEnds(rates, isOnCard, findings)
  for (const { rate, tree } of rates) {
    const { provider, model, aliases, from } = rate
    const id = `${provider}/${model}`
    const at = entryOf(tree, 'from')?.value ?? tree
    if (days.has(`${id} ${from ?? ''}`)) {
      const when = from === undefined ? 'from ever' : `from ${from}`
      const message = `${clip(model)} has two prices ${when}`
      findings.error(at, 'overlap', message, 'keep one, or give the later one another from')
    }
    days.add(`${id} ${from ?? ''}`)
    for (const alias of aliases) {
      const name = `${provider}/${alias}`
      const other = models.has(name) ? name : names.get(name)
      if (other !== undefined && other !== id) {
        const message = `${clip(alias)} is a name of another rate's model too`
        findings.error(entryOf(tree, 'aliases')!.value, 'overlap', message, 'let one id stand for one model')
      }
      names.set(name, id)
    }
    if (from === undefined || begins.has(id) || warned.has(id) || isOnCard === undefined || isOnCard(provider, model))
      continue
    warned.add(id)
    const remedy = 'leave from out of its first rate if the price has always held'
    findings.warn(at, 'gap', `${clip(model)} has no price before its first from, and is on no card`, remedy)
  }
}

/** Where a price ends: not after the next one begins, and not before it where nothing else prices the model. */
function checkEnds(
  rates: readonly { rate: Rate; tree: TreeMap }[],
  isOnCard: ((provider: string, model: string) => boolean) | undefined,
  findings: Findings,
): void {
  const inOrder = [...rates].sort((a, b) => ((a.rate.from ?? '') < (b.rate.from ?? '') ? -1 : 1))
  for (const [at, { rate, tree }] of inOrder.entries()) {
    const { provider, model, until } = rate
    if (until === undefined) continue
    const place = entryOf(tree, 'until')!.value
    const next = inOrder.slice(at + 1).find(({ rate: one }) => one.provider === provider && one.model === model)
    const begins = next?.rate.from
    if (begins !== undefined && until > begins) {
      const message = `${clip(model)} has two prices from ${begins} until ${until}`
      findings.error(place, 'overlap', message, `end this one on ${begins}, or leave until out`)
    } else if (isOnCard !== undefined && !isOnCard(provider, model) && until !== begins) {
      const remedy = 'leave until out, or add a price that begins then'
      if (begins === undefined)
        findings.warn(place, 'gap', `${clip(model)} has no price from ${until} on, and is on no card`, remedy)
      else findings.error(place, 'gap', `${clip(model)} has no price from ${until} until ${begins}`, remedy)
    }
  }
}

/** The rates as rows of a card, as pricing takes its overrides: one a model, its days in order. */
export function rateRows(rates: readonly Rate[]): RateRow[] {
  const rows = new Map<string, RateRow & { aliases: string[] }>()
  for (const { provider, model, aliases, ...entry } of rates) {
    const key = `${provider}/${model}`
    const row = rows.get(key) ?? { provider, id: model, aliases: [], entries: [] }
    row.aliases = [...new Set([...row.aliases, ...aliases])]
    row.entries.push(entry)
    rows.set(key, row)
  }
  for (const row of rows.values()) row.entries.sort((a, b) => ((a.from ?? '') < (b.from ?? '') ? -1 : 1))
  return [...rows.values()]
}
