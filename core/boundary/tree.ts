import { clip } from '#core/plain-text.ts'
import { NOWHERE, type Place } from './problem.ts'

/** A value with its place in the text: what YAML and JSON have in common once everything odd has been refused. */
export type Tree = Scalar | TreeList | TreeMap

export interface Scalar extends Place {
  kind: 'scalar'
  value: string | number | boolean | null
  /** As written: `20.50` keeps its digits, which the number would lose. */
  source: string
}

export interface TreeList extends Place {
  kind: 'list'
  items: Tree[]
}

export interface TreeMap extends Place {
  kind: 'map'
  entries: TreeEntry[]
}

export interface TreeEntry {
  key: string
  keyAt: Place
  value: Tree
}

/** A JSON value as a tree without places. Undefined for what no JSON text gives, and beyond `depth` levels. */
export function treeFromJson(value: unknown, depth = 16): Tree | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'scalar', value, source: String(value), ...NOWHERE }
  }
  if (typeof value !== 'object' || depth === 0) return undefined
  if (Array.isArray(value)) {
    const items = value.map(item => treeFromJson(item, depth - 1))
    return items.some(item => item === undefined) ? undefined : { kind: 'list', items: items as Tree[], ...NOWHERE }
  }
  const entries: TreeEntry[] = []
  for (const [key, item] of Object.entries(value)) {
    const tree = treeFromJson(item, depth - 1)
    if (tree === undefined) return undefined
    entries.push({ key, keyAt: NOWHERE, value: tree })
  }
  return { kind: 'map', entries, ...NOWHERE }
}

/** The entry of a key; undefined when the map has no such key. */
export function entryOf(map: TreeMap, key: string): TreeEntry | undefined {
  return map.entries.find(entry => entry.key === key)
}

/** What a tree is, in words for a message: `a list`, `the number 20`. */
export function describeTree(tree: Tree): string {
  if (tree.kind === 'list') return 'a list'
  if (tree.kind === 'map') return 'a map'
  if (tree.value === null) return 'an empty value'
  if (typeof tree.value === 'string') return `"${clip(tree.value)}"`
  return `the ${typeof tree.value === 'number' ? 'number' : 'word'} ${clip(tree.source)}`
}
