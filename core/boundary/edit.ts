import { type Document, isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml'
import { FIGURES, isFigureName } from '#core/figure.ts'
import { caseToJson } from './cases.ts'
import { flowText, itemLines } from './flow-text.ts'
import { Findings } from './problem.ts'
import { RULE_KEYS, type RuleKey, readRule } from './read-rule.ts'
import { type Json, type JsonObject, ruleToJson } from './rule.ts'
import type { BoundaryCase, Rule, Scope, Stage } from './shape.ts'
import {
  addPair,
  afterColon,
  columnOf,
  emptyList,
  insertLines,
  newlineOf,
  nextLine,
  pairOf,
  removeBlockItem,
  removeFlowItem,
  removePair,
  replaceValue,
  type Splice,
  spanOf,
} from './splice.ts'
import { readYaml, treeFromYaml } from './yaml-tree.ts'

/** Edits of one document in place: comments, order and spelling of everything else stay as they were, byte for byte. */
export type EditResult = { ok: true; text: string } | { ok: false; reason: EditRefusal; message: string }
export type EditRefusal = 'unreadable' | 'no_such_rule' | 'organisation_rule' | 'not_editable'

/** Where a rule stands: lines from 1, its own comments not counted. */
export interface RuleOutline {
  name: string
  startLine: number
  endLine: number
  /** The line of each of its keys, for marks beside the text. */
  keyLines: Readonly<Record<string, number>>
}

/** The rules of a document with their lines, wrong ones too; empty when it is no YAML at all. */
export function ruleOutline(text: string): RuleOutline[] {
  const { doc, lines } = readYaml(text, new Findings())
  if (doc === undefined) return []
  return rulesOf(doc).map(({ name, map }) => {
    const end = Math.max(map.range![0], map.range![0] + text.slice(...spanOf(map)).trimEnd().length - 1)
    const keyLines: Record<string, number> = {}
    for (const pair of map.items as Pair<ParsedNode, ParsedNode | null>[]) {
      if (isScalar(pair.key)) keyLines[String(pair.key.value)] = lines.linePos(pair.key.range[0]).line
    }
    return { name, startLine: lines.linePos(map.range![0]).line, endLine: lines.linePos(end).line, keyLines }
  })
}

/** Promotes or demotes a rule: writes its `stage`. Refuses the organisation's rules, whose stage is not set here. */
export function setStage(text: string, name: string, stage: Stage): EditResult {
  if (name.startsWith('org:')) {
    return refuse('organisation_rule', `${name} is the organisation's: its stage is set in the web app`)
  }
  return setField(text, name, 'stage', stage)
}

/** Sets one key of a rule, or removes it when `value` is undefined. */
export function setField(text: string, name: string, key: RuleKey, value: Json | undefined): EditResult {
  const found = findRule(text, name)
  if ('reason' in found) return found
  const { map, index } = found
  const pair = pairOf(map, key)
  if (value === undefined) {
    if (pair === undefined) return { ok: true, text }
    return apply(text, removePair(text, map, pair), before => withoutKey(before, index, key))
  }
  const current = pair?.value as ParsedNode | null | undefined
  if (isScalar(current) && current.value === value) return { ok: true, text }
  const splice = pair === undefined ? addPair(text, map, key, value) : replaceValue(text, pair, value)
  return apply(text, splice, before => withKey(before, index, key, value))
}

/**
 * Writes a whole rule: changes only the keys that differ of the one that stands there under `previousName` (or its own
 * name), or adds it at the end of the list.
 */
export function upsertRule(
  text: string,
  rule: Rule,
  options: { scope?: Scope; previousName?: string } = {},
): EditResult {
  const wanted = ruleToJson(rule)
  let name = options.previousName ?? rule.name
  const found = findRule(text, name)
  if ('reason' in found) {
    if (found.reason !== 'no_such_rule') return found
    const whole = wanted.stage === 'shadow' ? omit(wanted, 'stage') : wanted
    const fresh = Object.fromEntries(Object.entries(whole).map(([k, v]) => [k, asWritten(k, v)!]))
    return appendItems(text, 'boundaries', [fresh])
  }
  const current = currentRule(found.map, options.scope ?? 'organisation')
  let result: EditResult = { ok: true, text }
  for (const key of RULE_KEYS) {
    if (sameJson(current[key], wanted[key])) continue
    result = setField(result.text, name, key, asWritten(key, wanted[key]))
    if (!result.ok) return result
    if (key === 'name') name = rule.name
  }
  return result
}

/** Removes a rule with the comment lines directly above it (those above the first rule stay: they speak of the list). */
export function removeRule(text: string, name: string): EditResult {
  const found = findRule(text, name)
  if ('reason' in found) return found
  const { seq, index } = found
  const only = seq.items.length === 1
  const splice = only ? emptyList(text, seq) : seq.flow ? removeFlowItem(seq, index) : removeBlockItem(text, seq, index)
  return apply(text, splice, before => ({ ...before, boundaries: listOf(before).filter((_, i) => i !== index) }))
}

/** Adds cases at the end of `tests:`, which is made when it is not there. */
export function addCases(text: string, cases: readonly BoundaryCase[]): EditResult {
  return cases.length === 0 ? { ok: true, text } : appendItems(text, 'tests', cases.map(caseAsWritten))
}

/** Amounts are written as plain numbers. Exact: at most nine digits before the point and six after it. */
function asWritten(key: string, value: Json | undefined): Json | undefined {
  return key === 'step' && typeof value === 'string' ? Number(value) : value
}

function caseAsWritten(item: BoundaryCase): JsonObject {
  const json = caseToJson(item)
  const figures = Object.entries(json.figures as JsonObject).map(([key, value]) => {
    const amount = isFigureName(key) && (FIGURES[key].unit === 'usd' || FIGURES[key].unit === 'pct')
    return [key, amount ? Number(value) : value] as const
  })
  return { ...json, figures: Object.fromEntries(figures) }
}

// --- finding ---------------------------------------------------------------------------------------------------------

type Found = { seq: YAMLSeq; index: number; map: YAMLMap }

function open(text: string): Document.Parsed | undefined {
  const findings = new Findings()
  const { doc } = readYaml(text, findings)
  return findings.errors.length > 0 ? undefined : doc
}

function rootOf(doc: Document.Parsed): YAMLMap | undefined {
  const root = doc.contents
  return isMap(root) ? (root as YAMLMap) : undefined
}

function rulesOf(doc: Document.Parsed): ({ name: string } & Found)[] {
  const root = rootOf(doc)
  const seq = root === undefined ? undefined : pairOf(root, 'boundaries')?.value
  if (!isSeq(seq)) return []
  return seq.items.flatMap((item, index) => {
    if (!isMap(item)) return []
    const name = pairOf(item, 'name')?.value
    if (!isScalar(name) || name.value === null) return []
    const text = typeof name.value === 'string' ? name.value : (name.source ?? String(name.value))
    return [{ name: text, seq, index, map: item }]
  })
}

function findRule(text: string, name: string): Found | Extract<EditResult, { ok: false }> {
  const doc = open(text)
  if (doc === undefined) return refuse('unreadable', 'the document is not valid YAML; correct it by hand first')
  return rulesOf(doc).find(rule => rule.name === name) ?? refuse('no_such_rule', `no boundary is called ${name}`)
}

function currentRule(map: YAMLMap, scope: Scope): JsonObject {
  const tree = treeFromYaml(map as ParsedNode, { start: 0, end: 0 }, new Findings())
  const rule = tree === undefined ? undefined : readRule(tree, { scope }, new Findings())
  return rule === undefined ? (map.toJSON() as JsonObject) : ruleToJson(rule)
}

function refuse(reason: EditRefusal, message: string): Extract<EditResult, { ok: false }> {
  return { ok: false, reason, message }
}

/** Adds entries at the end of a top-level list, making the list or the section where there is none. */
function appendItems(text: string, section: 'boundaries' | 'tests', items: readonly JsonObject[]): EditResult {
  const doc = open(text)
  if (doc === undefined) return refuse('unreadable', 'the document is not valid YAML; correct it by hand first')
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

// --- proof -----------------------------------------------------------------------------------------------------------

type Content = Record<string, unknown>

/** Applies a splice and keeps it only if the document then says exactly what it should: nothing else may move. */
function apply(text: string, splice: Splice, change: (before: Content) => Content): EditResult {
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

function listIn(content: Content, section: string): Content[] {
  const list = content[section]
  return Array.isArray(list) ? (list as Content[]) : []
}

function listOf(content: Content): Content[] {
  return listIn(content, 'boundaries')
}

function withKey(before: Content, index: number, key: string, value: Json): Content {
  return { ...before, boundaries: listOf(before).map((rule, i) => (i === index ? { ...rule, [key]: value } : rule)) }
}

function withoutKey(before: Content, index: number, key: string): Content {
  return { ...before, boundaries: listOf(before).map((rule, i) => (i === index ? omit(rule, key) : rule)) }
}

function omit<T extends object>(object: T, key: string): T {
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
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && sameJson((a as Content)[key], (b as Content)[key]))
}
