import { isMap, isSeq, type YAMLMap } from 'yaml'
import {
  appendItems,
  type EditResult,
  open,
  refuse,
  rootOf,
  sameJson,
  UNREADABLE,
} from '#core/boundary/document-edit.ts'
import { findEntry, removeEntry, setKey, written } from '#core/boundary/entry-edit.ts'
import { Findings } from '#core/boundary/problem.ts'
import type { Json, JsonObject } from '#core/boundary/rule.ts'
import { pairOf } from '#core/boundary/splice.ts'
import { type Tree, treeFromJson } from '#core/boundary/tree.ts'
import { DEFAULT_UNPRICED } from '#core/pricing.ts'
import {
  moveAttribution,
  putAttribution,
  putExchange,
  putRate,
  removeAttribution,
  removeExchange,
  removeRate,
} from './edit.ts'
import { addTagValue, removeTag, removeTagValue, setUnpriced } from './edit-tags.ts'
import { attributionToJson, exchangeToJson, rateToJson } from './json.ts'
import { readAttributionRule } from './read-attribution.ts'
import { readExchangeRate } from './read-exchange.ts'
import { readRate, readUnpriced } from './read-rates.ts'
import { readRename } from './read-renames.ts'

/** An entry as whoever edits it saw it: where it stood, and what it said in the document's own keys. */
export type EntrySeen = { index: number; was: JsonObject }

/**
 * One edit of prices, exchange rates, tags, attribution rules or renames, in plain values: made in the page to show what it changes, and again
 * by the control plane in the text in force. An entry that meanwhile says something else is not touched.
 */
export type SpendEdit =
  | { kind: 'put_rate'; rate: JsonObject; at?: EntrySeen | undefined }
  | { kind: 'remove_rate'; at: EntrySeen }
  | { kind: 'set_unpriced'; unpriced?: JsonObject | undefined }
  | { kind: 'put_exchange'; rate: JsonObject; at?: EntrySeen | undefined }
  | { kind: 'remove_exchange'; at: EntrySeen }
  | { kind: 'put_attribution'; rule: JsonObject; at?: EntrySeen | undefined }
  | { kind: 'move_attribution'; at: EntrySeen; to: number }
  | { kind: 'remove_attribution'; at: EntrySeen }
  | { kind: 'add_tag_value'; key: string; value: string }
  | { kind: 'remove_tag_value'; key: string; value: string }
  | { kind: 'remove_tag'; key: string }
  | { kind: 'rename'; key: string; from: string; to: string }
  | { kind: 'remove_rename'; key: string; from: string }

/** As of EditResult; `mistake`: what was asked for is itself wrong, with what to write instead. */
export type SpendEditResult = EditResult | { ok: false; reason: 'mistake'; message: string; remedy: string }

/** The text with the edit made in it, or why not. Whether the whole document is then in order is for its parser to say. */
export function applySpendEdit(text: string, edit: SpendEdit): SpendEditResult {
  switch (edit.kind) {
    case 'put_rate':
      return withRead(edit.rate, readRate, rate => at(text, 'rates', edit.at, index => putRate(text, rate, index)))
    case 'remove_rate':
      return at(text, 'rates', edit.at, index => removeRate(text, index!))
    case 'set_unpriced':
      if (edit.unpriced === undefined) return setUnpriced(text, undefined)
      return withRead(
        edit.unpriced,
        (tree, findings) => readUnpriced(tree, DEFAULT_UNPRICED, findings),
        policy => setUnpriced(text, policy),
      )
    case 'put_exchange':
      return withRead(edit.rate, readExchangeRate, rate =>
        at(text, 'exchange', edit.at, index => putExchange(text, rate, index)),
      )
    case 'remove_exchange':
      return at(text, 'exchange', edit.at, index => removeExchange(text, index!))
    case 'put_attribution':
      return withRead(
        edit.rule,
        (tree, findings) => readAttributionRule(tree, undefined, findings),
        rule => at(text, 'attribution', edit.at, index => putAttribution(text, rule, index)),
      )
    case 'move_attribution':
      return at(text, 'attribution', edit.at, index => moveAttribution(text, index!, edit.to))
    case 'remove_attribution':
      return at(text, 'attribution', edit.at, index => removeAttribution(text, index!))
    case 'add_tag_value':
      return addTagValue(text, edit.key, edit.value)
    case 'remove_tag_value':
      return removeTagValue(text, edit.key, edit.value)
    case 'remove_tag':
      return removeTag(text, edit.key)
    case 'rename':
      return withRead(
        { key: edit.key, from: edit.from, to: edit.to },
        (tree, findings) => readRename(tree, undefined, findings),
        rename => renameIn(text, rename),
      )
    case 'remove_rename': {
      const found = findEntry(text, 'renames', map => says(map, { key: edit.key, from: edit.from }))
      return 'reason' in found ? found : removeEntry(text, 'renames', found)
    }
  }
}

