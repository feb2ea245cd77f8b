import { Findings } from '#core/boundary/problem.ts'
import type { Json, JsonObject } from '#core/boundary/rule.ts'
import { type Tree, treeFromJson } from '#core/boundary/tree.ts'
import type { Budget } from '#core/budget/budget.ts'
import { windowText } from '#core/budget/window.ts'
import { clip } from '#core/plain-text.ts'
import { DEFAULT_UNPRICED, type UnpricedPolicy } from '#core/pricing.ts'
import type { RuleSet } from '#core/rule-set.ts'
import type { ExchangeRate } from '#core/spend/exchange.ts'
import type { Rename } from '#core/usage/renames.ts'
import { STANDING_KEYS } from '#core/usage/tags.ts'
import { readAttributionRule, readTagList } from './read-attribution.ts'
import { readBudget } from './read-budget.ts'
import { coveredFromJson, coveredToJson, declaredBy } from './read-covered.ts'
import { readExchangeRate } from './read-exchange.ts'
import { PRICE_KEYS, readRate, readUnpriced } from './read-rates.ts'
import { readRename } from './read-renames.ts'
import type { AttributionRule, Rate, RatePrices, SpendRules } from './shape.ts'

/**
 * The sections about spend as they stand in the signed set. `rateCard` and `attribution` hold one object each,
 * {rates, unpriced} and {tags, rules, renames}, or nothing where the document says nothing; `exchange` and
 * `covered` are there only where they have an entry.
 */
export type SpendSections = Record<'budgets' | 'rateCard' | 'attribution', JsonObject[]> & {
  exchange?: JsonObject[]
  covered?: JsonObject[]
}

/** Two documents that mean the same give the same: defaults are written out, numbers are strings in their shortest form. */
export function spendToJson(spend: SpendRules): SpendSections {
  const rates = spend.rates.map(rateToJson)
  const rules = spend.attribution.map(attributionToJson)
  const tags = Object.fromEntries(Object.entries(spend.tags).filter(([, values]) => values.length > 0))
  const card: JsonObject =
    spend.unpriced === undefined ? { rates } : { rates, unpriced: unpricedToJson(spend.unpriced) }
  return {
    budgets: spend.budgets.map(budgetToJson),
    rateCard: rates.length === 0 && spend.unpriced === undefined ? [] : [card],
    attribution:
      rules.length === 0 && Object.keys(tags).length === 0
        ? []
        : [{ tags, rules, ...(spend.renames.length === 0 ? {} : { renames: spend.renames.map(renameToJson) }) }],
    ...(spend.exchange.length === 0
      ? {}
      : { exchange: [...spend.exchange].sort(byCurrencyAndDay).map(exchangeToJson) }),
    ...(spend.covered === undefined ? {} : { covered: coveredToJson(spend.covered) }),
  }
}

/** A budget with the document's own keys. */
export function budgetToJson(budget: Budget): JsonObject {
  const { name, amount, currency, zone, basis, steps, owners } = budget
  const json: Record<string, Json> = { name, amount, currency, window: windowText(budget.window), zone }
  if (budget.for !== undefined) json.for = { [budget.for.key]: budget.for.value }
  return { ...json, basis, steps, owners }
}

/** An attribution rule with the document's own keys. */
export const attributionToJson = ({ when, set }: AttributionRule): JsonObject => ({
  when: when as JsonObject,
  set,
})

/** A rename with the document's own keys. */
export const renameToJson = ({ key, from, to }: Rename): JsonObject => ({ key, from, to })

/** A rate with the document's own keys. */
export function rateToJson({ model, provider, from, until, long, aliases, ...prices }: Rate): JsonObject {
  return {
    model,
    provider,
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    ...pricesToJson(prices),
    ...(long === undefined ? {} : { long: { above: long.above, ...pricesToJson(long) } }),
    ...(aliases.length === 0 ? {} : { aliases }),
  }
}

function pricesToJson(prices: Partial<RatePrices>): JsonObject {
  const json: Record<string, Json> = {}
  for (const [key, axis] of Object.entries(PRICE_KEYS)) if (prices[axis] !== undefined) json[key] = prices[axis]
  return json
}

const byCurrencyAndDay = (a: ExchangeRate, b: ExchangeRate): number =>
  `${a.currency} ${a.from}` < `${b.currency} ${b.from}` ? -1 : 1

/** An exchange rate with the document's own keys. */
export const exchangeToJson = ({ currency, from, perUsd }: ExchangeRate): JsonObject => ({
  currency,
  from,
  per_usd: perUsd,
})

/** `unpriced:` with the document's own keys. */
export const unpricedToJson = ({ onUnpricedModel, providers }: UnpricedPolicy): JsonObject => ({
  on_unpriced_model: typeof onUnpricedModel === 'string' ? onUnpricedModel : onUnpricedModel.model,
  providers,
})

/** What of a signed set this build cannot read: the rest of the set holds without it. */
export interface UnsupportedEntry {
  section: keyof SpendSections
  /** The budget's name, the rate's model, the tag's key, else `#2`. */
  name: string
  reason: string
}

