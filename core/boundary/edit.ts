import { type Document, isMap, isScalar, isSeq, type Pair, type ParsedNode, type YAMLMap } from 'yaml'
import { FIGURES, isFigureName } from '#core/figure.ts'
import { caseToJson } from './cases.ts'
import { appendItems, type EditResult, omit, refuse, rootOf } from './document-edit.ts'
import {
  byName,
  type FoundEntry,
  findEntry,
  nameOf,
  type Refused,
  removeEntry,
  setKey,
  setKeys,
  written,
} from './entry-edit.ts'
import { Findings } from './problem.ts'
import { RULE_KEYS, type RuleKey, readRule } from './read-rule.ts'
import { type Json, type JsonObject, ruleToJson } from './rule.ts'
import type { BoundaryCase, Rule, Scope, Stage } from './shape.ts'
import { pairOf, spanOf } from './splice.ts'
import { readYaml } from './yaml-tree.ts'

const SECTION = 'boundaries'

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
  return 'reason' in found ? found : setKey(text, SECTION, found, key, value, RULE_KEYS)
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
  const wanted = asWritten(ruleToJson(rule))
  const found = findRule(text, options.previousName ?? rule.name)
  if ('reason' in found) {
    if (found.reason !== 'no_such_rule') return found
    return appendItems(text, SECTION, [wanted.stage === 'shadow' ? omit(wanted, 'stage') : wanted])
  }
  const current = written(found.map, tree => {
    const read = readRule(tree, { scope: options.scope ?? 'organisation' }, new Findings())
    return read === undefined ? undefined : ruleToJson(read)
  })
  // a key that is none of ours is not ours to remove
  const known = RULE_KEYS.flatMap(key => (current[key] === undefined ? [] : [[key, current[key]] as const]))
  return setKeys(text, SECTION, found.index, asWritten(Object.fromEntries(known)), wanted, RULE_KEYS)
}

/** Removes a rule with the comment lines directly above it (those above the first rule stay: they speak of the list). */
export function removeRule(text: string, name: string): EditResult {
  const found = findRule(text, name)
  return 'reason' in found ? found : removeEntry(text, SECTION, found)
}

/** Adds cases at the end of `tests:`, which is made when it is not there. */
export function addCases(text: string, cases: readonly BoundaryCase[]): EditResult {
  return cases.length === 0 ? { ok: true, text } : appendItems(text, 'tests', cases.map(caseAsWritten))
}

/** Amounts are written as plain numbers. Exact: at most nine digits before the point and six after it. */
const asWritten = (rule: JsonObject): JsonObject =>
  typeof rule.step === 'string' ? { ...rule, step: Number(rule.step) } : rule

function caseAsWritten(item: BoundaryCase): JsonObject {
  const json = caseToJson(item)
  const figures = Object.entries(json.figures as JsonObject).map(([key, value]) => {
    const amount = isFigureName(key) && (FIGURES[key].unit === 'usd' || FIGURES[key].unit === 'pct')
    return [key, amount ? Number(value) : value] as const
  })
  return { ...json, figures: Object.fromEntries(figures) }
}

function rulesOf(doc: Document.Parsed): { name: string; map: YAMLMap }[] {
  const root = rootOf(doc)
  const seq = root === undefined ? undefined : pairOf(root, SECTION)?.value
  if (!isSeq(seq)) return []
  return seq.items.flatMap(item => {
    const name = isMap(item) ? nameOf(item as YAMLMap) : undefined
    return name === undefined ? [] : [{ name, map: item as YAMLMap }]
  })
}

function findRule(text: string, name: string): FoundEntry | Refused {
  const found = findEntry(text, SECTION, byName(name))
  return 'reason' in found && found.reason === 'no_such_entry'
    ? refuse('no_such_rule', `no boundary is called ${name}`)
    : found
}
