import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml'
import {
  apply,
  type Content,
  type EditResult,
  listIn,
  omit,
  open,
  refuse,
  rootOf,
  sameJson,
  UNREADABLE,
} from './document-edit.ts'
import { Findings } from './problem.ts'
import type { Json, JsonObject } from './rule.ts'
import { addPair, emptyList, pairOf, removeBlockItem, removeFlowItem, removePair, replaceValue } from './splice.ts'
import type { Tree } from './tree.ts'
import { treeFromYaml } from './yaml-tree.ts'

/**
 * Edits of one entry of a list of maps, such as `boundaries:` or `budgets:`, in place. Everything else stays as it was, byte for
 * byte; an edit that cannot be proven to change this entry alone is refused.
 */
export type FoundEntry = { seq: YAMLSeq; index: number; map: YAMLMap }
export type Refused = Extract<EditResult, { ok: false }>

/** What an entry is called, as it is written where that is no text; undefined when it has no name. */
export function nameOf(map: YAMLMap): string | undefined {
  const name = pairOf(map, 'name')?.value
  if (!isScalar(name) || name.value === null) return undefined
  return typeof name.value === 'string' ? name.value : (name.source ?? String(name.value))
}

export const byName =
  (name: string) =>
  (map: YAMLMap): boolean =>
    nameOf(map) === name

export function findEntry(
  text: string,
  section: string,
  is: (map: YAMLMap, index: number) => boolean,
): FoundEntry | Refused {
  const doc = open(text)
  if (doc === undefined) return refuse('unreadable', UNREADABLE)
  const root = rootOf(doc)
  const seq = root === undefined ? undefined : pairOf(root, section)?.value
  const index = isSeq(seq) ? seq.items.findIndex((item, i) => isMap(item) && is(item as YAMLMap, i)) : -1
  if (!isSeq(seq) || index < 0) return refuse('no_such_entry', `there is no such entry in ${section}`)
  return { seq, index, map: seq.items[index] as YAMLMap }
}

/** What an entry says now, in its canonical form; as it is written where it cannot be read. */
export function written(map: YAMLMap, read: (tree: Tree) => JsonObject | undefined): JsonObject {
  const tree = treeFromYaml(map as ParsedNode, { start: 0, end: 0 }, new Findings())
  return (tree === undefined ? undefined : read(tree)) ?? (map.toJSON() as JsonObject)
}

/** Sets one key, or removes it when `value` is undefined. `order`: that of the keys, for one that is not there yet. */
export function setKey(
  text: string,
  section: string,
  { map, index }: FoundEntry,
  key: string,
  value: Json | undefined,
  order: readonly string[],
): EditResult {
  const pair = pairOf(map, key)
  if (pair === undefined && value === undefined) return { ok: true, text }
  if (isScalar(pair?.value) && pair.value.value === value) return { ok: true, text }
  const splice =
    pair === undefined
      ? addPair(text, map, key, value!, order)
      : value === undefined
        ? removePair(text, map, pair)
        : replaceValue(text, pair, value)
  const change = (entry: Content) => (value === undefined ? omit(entry, key) : { ...entry, [key]: value })
  return apply(text, splice, before => ({
    ...before,
    [section]: listIn(before, section).map((entry, i) => (i === index ? change(entry) : entry)),
  }))
}

/** Sets or removes every key in which an entry differs from what is wanted. */
export function setKeys(
  text: string,
  section: string,
  index: number,
  current: JsonObject,
  wanted: JsonObject,
  order: readonly string[],
): EditResult {
  let result: EditResult = { ok: true, text }
  for (const key of new Set([...order, ...Object.keys(current)])) {
    if (sameJson(current[key], wanted[key])) continue
    const found = findEntry(result.text, section, (_, i) => i === index)
    if ('reason' in found) return found
    result = setKey(result.text, section, found, key, wanted[key], order)
    if (!result.ok) return result
  }
  return result
}

/** Removes an entry with the comment lines directly above it (those above the first stay: they speak of the list). */
export function removeEntry(text: string, section: string, { seq, index }: FoundEntry): EditResult {
  const only = seq.items.length === 1
  const splice = only ? emptyList(text, seq) : seq.flow ? removeFlowItem(seq, index) : removeBlockItem(text, seq, index)
  return apply(text, splice, before => ({
    ...before,
    [section]: listIn(before, section).filter((_, i) => i !== index),
  }))
}
