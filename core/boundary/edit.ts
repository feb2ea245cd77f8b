import { isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml'
import { caseToJson } from './cases.ts'
import { flowText, itemLines } from './flow-text.ts'
import { Findings } from './problem.ts'
import { RULE_KEYS, type RuleKey, readRule } from './read-rule.ts'
import { type BoundaryCase, type Json, type JsonObject, type Rule, ruleToJson, type Scope, type Stage } from './rule.ts'
import { readYaml, treeFromYaml, type YamlText } from './yaml-tree.ts'

/** Edits of one document in place: comments, order and spelling of everything else stay as they were, byte for byte. */
export type EditResult = { ok: true; text: string } | { ok: false; reason: EditRefusal; message: string }
export type EditRefusal = 'unreadable' | 'no_such_rule' | 'organisation_rule' | 'not_editable'

interface Splice {
  start: number
  end: number
  text: string
}

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
  const yaml = readYaml(text, new Findings())
  if (yaml === undefined) return []
  const { lines } = yaml
  return rulesOf(yaml).map(({ name, map }) => {
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
  const { map } = found
  const pair = pairOf(map, key)
  if (value === undefined) {
    if (pair === undefined) return { ok: true, text }
    return apply(text, removePair(text, map, pair), before => withoutKey(before, name, key))
  }
  const current = pair?.value as ParsedNode | null | undefined
  if (isScalar(current) && current.value === value) return { ok: true, text }
  const splice = pair === undefined ? addPair(text, map, key, value) : replaceValue(text, pair, value)
  return apply(text, splice, before => withKey(before, name, key, value))
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
    const fresh = wanted.stage === 'shadow' ? omit(wanted, 'stage') : wanted
    return appendItems(text, 'boundaries', [fresh])
  }
  const current = currentRule(found.map, options.scope ?? 'organisation')
  let result: EditResult = { ok: true, text }
  for (const key of RULE_KEYS) {
    if (sameJson(current[key], wanted[key])) continue
    result = setField(result.text, name, key, wanted[key])
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
  return apply(text, splice, before => ({ ...before, boundaries: listOf(before).filter(rule => rule.name !== name) }))
}

/** Adds cases at the end of `tests:`, which is made when it is not there. */
export function addCases(text: string, cases: readonly BoundaryCase[]): EditResult {
  return cases.length === 0 ? { ok: true, text } : appendItems(text, 'tests', cases.map(caseToJson))
}

// --- finding ---------------------------------------------------------------------------------------------------------

type Found = { seq: YAMLSeq; index: number; map: YAMLMap }

function open(text: string): YamlText | undefined {
  const findings = new Findings()
  const yaml = readYaml(text, findings)
  return findings.errors.length > 0 ? undefined : yaml
}

function rootOf(yaml: YamlText): YAMLMap | undefined {
  const root = yaml.doc.contents
  return isMap(root) ? (root as YAMLMap) : undefined
}

function rulesOf(yaml: YamlText): ({ name: string } & Found)[] {
  const root = rootOf(yaml)
  const seq = root === undefined ? undefined : pairOf(root, 'boundaries')?.value
  if (!isSeq(seq)) return []
  return seq.items.flatMap((item, index) => {
    if (!isMap(item)) return []
    const name = pairOf(item, 'name')?.value
    return isScalar(name) && name.value !== null ? [{ name: String(name.value), seq, index, map: item }] : []
  })
}

function findRule(text: string, name: string): Found | Extract<EditResult, { ok: false }> {
  const yaml = open(text)
  if (yaml === undefined) return refuse('unreadable', 'the document is not valid YAML; correct it by hand first')
  return rulesOf(yaml).find(rule => rule.name === name) ?? refuse('no_such_rule', `no boundary is called ${name}`)
}

function pairOf(map: YAMLMap, key: string): Pair<ParsedNode, ParsedNode | null> | undefined {
  const pairs = map.items as Pair<ParsedNode, ParsedNode | null>[]
  return pairs.find(pair => isScalar(pair.key) && pair.key.value === key)
}

function currentRule(map: YAMLMap, scope: Scope): JsonObject {
  const tree = treeFromYaml(map as ParsedNode, { start: 0, end: 0 }, new Findings())
  const rule = tree === undefined ? undefined : readRule(tree, { scope }, new Findings())
  return rule === undefined ? (map.toJSON() as JsonObject) : ruleToJson(rule)
}

function refuse(reason: EditRefusal, message: string): Extract<EditResult, { ok: false }> {
  return { ok: false, reason, message }
}

function spanOf(node: { range?: [number, number, number] | null }): [number, number] {
  return [node.range![0], node.range![1]]
}

// --- splices ---------------------------------------------------------------------------------------------------------

function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** The start of the line after the one in which the content before `offset` ends. */
function nextLine(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset
  const at = text.indexOf('\n', offset)
  return at < 0 ? text.length : at + 1
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

function columnOf(text: string, offset: number): number {
  const start = lineStart(text, offset)
  return offset - (start === 0 && text[0] === '\ufeff' ? 1 : start)
}

function endOf(pair: Pair<ParsedNode, ParsedNode | null>): number {
  return pair.value?.range[1] ?? pair.key.range[1]
}

/** Just after the colon of a pair. */
function afterColon(text: string, pair: Pair<ParsedNode, ParsedNode | null>): number {
  return text.indexOf(':', pair.key.range[1]) + 1
}

/** Lines to insert at a line's start; the last line may lack its newline. */
function insertLines(text: string, at: number, lines: readonly string[]): Splice {
  const nl = newlineOf(text)
  const open = at > 0 && text[at - 1] !== '\n'
  return { start: at, end: at, text: `${open ? nl : ''}${lines.join(nl)}${open ? '' : nl}` }
}

function replaceValue(text: string, pair: Pair<ParsedNode, ParsedNode | null>, value: Json): Splice {
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

/** A new key goes after the nearest key that stands before it in the fixed order. */
function addPair(text: string, map: YAMLMap, key: RuleKey, value: Json): Splice {
  const pairs = map.items as Pair<ParsedNode, ParsedNode | null>[]
  const before = RULE_KEYS.slice(0, RULE_KEYS.indexOf(key))
  const anchor =
    pairs.findLast(pair => isScalar(pair.key) && before.includes(pair.key.value as RuleKey)) ?? pairs.at(-1)!
  if (map.flow) return { start: endOf(anchor), end: endOf(anchor), text: `, ${key}: ${flowText(value)}` }
  const indent = ' '.repeat(columnOf(text, pairs[0]!.key.range[0]))
  return insertLines(text, nextLine(text, endOf(anchor)), [`${indent}${key}: ${flowText(value)}`])
}

function removePair(text: string, map: YAMLMap, pair: Pair<ParsedNode, ParsedNode | null>): Splice {
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

function emptyList(text: string, seq: YAMLSeq): Splice {
  const [start, end] = spanOf(seq)
  if (seq.flow) return { start, end, text: '[]' }
  const kept = start + text.slice(start, end).trimEnd().length
  const dash = text.lastIndexOf(':', start)
  // Comments between the key and its list stay, below the empty list.
  const between = text.slice(dash + 1, lineStart(text, start))
  return { start: dash + 1, end: kept, text: ` []${between.trimEnd()}` }
}

function removeFlowItem(seq: YAMLSeq, index: number): Splice {
  const [start, end] = spanOf(seq.items[index] as ParsedNode)
  const before = seq.items[index - 1] as ParsedNode | undefined
  if (before !== undefined) return { start: before.range[1], end, text: '' }
  return { start, end: (seq.items[index + 1] as ParsedNode).range[0], text: '' }
}

function removeBlockItem(text: string, seq: YAMLSeq, index: number): Splice {
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

/** Adds entries at the end of a top-level list, making the list or the section where there is none. */
function appendItems(text: string, section: 'boundaries' | 'tests', items: readonly JsonObject[]): EditResult {
  const yaml = open(text)
  if (yaml === undefined) return refuse('unreadable', 'the document is not valid YAML; correct it by hand first')
  const root = rootOf(yaml)
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
  const yaml = open(text)
  if (yaml === undefined) return undefined
  try {
    return (yaml.doc.toJS({ maxAliasCount: 50 }) as Content | null) ?? {}
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

function withKey(before: Content, name: string, key: string, value: Json): Content {
  return { ...before, boundaries: listOf(before).map(rule => (rule.name === name ? { ...rule, [key]: value } : rule)) }
}

function withoutKey(before: Content, name: string, key: string): Content {
  return { ...before, boundaries: listOf(before).map(rule => (rule.name === name ? omit(rule, key) : rule)) }
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
