import { type Document, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'
import { flowText, itemLines } from './flow-text.ts'
import { Findings } from './problem.ts'
import type { JsonObject } from './rule.ts'
import { afterColon, columnOf, insertLines, newlineOf, nextLine, pairOf, type Splice, spanOf } from './splice.ts'
import { readYaml } from './yaml-tree.ts'

/** Edits of one document in place: comments, order and spelling of everything else stay as they were, byte for byte. */
export type EditResult = { ok: true; text: string } | { ok: false; reason: EditRefusal; message: string }
export type EditRefusal = 'unreadable' | 'no_such_rule' | 'no_such_entry' | 'organisation_rule' | 'not_editable'

/** The document; undefined for what is no YAML that we take. */
export function open(text: string): Document.Parsed | undefined {
  const findings = new Findings()
  const { doc } = readYaml(text, findings)
  return findings.errors.length > 0 ? undefined : doc
}

/** Its map of sections. */
export function rootOf(doc: Document.Parsed): YAMLMap | undefined {
  const root = doc.contents
  return isMap(root) ? (root as YAMLMap) : undefined
}

/** Why an edit was not made. */
export function refuse(reason: EditRefusal, message: string): Extract<EditResult, { ok: false }> {
  return { ok: false, reason, message }
}

export const UNREADABLE = 'the document is not valid YAML; correct it by hand first'

/** Adds entries at the end of a top-level list, making the list or the section where there is none. */
export function appendItems(text: string, section: string, items: readonly JsonObject[]): EditResult {
  const doc = open(text)
  if (doc === undefined) return refuse('unreadable', UNREADABLE)
  const root = rootOf(doc)
  const pair = root === undefined ? undefined : pairOf(root, section)
  const node = pair?.value
  let splice: Splice
  if (pair === undefined) {
    if (root?.flow) return refuse('not_editable', 'the document is written on one line; spread it over lines first')
    splice = insertLines(text, text.length, [`${section}:`, ...items.flatMap(item => itemLines(item, '  '))])
  } else if (isSeq(node) && node.items.length > 0) {
    const last = node.items.at(-1) as ParsedNode
    const end = last.range[0] + text.slice(...spanOf(last)).trimEnd().length
    if (node.flow) splice = { start: end, end, text: items.map(item => `, ${flowText(item)}`).join('') }
    else {
      const first = node.items[0] as ParsedNode
      const dash = text.lastIndexOf('-', first.range[0])
      const indent = ' '.repeat(columnOf(text, dash))
      splice = insertLines(
        text,
        nextLine(text, end),
        items.flatMap(item => itemLines(item, indent)),
      )
    }
  } else if (isSeq(node) || node == null || (isScalar(node) && node.value === null)) {
    const nl = newlineOf(text)
    const start = afterColon(text, pair)
    const end = isSeq(node) ? node.range![1] : start
    splice = { start, end, text: `${nl}${items.flatMap(item => itemLines(item, '  ')).join(nl)}` }
    // What follows on the line (a comment) would otherwise join the last entry's line.
    if (!/^[ \t]*(?:\r?\n|$)/.test(text.slice(end))) {
      const at = nextLine(text, end)
      const head = isSeq(node) ? text.slice(0, start) + text.slice(end, at) : text.slice(0, at)
      const tail = insertLines(
        head,
        head.length,
        items.flatMap(item => itemLines(item, '  ')),
      )
      splice = { start: 0, end: at, text: head + tail.text }
    }
  } else {
    return refuse('not_editable', `${section} is not a list; correct it by hand first`)
  }
  return apply(text, splice, before => ({ ...before, [section]: [...listIn(before, section), ...items] }))
}

/** What a document says, as plain values. */
export type Content = Record<string, unknown>

/** Applies a splice and keeps it only if the document then says exactly what it should: nothing else may move. */
export function apply(text: string, splice: Splice, change: (before: Content) => Content): EditResult {
  const edited = text.slice(0, splice.start) + splice.text + text.slice(splice.end)
  const before = contentOf(text)
  const after = contentOf(edited)
  if (before === undefined || after === undefined || !sameJson(stringify(change(before)), stringify(after))) {
    return refuse('not_editable', 'the document is written in a way that cannot be edited safely; change it by hand')
  }
  return { ok: true, text: edited }
}

function contentOf(text: string): Content | undefined {
  const doc = open(text)
  if (doc === undefined) return undefined
  try {
    return (doc.toJS({ maxAliasCount: 50 }) as Content | null) ?? {}
  } catch {
    return undefined
  }
}

/** A section as a list, wrong or not. */
export function listIn(content: Content, section: string): Content[] {
  const list = content[section]
  return Array.isArray(list) ? (list as Content[]) : []
}

/** The same without one key. */
export function omit<T extends object>(object: T, key: string): T {
  return Object.fromEntries(Object.entries(object).filter(([k]) => k !== key)) as T
}

/** Numbers as text, so that an amount written plainly equals the same amount as a decimal string. */
function stringify(value: unknown): unknown {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(stringify)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, stringify(item)]))
}

/** Equality of JSON values; the order of a map's keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && sameJson((a as Content)[key], (b as Content)[key]))
}
