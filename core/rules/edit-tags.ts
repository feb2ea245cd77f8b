import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'
import {
  apply,
  type Content,
  type EditResult,
  omit,
  open,
  refuse,
  rootOf,
  UNREADABLE,
} from '#core/boundary/document-edit.ts'
import { flowText } from '#core/boundary/flow-text.ts'
import type { Json } from '#core/boundary/rule.ts'
import {
  addPair,
  columnOf,
  emptyList,
  insertLines,
  nextLine,
  pairOf,
  removeBlockItem,
  removeFlowItem,
  removePair,
  replaceValue,
  spanOf,
} from '#core/boundary/splice.ts'
import type { UnpricedPolicy } from '#core/pricing.ts'
import { unpricedToJson } from './json.ts'

/** Edits of `tags:` and `unpriced:` in place, as careful as those of the lists of entries. */

/** Adds a value to a tag's list; makes the list, or the section, where there is none. One that is listed already changes nothing. */
export function addTagValue(text: string, key: string, value: string): EditResult {
  const root = rootIn(text)
  if ('reason' in root) return root
  const tags = sectionMap(root.map, 'tags')
  if (tags === 'other') return refuse('not_editable', 'tags is not a map; correct it by hand first')
  const values = valuesIn(text, key)
  if (values.includes(value)) return { ok: true, text }
  const change = (before: Content): Content => ({
    ...before,
    tags: { ...mapIn(before, 'tags'), [key]: [...values, value] },
  })
  if (tags === undefined) {
    const pair = pairOf(root.map, 'tags')
    if (pair !== undefined) return apply(text, replaceValue(text, pair, { [key]: [value] }), change)
    return addSection(text, root.map, 'tags', { [key]: [value] }, change)
  }
  const pair = pairOf(tags, key)
  if (pair === undefined) {
    if (tags.items.length === 0) {
      return apply(text, replaceValue(text, pairOf(root.map, 'tags')!, { [key]: [value] }), change)
    }
    return apply(text, addPair(text, tags, key, [value], []), change)
  }
  const node = pair.value
  if (!isSeq(node) || node.items.length === 0) return apply(text, replaceValue(text, pair, [...values, value]), change)
  const last = node.items.at(-1) as ParsedNode
  const end = last.range[0] + text.slice(...spanOf(last)).trimEnd().length
  if (node.flow) return apply(text, { start: end, end, text: `, ${flowText(value)}` }, change)
  const dash = text.lastIndexOf('-', (node.items[0] as ParsedNode).range[0])
  const line = `${' '.repeat(columnOf(text, dash))}- ${flowText(value)}`
  return apply(text, insertLines(text, nextLine(text, end), [line]), change)
}

/** Takes a value off a tag's list. Whether something still names it is for the parser to say. */
export function removeTagValue(text: string, key: string, value: string): EditResult {
  const root = rootIn(text)
  if ('reason' in root) return root
  const tags = sectionMap(root.map, 'tags')
  const pair = tags === undefined || tags === 'other' ? undefined : pairOf(tags, key)
  const values = valuesIn(text, key)
  const index = values.indexOf(value)
  if (pair === undefined || index < 0) return refuse('no_such_entry', `${value} is not listed under ${key}`)
  const kept = values.filter((_, i) => i !== index)
  const change = (before: Content): Content => ({ ...before, tags: { ...mapIn(before, 'tags'), [key]: kept } })
  const node = pair.value
  if (!isSeq(node)) return apply(text, replaceValue(text, pair, kept), change)
  if (kept.length === 0) return apply(text, emptyList(text, node), change)
  return apply(text, node.flow ? removeFlowItem(node, index) : removeBlockItem(text, node, index), change)
}

/** Takes a whole tag away, its values with it. */
export function removeTag(text: string, key: string): EditResult {
  const root = rootIn(text)
  if ('reason' in root) return root
  const tags = sectionMap(root.map, 'tags')
  const pair = tags === undefined || tags === 'other' ? undefined : pairOf(tags, key)
  if (pair === undefined || tags === undefined || tags === 'other') {
    return refuse('no_such_entry', `${key} is not one of the tags`)
  }
  const change = (before: Content): Content => ({ ...before, tags: omit(mapIn(before, 'tags'), key) })
  const splice =
    tags.items.length === 1 ? replaceValue(text, pairOf(root.map, 'tags')!, {}) : removePair(text, tags, pair)
  return apply(text, splice, change)
}

/** Writes `unpriced:`, or takes it away where the default shall hold. */
export function setUnpriced(text: string, policy: UnpricedPolicy | undefined): EditResult {
  const root = rootIn(text)
  if ('reason' in root) return root
  const pair = pairOf(root.map, 'unpriced')
  if (policy === undefined) {
    if (pair === undefined) return { ok: true, text }
    return apply(text, removePair(text, root.map!, pair), before => omit(before, 'unpriced'))
  }
  const unpriced = unpricedToJson(policy)
  const change = (before: Content): Content => ({ ...before, unpriced })
  if (pair === undefined) return addSection(text, root.map, 'unpriced', unpriced, change)
  return apply(text, replaceValue(text, pair, unpriced), change)
}

// --- finding ---------------------------------------------------------------------------------------------------------

type Refused = Extract<EditResult, { ok: false }>

/** The map of sections; of an empty document none, and that is no mistake. */
function rootIn(text: string): { map: YAMLMap | undefined } | Refused {
  const doc = open(text)
  if (doc === undefined && text.trim() !== '') return refuse('unreadable', UNREADABLE)
  return { map: doc === undefined ? undefined : rootOf(doc) }
}

function sectionMap(root: YAMLMap | undefined, name: string): YAMLMap | 'other' | undefined {
  const node = root === undefined ? undefined : pairOf(root, name)?.value
  if (node == null || (isScalar(node) && node.value === null)) return undefined
  return isMap(node) ? (node as YAMLMap) : 'other'
}

function addSection(
  text: string,
  root: YAMLMap | undefined,
  name: string,
  value: Json,
  change: (before: Content) => Content,
): EditResult {
  if (root?.flow) return refuse('not_editable', 'the document is written on one line; spread it over lines first')
  return apply(text, insertLines(text, text.length, [`${name}: ${flowText(value)}`]), change)
}

function mapIn(content: Content, section: string): Content {
  const map = content[section]
  return typeof map === 'object' && map !== null && !Array.isArray(map) ? (map as Content) : {}
}

/** The values of a tag as text; one value alone is a list of it. */
function valuesIn(text: string, key: string): string[] {
  const doc = open(text)
  const root = doc === undefined ? undefined : rootOf(doc)
  const tags = sectionMap(root, 'tags')
  const node = tags === undefined || tags === 'other' ? undefined : pairOf(tags, key)?.value
  const nodes = isSeq(node) ? node.items : node == null ? [] : [node]
  return nodes.flatMap(item => {
    if (!isScalar(item) || item.value === null) return []
    return typeof item.value === 'string' ? item.value : String(item.source)
  })
}