function withRead<T>(
  value: JsonObject,
  read: (tree: Tree, findings: Findings) => T | undefined,
  edit: (read: T) => SpendEditResult,
): SpendEditResult {
  const findings = new Findings()
  const tree = treeFromJson(value)
  const entry = tree === undefined ? undefined : read(tree, findings)
  if (entry !== undefined) return edit(entry)
  const { message = 'this cannot be read', remedy = 'correct it' } = findings.errors[0] ?? {}
  return { ok: false, reason: 'mistake', message, remedy }
}

const READERS = {
  rates: (tree: Tree) => {
    const read = readRate(tree, new Findings())
    return read && rateToJson(read)
  },
  exchange: (tree: Tree) => {
    const read = readExchangeRate(tree, new Findings())
    return read && exchangeToJson(read)
  },
  attribution: (tree: Tree) => {
    const read = readAttributionRule(tree, undefined, new Findings())
    return read && attributionToJson(read)
  },
} as const

/** Finds the entry that was seen: where it stood, or where it stands by now. */
function at(
  text: string,
  section: keyof typeof READERS,
  seen: EntrySeen | undefined,
  edit: (index: number | undefined) => EditResult,
): SpendEditResult {
  if (seen === undefined) return edit(undefined)
  const doc = open(text)
  if (doc === undefined) return refuse('unreadable', UNREADABLE)
  const root = rootOf(doc)
  const seq = root === undefined ? undefined : pairOf(root, section)?.value
  const items = isSeq(seq) ? seq.items : []
  const isIt = (item: unknown) => isMap(item) && sameJson(written(item as YAMLMap, READERS[section]), seen.was)
  const index = isIt(items[seen.index]) ? seen.index : items.findIndex(isIt)
  if (index < 0) return refuse('no_such_entry', 'somebody changed or removed this entry meanwhile')
  return edit(index)
}

function says(map: YAMLMap, wanted: Readonly<Record<string, string>>): boolean {
  const content = map.toJSON() as JsonObject
  return Object.entries(wanted).every(([key, value]) => content[key] === value)
}

/**
 * Lists the new value beside the old one, which machines may go on saying, adds the rename, and writes the new value where
 * budgets and boundaries name the old one: for those the document has to say what is meant now.
 */
function renameIn(text: string, rename: { key: string; from: string; to: string }): EditResult {
  let result = addTagValue(text, rename.key, rename.to)
  if (result.ok) result = appendItems(result.text, 'renames', [rename])
  for (const section of ['budgets', 'boundaries'] as const)
    if (result.ok) result = renameWhom(result.text, section, rename)
  return result
}

const LISTS: Readonly<Record<string, string>> = { tenant: 'tenants', project: 'projects' }

function renameWhom(
  text: string,
  section: 'budgets' | 'boundaries',
  { key, from, to }: { key: string; from: string; to: string },
): EditResult {
  const name = section === 'budgets' ? key : LISTS[key]
  if (name === undefined) return { ok: true, text }
  const changed = (value: Json): Json => {
    if (!Array.isArray(value)) return value === from ? to : value
    return [...new Set(value.map(one => (one === from ? to : one)))]
  }
  let result: EditResult = { ok: true, text }
  const count = entriesOf(text, section)
  for (let index = 0; index < count && result.ok; index++) {
    const found = findEntry(result.text, section, (_, i) => i === index)
    if ('reason' in found) continue
    const whom = (found.map.toJSON() as { for?: Json }).for
    if (typeof whom !== 'object' || whom === null || Array.isArray(whom)) continue
    const before = (whom as JsonObject)[name]
    if (before === undefined || sameJson(changed(before), before)) continue
    const now = { ...(whom as JsonObject), [name]: changed(before) }
    result = setKey(result.text, section, found, 'for', now, [])
  }
  return result
}

function entriesOf(text: string, section: string): number {
  const doc = open(text)
  const root = doc === undefined ? undefined : rootOf(doc)
  const seq = root === undefined ? undefined : pairOf(root, section)?.value
  return isSeq(seq) ? seq.items.length : 0
}
