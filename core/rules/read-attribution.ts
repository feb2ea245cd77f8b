import { type Findings, nearest, oneOf } from '#core/boundary/problem.ts'
import { refuseUnknownKeys } from '#core/boundary/read-rule.ts'
import { isNothing } from '#core/boundary/sections.ts'
import { describeTree, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import { OWN_KEYS } from '#core/budget/budget.ts'
import { TAG_KEYS_MAX } from '#core/limits.ts'
import { clip, isPlainLine } from '#core/plain-text.ts'
import { STANDING_KEYS, TAG_KEY, TAG_VALUE, type TagLists } from '#core/usage/tags.ts'
import { oneOrMore, readMap, required, writtenText } from './fields.ts'
import { MAX_TAG_VALUES } from './limits.ts'
import { refuseUnlisted } from './read-budget.ts'
import { ATTRIBUTION_CONDITIONS, type AttributionRule } from './shape.ts'

export const ATTRIBUTION_KEYS = ['when', 'set'] as const

/** Columns of every report: a tag of that name would stand for two things. */
const RESERVED = [...OWN_KEYS, 'organisation', 'model', 'client', 'provider', 'day', 'unattributed']

/** The organisation's lists with `tenant` and `project` in them, whatever the document says. */
const standing = (): Record<string, readonly string[]> => Object.fromEntries(STANDING_KEYS.map(key => [key, []]))

/** `tags:`. What is right of a section with mistakes is given too, so that the mistakes of others can be told apart. */
export function readTags(tree: Tree | undefined, findings: Findings, tenants?: readonly string[]): TagLists {
  const lists = standing()
  if (tree === undefined || isNothing(tree)) return lists
  const map = readMap(tree, 'tags', 'tags: { tenant: [acme] }', findings)
  for (const entry of map?.entries ?? []) readTagList(entry, lists, tenants, findings)
  const keys = Object.keys(lists)
  if (keys.length > TAG_KEYS_MAX) {
    const message = `tags has ${keys.length} keys, ${oneOf(STANDING_KEYS)} among them`
    findings.error(tree, 'too_many', message, `use at most ${TAG_KEYS_MAX}`)
  }
  return lists
}

/** Reads one key's list into `lists`. */
export function readTagList(
  { key, keyAt, value }: TreeEntry,
  lists: Record<string, readonly string[]>,
  tenants: readonly string[] | undefined,
  findings: Findings,
): void {
  if (!TAG_KEY.test(key) || RESERVED.includes(key)) {
    const message = RESERVED.includes(key) ? `${key} has a meaning of its own` : `${clip(key)} is not a tag's key`
    const remedy = 'use another word of lower-case letters, digits, - and _'
    findings.error(keyAt, 'bad_name', message, remedy)
    return
  }
  const items = isNothing(value) ? [] : oneOrMore(value)
  if (value.kind === 'map' || items.length > MAX_TAG_VALUES) {
    const remedy = `list at most ${MAX_TAG_VALUES} values`
    findings.error(value, 'wrong_kind', `${key} takes a list of values, not ${describeTree(value)}`, remedy)
    return
  }
  const values = new Set<string>()
  for (const item of items) {
    const text = writtenText(item)
    if (text === undefined || !TAG_VALUE.test(text)) {
      const remedy = 'use lower-case letters, digits, dots, - and _, at most 63, a letter or digit first'
      findings.error(item, 'bad_name', `${describeTree(item)} cannot be a ${key}`, remedy)
    } else if (values.has(text)) {
      findings.error(item, 'duplicate', `${text} stands twice under ${key}`, 'keep one of the two')
    } else if (key === 'tenant' && tenants !== undefined && !tenants.includes(text)) {
      const near = nearest(text, tenants)
      const remedy = near === undefined ? 'make the tenant first' : `did you mean ${near}?`
      findings.error(item, 'unknown_tag', `the organisation has no tenant ${text}`, remedy)
      values.add(text)
    } else values.add(text)
  }
  lists[key] = [...values].sort()
}

/** One entry of `attribution:`; `tags` undefined: not checked against lists. */
export function readAttributionRule(
  tree: Tree,
  tags: TagLists | undefined,
  findings: Findings,
): AttributionRule | undefined {
  const example = '{ when: { repository: "billing-*" }, set: { tenant: acme } }'
  const map = readMap(tree, 'an attribution rule', example, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, ATTRIBUTION_KEYS, 'an attribution rule', findings)
  const whenEntry = required(map, 'when', 'the rule', 'add when: { repository: "billing-*" }', findings)
  const setEntry = required(map, 'set', 'the rule', 'add set: { tenant: acme }', findings)
  const when = whenEntry === undefined ? undefined : readPart(whenEntry, 'repository: "billing-*"', findings)
  const set = setEntry === undefined ? undefined : readPart(setEntry, 'tenant: acme', findings)
  if (when === undefined || set === undefined) return undefined
  refuseUnknownKeys(when, ATTRIBUTION_CONDITIONS, 'when', findings)
  const conditions: Record<string, string> = {}
  for (const key of ATTRIBUTION_CONDITIONS) {
    const entry = when.entries.find(found => found.key === key)
    const text = entry === undefined ? undefined : readPattern(entry, findings)
    if (text !== undefined) conditions[key] = text
  }
  const values: Record<string, string> = {}
  for (const entry of set.entries) {
    const text = readSetValue(entry, tags, findings)
    if (text !== undefined) values[entry.key] = text
  }
  return findings.errors.length > before ? undefined : { when: conditions, set: values }
}

function readPart({ key, value }: TreeEntry, example: string, findings: Findings): TreeMap | undefined {
  const map = readMap(value, key, `${key}: { ${example} }`, findings)
  if (map?.entries.length !== 0) return map
  findings.error(value, 'missing', `${key} is empty`, `write ${key}: { ${example} }`)
  return undefined
}

function readPattern({ key, value }: TreeEntry, findings: Findings): string | undefined {
  const text = writtenText(value)
  if (text === undefined || !isPlainLine(text) || text.length > 300) {
    const remedy = 'write one pattern of at most 300 characters, * being a wildcard'
    findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, remedy)
    return undefined
  }
  if (key !== 'environment' || /^[A-Za-z_][A-Za-z0-9_]{0,99}=/.test(text)) return text
  const message = `${describeTree(value)} names no variable`
  findings.error(value, 'bad_value', message, 'write environment: "NAME=pattern"')
  return undefined
}

function readSetValue({ key, keyAt, value }: TreeEntry, tags: TagLists | undefined, findings: Findings) {
  const keys = Object.keys(tags ?? {})
  if (tags === undefined ? !TAG_KEY.test(key) : !Object.hasOwn(tags, key)) {
    const near = nearest(key, keys)
    const remedy = near === undefined ? `use ${oneOf(keys)}, or list ${clip(key)} under tags` : `did you mean ${near}?`
    findings.error(keyAt, 'unknown_tag', `${clip(key)} is not one of the organisation's tags`, remedy)
    return undefined
  }
  const text = writtenText(value)
  if (text === undefined || !TAG_VALUE.test(text)) {
    findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, `write one ${key}, such as acme`)
    return undefined
  }
  if (tags !== undefined && !tags[key]!.includes(text)) {
    refuseUnlisted(value, key, text, tags[key]!, findings)
    return undefined
  }
  return text
}
