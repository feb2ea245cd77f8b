import type { ParsedNode } from 'yaml'
import { appendItems, apply, type EditResult, listIn, refuse, sameJson } from '#core/boundary/document-edit.ts'
import { byName, findEntry, removeEntry, setKeys, written } from '#core/boundary/entry-edit.ts'
import { Findings } from '#core/boundary/problem.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import type { Tree } from '#core/boundary/tree.ts'
import { type Budget, DEFAULT_OWNERS, DEFAULT_STEPS } from '#core/budget/budget.ts'
import type { ExchangeRate } from '#core/spend/exchange.ts'
import { attributionToJson, budgetToJson, exchangeToJson, rateToJson } from './json.ts'
import { ATTRIBUTION_KEYS, readAttributionRule } from './read-attribution.ts'
import { BUDGET_KEYS, type BudgetContext, readBudget } from './read-budget.ts'
import { EXCHANGE_KEYS, readExchangeRate } from './read-exchange.ts'
import { RATE_KEYS, readRate } from './read-rates.ts'
import type { AttributionRule, Rate } from './shape.ts'

/**
 * Edits of one entry of `budgets:`, `attribution:`, `rates:` or `exchange:` in place: comments, order and spelling of everything else stay
 * as they were, byte for byte. An edit that cannot be proven to change this entry alone is refused.
 */

type Defaults = BudgetContext['defaults']

/**
 * Writes a whole budget: changes only the keys that differ of the one that stands there under `previousName` (or its own name),
 * or adds it at the end of the list. What the defaults say is not written into a new one.
 */
export function upsertBudget(
  text: string,
  budget: Budget,
  options: { defaults: Defaults; previousName?: string },
): EditResult {
  const { defaults } = options
  const wanted = budgetToJson(budget)
  const found = findEntry(text, 'budgets', byName(options.previousName ?? budget.name))
  if ('reason' in found) {
    if (found.reason !== 'no_such_entry') return found
    const implied: JsonObject = { ...defaults, basis: 'equivalent', steps: DEFAULT_STEPS, owners: DEFAULT_OWNERS }
    const fresh = Object.entries(wanted).filter(([key, value]) => !sameJson(implied[key], value))
    return appendItems(text, 'budgets', [Object.fromEntries(fresh)])
  }
  const current = written(found.map, tree => {
    const read = readBudget(tree, { defaults }, new Findings())
    return read === undefined ? undefined : budgetToJson(read)
  })
  return setKeys(text, 'budgets', found.index, current, wanted, BUDGET_KEYS)
}

/** Removes a budget with the comment lines directly above it (those above the first stay: they speak of the list). */
export const removeBudget = (text: string, name: string): EditResult => remove(text, 'budgets', byName(name))

/** Writes the attribution rule at `index`, or adds one at the end, where it is the last to be tried. */
export function putAttribution(text: string, rule: AttributionRule, index?: number): EditResult {
  const read = (tree: Tree) => {
    const found = readAttributionRule(tree, undefined, new Findings())
    return found === undefined ? undefined : attributionToJson(found)
  }
  return putEntry(text, 'attribution', attributionToJson(rule), index, read, ATTRIBUTION_KEYS)
}

/** Removes the attribution rule at `index`. */
export const removeAttribution = (text: string, index: number): EditResult =>
  remove(text, 'attribution', (_, i) => i === index)

/** Writes the rate at `index`, or adds one at the end. */
export function putRate(text: string, rate: Rate, index?: number): EditResult {
  const read = (tree: Tree) => {
    const found = readRate(tree, new Findings())
    return found === undefined ? undefined : rateToJson(found)
  }
  return putEntry(text, 'rates', rateToJson(rate), index, read, RATE_KEYS)
}

/** Removes the rate at `index`. */
export const removeRate = (text: string, index: number): EditResult => remove(text, 'rates', (_, i) => i === index)

/** Writes the exchange rate at `index`, or adds one at the end. */
export function putExchange(text: string, rate: ExchangeRate, index?: number): EditResult {
  const read = (tree: Tree) => {
    const found = readExchangeRate(tree, new Findings())
    return found === undefined ? undefined : exchangeToJson(found)
  }
  return putEntry(text, 'exchange', exchangeToJson(rate), index, read, EXCHANGE_KEYS)
}

/** Removes the exchange rate at `index`. */
export const removeExchange = (text: string, index: number): EditResult =>
  remove(text, 'exchange', (_, i) => i === index)

/** Moves an attribution rule to another place in the list: the first that holds decides. */
export function moveAttribution(text: string, from: number, to: number): EditResult {
  const found = findEntry(text, 'attribution', (_, i) => i === from)
  if ('reason' in found) return found
  const { seq } = found
  if (to < 0 || to >= seq.items.length) return refuse('no_such_entry', `there is no place ${to + 1} in attribution`)
  if (from === to) return { ok: true, text }
  const step = from < to ? 1 : -1
  let result: EditResult = { ok: true, text }
  for (let at = from; at !== to && result.ok; at += step) result = swapItems(result.text, Math.min(at, at + step))
  return result
}

type Section = 'budgets' | 'attribution' | 'rates' | 'exchange'

function putEntry(
  text: string,
  section: Section,
  wanted: JsonObject,
  index: number | undefined,
  read: (tree: Tree) => JsonObject | undefined,
  order: readonly string[],
): EditResult {
  if (index === undefined) return appendItems(text, section, [wanted])
  const found = findEntry(text, section, (_, i) => i === index)
  return 'reason' in found ? found : setKeys(text, section, index, written(found.map, read), wanted, order)
}

function remove(text: string, section: Section, is: Parameters<typeof findEntry>[2]): EditResult {
  const found = findEntry(text, section, is)
  return 'reason' in found ? found : removeEntry(text, section, found)
}

/** Exchanges an item and the next, as they are written; comments above them stay where they are. */
function swapItems(text: string, index: number): EditResult {
  const found = findEntry(text, 'attribution', (_, i) => i === index)
  if ('reason' in found) return found
  const [a, b] = [found.seq.items[index] as ParsedNode, found.seq.items[index + 1] as ParsedNode | undefined]
  if (b === undefined) return refuse('no_such_entry', 'there is no such entry in attribution')
  const textOf = (node: ParsedNode) => text.slice(node.range[0], node.range[1]).trimEnd()
  const end = b.range[0] + textOf(b).length
  const between = text.slice(a.range[0] + textOf(a).length, b.range[0])
  const splice = { start: a.range[0], end, text: `${textOf(b)}${between}${textOf(a)}` }
  return apply(text, splice, before => {
    const list = [...listIn(before, 'attribution')]
    ;[list[index], list[index + 1]] = [list[index + 1]!, list[index]!]
    return { ...before, attribution: list }
  })
}
