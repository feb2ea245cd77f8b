import { type Document, isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml'
import { FIGURES, isFigureName } from '#core/figure.ts'
import { caseToJson } from './cases.ts'
import {
  appendItems,
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
import { RULE_KEYS, type RuleKey, readRule } from './read-rule.ts'
import { type Json, type JsonObject, ruleToJson } from './rule.ts'
import type { BoundaryCase, Rule, Scope, Stage } from './shape.ts'
import {
  addPair,
  emptyList,
  pairOf,
  removeBlockItem,
  removeFlowItem,
  removePair,
  replaceValue,
  spanOf,
} from './splice.ts'
import { readYaml, treeFromYaml } from './yaml-tree.ts'

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
  const splice = pair === undefined ? addPair(text, map, key, value, RULE_KEYS) : replaceValue(text, pair, value)
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
  if (doc === undefined) return refuse('unreadable', UNREADABLE)
  return rulesOf(doc).find(rule => rule.name === name) ?? refuse('no_such_rule', `no boundary is called ${name}`)
}

function currentRule(map: YAMLMap, scope: Scope): JsonObject {
  const tree = treeFromYaml(map as ParsedNode, { start: 0, end: 0 }, new Findings())
  const rule = tree === undefined ? undefined : readRule(tree, { scope }, new Findings())
  return rule === undefined ? (map.toJSON() as JsonObject) : ruleToJson(rule)
}

// --- proof -----------------------------------------------------------------------------------------------------------

function listOf(content: Content): Content[] {
  return listIn(content, 'boundaries')
}

function withKey(before: Content, index: number, key: string, value: Json): Content {
  return { ...before, boundaries: listOf(before).map((rule, i) => (i === index ? { ...rule, [key]: value } : rule)) }
}

function withoutKey(before: Content, index: number, key: string): Content {
  return { ...before, boundaries: listOf(before).map((rule, i) => (i === index ? omit(rule, key) : rule)) }
}
