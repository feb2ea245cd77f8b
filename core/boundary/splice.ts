import { isScalar, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml'
import { flowText } from './flow-text.ts'
import type { Json } from './rule.ts'

/** Cuts and insertions in a document's text, worked out from where the YAML library says its parts stand. */
export interface Splice {
  start: number
  end: number
  text: string
}

/** The pair of a key in a map; undefined when the map has no such key. */
export function pairOf(map: YAMLMap | undefined, key: string): Pair<ParsedNode, ParsedNode | null> | undefined {
  const pairs = (map?.items ?? []) as Pair<ParsedNode, ParsedNode | null>[]
  return pairs.find(pair => isScalar(pair.key) && pair.key.value === key)
}

/** Where a node stands in its text: start and end without what follows it. */
export function spanOf(node: { range?: [number, number, number] | null }): [number, number] {
  return [node.range![0], node.range![1]]
}

/** The text's own line ending. */
export function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** The start of the line after the one in which the content before `offset` ends. */
export function nextLine(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset
  const at = text.indexOf('\n', offset)
  return at < 0 ? text.length : at + 1
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** How far into its line an offset lies; a byte order mark does not count. */
export function columnOf(text: string, offset: number): number {
  const start = lineStart(text, offset)
  return offset - (start === 0 && text[0] === '\ufeff' ? 1 : start)
}

function endOf(pair: Pair<ParsedNode, ParsedNode | null>): number {
  return pair.value?.range[1] ?? pair.key.range[1]
}

/** Just after the colon of a pair. */
export function afterColon(text: string, pair: Pair<ParsedNode, ParsedNode | null>): number {
  return text.indexOf(':', pair.key.range[1]) + 1
}

/** Lines to insert at a line's start; the last line may lack its newline. */
export function insertLines(text: string, at: number, lines: readonly string[]): Splice {
  const nl = newlineOf(text)
  const open = at > 0 && text[at - 1] !== '\n'
  return { start: at, end: at, text: `${open ? nl : ''}${lines.join(nl)}${open ? '' : nl}` }
}

/** Another value for a key; comments after it stay. */
export function replaceValue(text: string, pair: Pair<ParsedNode, ParsedNode | null>, value: Json): Splice {
  const node = pair.value
  const colon = afterColon(text, pair)
  const replacement = flowText(value)
  if (node === null || node.range[0] === node.range[1]) return { start: colon, end: colon, text: ` ${replacement}` }
  const [start, end] = spanOf(node)
  const block = text.slice(colon, start).includes('\n') || /^[|>]/.test(text.slice(start, start + 1))
  if (!block) return { start, end, text: replacement }
  const kept = start + text.slice(start, end).trimEnd().length
  return { start: colon, end: kept, text: ` ${replacement}` }
}

/** A new key goes after the nearest key that stands before it in `order`. */
export function addPair(text: string, map: YAMLMap, key: string, value: Json, order: readonly string[]): Splice {
  const pairs = map.items as Pair<ParsedNode, ParsedNode | null>[]
  const before = order.slice(0, Math.max(0, order.indexOf(key)))
  const anchor = pairs.findLast(pair => isScalar(pair.key) && before.includes(String(pair.key.value))) ?? pairs.at(-1)!
  if (map.flow) return { start: endOf(anchor), end: endOf(anchor), text: `, ${key}: ${flowText(value)}` }
  const indent = ' '.repeat(columnOf(text, pairs[0]!.key.range[0]))
  return insertLines(text, nextLine(text, endOf(anchor)), [`${indent}${key}: ${flowText(value)}`])
}

/** Takes a key out, its line included. */
export function removePair(text: string, map: YAMLMap, pair: Pair<ParsedNode, ParsedNode | null>): Splice {
  const pairs = map.items as Pair<ParsedNode, ParsedNode | null>[]
  const at = pairs.indexOf(pair)
  if (map.flow) {
    const before = pairs[at - 1]
    if (before !== undefined) return { start: endOf(before), end: endOf(pair), text: '' }
    const after = pairs[at + 1]
    return { start: pair.key.range[0], end: after === undefined ? endOf(pair) : after.key.range[0], text: '' }
  }
  const next = pairs[at + 1]
  // The first key shares its line with the dash: the next key moves up to it.
  if (at === 0 && next !== undefined) return { start: pair.key.range[0], end: next.key.range[0], text: '' }
  return { start: lineStart(text, pair.key.range[0]), end: nextLine(text, endOf(pair)), text: '' }
}

/** Takes out the last item: the list becomes `[]`. */
export function emptyList(text: string, seq: YAMLSeq): Splice {
  const [start, end] = spanOf(seq)
  if (seq.flow) return { start, end, text: '[]' }
  const kept = start + text.slice(start, end).trimEnd().length
  const dash = text.lastIndexOf(':', start)
  // Comments between the key and its list stay, below the empty list.
  const between = text.slice(dash + 1, lineStart(text, start))
  return { start: dash + 1, end: kept, text: ` []${between.trimEnd()}` }
}

/** Takes an item out of a list that is written `[a, b]`; not for the last one, see {@link emptyList}. */
export function removeFlowItem(seq: YAMLSeq, index: number): Splice {
  const [start, end] = spanOf(seq.items[index] as ParsedNode)
  const before = seq.items[index - 1] as ParsedNode | undefined
  if (before !== undefined) return { start: before.range[1], end, text: '' }
  return { start, end: (seq.items[index + 1] as ParsedNode).range[0], text: '' }
}

/** Takes an item out of a list of dashes, with the comments right above it; the first keeps what stands above it. */
export function removeBlockItem(text: string, seq: YAMLSeq, index: number): Splice {
  const item = seq.items[index] as ParsedNode
  let start = lineStart(text, item.range[0])
  if (index > 0) {
    for (
      let above = lineStart(text, start - 1);
      /^[ \t]*#/.test(text.slice(above, start));
      above = lineStart(text, start - 1)
    ) {
      start = above
      if (above === 0) break
    }
  }
  const content = item.range[0] + text.slice(...spanOf(item)).trimEnd().length
  return { start, end: nextLine(text, content), text: '' }
}
