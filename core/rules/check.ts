import { type Findings, nearest } from '#core/boundary/problem.ts'
import type { Rule } from '#core/boundary/shape.ts'
import { entryOf, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import type { Budget } from '#core/budget/budget.ts'
import { globMatches } from '#core/glob.ts'
import { clip } from '#core/plain-text.ts'
import type { TagLists } from '#core/usage/tags.ts'
import { oneOrMore, writtenText } from './fields.ts'

/** Keys of a boundary's `for:` whose entries are values of a tag. */
const FOR_TAGS = { tenants: 'tenant', projects: 'project' } as const

/** The text of the key that names an entry, wherever it is right or wrong. */
function nameOf(map: TreeMap): string | undefined {
  const value = entryOf(map, 'name')?.value
  return value === undefined ? undefined : writtenText(value)
}

const mapsOf = (tree: Tree | undefined): TreeMap[] =>
  tree?.kind === 'list' ? tree.items.filter(item => item.kind === 'map') : []

/**
 * A boundary's `for:` names tenants and projects of the organisation's lists; a pattern matches one of them at least. Where no
 * project is listed a repository's name stands for it, and any may be named.
 */
export function checkFor(boundaries: Tree | undefined, tags: TagLists, findings: Findings): void {
  for (const rule of mapsOf(boundaries)) {
    const whom = entryOf(rule, 'for')?.value
    if (whom?.kind !== 'map') continue
    for (const entry of whom.entries) {
      const key = Object.hasOwn(FOR_TAGS, entry.key) ? FOR_TAGS[entry.key as keyof typeof FOR_TAGS] : undefined
      if (key === undefined || (key === 'project' && !tags.project?.length)) continue
      checkNames(entry, key, tags[key] ?? [], findings)
    }
  }
}

function checkNames({ value }: TreeEntry, key: string, listed: readonly string[], findings: Findings): void {
  for (const item of oneOrMore(value)) {
    const pattern = writtenText(item)
    if (pattern === undefined || /^\*+$/.test(pattern) || listed.some(name => globMatches(pattern, name))) continue
    const near = nearest(pattern, listed)
    const message = pattern.includes('*')
      ? `no ${key} is called like ${clip(pattern)}`
      : `no ${key} is called ${clip(pattern)}`
    const remedy = near === undefined ? `list it under tags, as in tags: { ${key}: [acme] }` : `did you mean ${near}?`
    findings.error(item, 'unknown_tag', message, remedy)
  }
}

/** The budget that a case's figures name is there; `organisation`: names that `org:` may stand before, any when undefined. */
export function checkCases(
  tests: Tree | undefined,
  budgets: readonly string[],
  findings: Findings,
  organisation?: readonly string[],
): void {
  for (const item of mapsOf(tests)) {
    const figures = entryOf(item, 'figures')?.value
    const at = figures?.kind === 'map' ? entryOf(figures, 'budget')?.value : undefined
    const name = at === undefined ? undefined : writtenText(at)
    if (at === undefined || name === undefined) continue
    const known = name.startsWith('org:') ? organisation?.map(word => `org:${word}`) : budgets
    if (known === undefined || known.includes(name)) continue
    const near = nearest(name, known)
    const remedy = near === undefined ? 'name a budget that there is' : `did you mean ${near}?`
    findings.error(at, 'unknown_budget', `no budget is called ${clip(name)}`, remedy)
  }
}

/**
 * Warns of a boundary that reads the budget of one tenant, project or machine and is not for it: it would stop everybody
 * when that one has spent.
 */
export function checkBudgetReach(
  boundaries: Tree | undefined,
  rules: readonly Rule[],
  budgets: readonly Budget[],
  findings: Findings,
): void {
  for (const map of mapsOf(boundaries)) {
    const rule = rules.find(({ name }) => name === nameOf(map))
    const named = rule?.when.find(({ figure }) => figure === 'budget_used_pct')?.qualifier
    const budget = named === undefined ? undefined : budgets.find(({ name }) => name === named)
    if (rule === undefined || budget?.for === undefined || budget.for.value === '*') continue
    const { key, value } = budget.for
    if (key !== 'tenant' && key !== 'project' && key !== 'machine') continue
    if (rule.for?.[`${key}s`] !== undefined) continue
    const when = entryOf(map, 'when')?.value
    const at = (when?.kind === 'map' ? entryOf(when, 'budget')?.value : undefined) ?? map
    const message = `${budget.name} is the budget of ${key} ${value}, and the boundary judges everybody's calls by it`
    findings.warn(at, 'other_scope', message, `add for: { ${key}s: [${value}] }`)
  }
}

/** Reads a list's entries with one reader; a name that stands above already is refused. */
export function readNamed<T extends { name: string }>(
  items: readonly Tree[],
  what: string,
  read: (item: Tree) => T | undefined,
  findings: Findings,
): T[] {
  const seen = new Set<string>()
  const entries: T[] = []
  for (const item of items) {
    const entry = read(item)
    const name = item.kind === 'map' ? nameOf(item) : undefined
    if (name !== undefined && seen.has(name)) {
      const at = item.kind === 'map' ? entryOf(item, 'name')!.value : item
      const message = `a ${what} called ${clip(name)} stands above already`
      findings.error(at, 'duplicate', message, `give every ${what} a name of its own`)
    } else if (entry !== undefined) entries.push(entry)
    if (name !== undefined) seen.add(name)
  }
  return entries
}

/** The names that a list gives its entries, right or wrong: a boundary that names one is not at fault for its mistakes. */
export const namesIn = (tree: Tree | undefined): string[] => mapsOf(tree).flatMap(map => nameOf(map) ?? [])