/**
 * Reads the sections about spend of a verified set, leniently: an entry of a newer version becomes `unsupported` and is listed,
 * never a failure of the set. A budget that cannot be read is then unread, and a boundary on it decides by its `on_unknown`; of
 * attribution rules the next one that holds decides in the place of one that cannot be read, which is why they are told.
 */
export function readSpend(set: Pick<RuleSet, keyof SpendSections>): SpendRules & { unsupported: UnsupportedEntry[] } {
  const unsupported: UnsupportedEntry[] = []
  const tags: Record<string, readonly string[]> = Object.fromEntries(STANDING_KEYS.map(key => [key, []]))
  const attribution: AttributionRule[] = []
  const renames: Rename[] = []
  const rates: Rate[] = []
  let unpriced: UnpricedPolicy | undefined

  /** One entry by its reader; what is missing after it is listed with the reader's first complaint. */
  function take<T>(
    section: keyof SpendSections,
    name: string,
    value: unknown,
    read: (tree: Tree, findings: Findings) => T,
  ): T | undefined {
    const findings = new Findings()
    const tree = treeFromJson(value)
    const entry = tree === undefined ? undefined : read(tree, findings)
    if (tree !== undefined && findings.errors.length === 0) return entry
    unsupported.push({ section, name: clip(name), reason: findings.errors[0]?.message ?? 'it cannot be read' })
    return undefined
  }
  function listIn(section: keyof SpendSections, key: string, value: unknown): unknown[] {
    if (value === undefined) return []
    if (Array.isArray(value)) return value
    unsupported.push({ section, name: key, reason: `${key} is no list` })
    return []
  }
  function refuseRest(section: keyof SpendSections, object: Record<string, unknown>, known: readonly string[]): void {
    for (const key of Object.keys(object))
      if (!known.includes(key)) unsupported.push({ section, name: clip(key), reason: `${clip(key)} is not known here` })
  }

  const names = new Set<string>()
  const budgets = set.budgets.flatMap((value, i): Budget | [] => {
    const name = textOf(value, 'name') ?? `#${i + 1}`
    const budget = take('budgets', name, value, (tree, findings) =>
      readBudget(tree, { defaults: { currency: 'USD', zone: 'UTC' } }, findings),
    )
    if (budget === undefined) return []
    if (names.has(budget.name)) {
      unsupported.push({ section: 'budgets', name: budget.name, reason: 'the name stands twice' })
      return []
    }
    names.add(budget.name)
    return budget
  })
  for (const value of set.attribution) {
    const object = objectOf(value)
    refuseRest('attribution', object, ['tags', 'rules', 'renames'])
    for (const [key, list] of Object.entries(objectOf(object.tags))) {
      const lists: Record<string, readonly string[]> = {}
      take('attribution', key, list, (tree, findings) =>
        readTagList({ key, keyAt: tree, value: tree }, lists, undefined, findings),
      )
      Object.assign(tags, lists)
    }
    for (const [i, rule] of listIn('attribution', 'rules', object.rules).entries()) {
      const read = take('attribution', `#${i + 1}`, rule, (tree, findings) =>
        readAttributionRule(tree, undefined, findings),
      )
      if (read !== undefined) attribution.push(read)
    }
    for (const [i, rename] of listIn('attribution', 'renames', object.renames).entries()) {
      const read = take('attribution', `renames #${i + 1}`, rename, (tree, findings) =>
        readRename(tree, undefined, findings),
      )
      if (read !== undefined) renames.push(read)
    }
  }
  for (const value of set.rateCard) {
    const object = objectOf(value)
    refuseRest('rateCard', object, ['rates', 'unpriced'])
    for (const [i, rate] of listIn('rateCard', 'rates', object.rates).entries()) {
      const read = take('rateCard', textOf(rate, 'model') ?? `#${i + 1}`, rate, readRate)
      if (read !== undefined) rates.push(read)
    }
    if (object.unpriced !== undefined) {
      unpriced = take('rateCard', 'unpriced', object.unpriced, (tree, findings) =>
        readUnpriced(tree, DEFAULT_UNPRICED, findings),
      )
    }
  }
  const exchange = listIn('exchange', 'exchange', set.exchange).flatMap((value, i): ExchangeRate | [] => {
    const rate = take('exchange', textOf(value, 'currency') ?? `#${i + 1}`, value, readExchangeRate)
    if (rate === undefined) return []
    const id = `exchange ${rate.currency} ${rate.from}`
    if (names.has(id)) {
      unsupported.push({ section: 'exchange', name: rate.currency, reason: `it has two rates from ${rate.from}` })
      return []
    }
    names.add(id)
    return rate
  })
  const covered = listIn('covered', 'covered', set.covered).flatMap((value, i) => {
    const entry = coveredFromJson(objectOf(value))
    if (entry === undefined)
      unsupported.push({
        section: 'covered',
        name: clip(textOf(value, 'client') ?? `#${i + 1}`),
        reason: 'it cannot be read',
      })
    return entry ?? []
  })
  return { tags, renames, attribution, budgets, rates, unpriced, exchange, covered: declaredBy(covered), unsupported }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function textOf(value: unknown, key: string): string | undefined {
  const text = objectOf(value)[key]
  return typeof text === 'string' && text !== '' ? text : undefined
}
