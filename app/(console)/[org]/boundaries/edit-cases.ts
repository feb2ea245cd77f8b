import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml'
import type { EditResult } from '#core/boundary/document-edit.ts'
import { removeRule, setField } from '#core/boundary/edit.ts'
import { flowText } from '#core/boundary/flow-text.ts'
import { Findings } from '#core/boundary/problem.ts'
import { emptyList, pairOf, removeBlockItem, removeFlowItem, replaceValue } from '#core/boundary/splice.ts'
import { readYaml } from '#core/boundary/yaml-tree.ts'

/** Renames a rule, and the cases that name it with it. Comments, order and everything else stay. */
export function renameRule(text: string, from: string, to: string): EditResult {
  const renamed = setField(text, from, 'name', to)
  if (!renamed.ok) return renamed
  // From the end, so that the places before stay true.
  let next = renamed.text
  for (const { map } of casesIn(next).reverse()) {
    const rule = pairOf(map, 'rule')?.value
    if (!isScalar(rule) || rule.value !== from || !rule.range) continue
    next = next.slice(0, rule.range[0]) + flowText(to) + next.slice(rule.range[1])
  }
  return { ok: true, text: next }
}

/** Removes a rule with the cases that name it, which could not be read without it. */
export function removeRuleAndCases(text: string, name: string): EditResult {
  let next = text
  const own = casesIn(text)
    .filter(({ map }) => nameIn(map, 'rule') === name)
    .map(({ index }) => index)
  for (const index of own.reverse()) next = removeCaseAt(next, index)
  return removeRule(next, name)
}

/** Removes one case by its place in `tests:`. */
export function removeCaseAt(text: string, index: number): string {
  const found = casesIn(text)[index]
  if (found === undefined) return text
  const { seq } = found
  const splice =
    seq.items.length === 1
      ? emptyList(text, seq)
      : seq.flow
        ? removeFlowItem(seq, index)
        : removeBlockItem(text, seq, index)
  return text.slice(0, splice.start) + splice.text + text.slice(splice.end)
}

/** Makes one case expect what the rules now say. */
export function setCaseExpect(text: string, index: number, expect: string): string {
  const map = casesIn(text)[index]?.map
  const pair = map && pairOf(map, 'expect')
  if (pair === undefined) return text
  const { start, end, text: value } = replaceValue(text, pair, expect)
  return text.slice(0, start) + value + text.slice(end)
}

function casesIn(text: string): { seq: YAMLSeq; map: YAMLMap; index: number }[] {
  const findings = new Findings()
  const { doc } = readYaml(text, findings)
  if (doc === undefined || findings.errors.length > 0 || !isMap(doc.contents)) return []
  const seq = pairOf(doc.contents as YAMLMap, 'tests')?.value
  if (!isSeq(seq)) return []
  return (seq.items as ParsedNode[]).flatMap((item, index) =>
    isMap(item) ? [{ seq: seq as YAMLSeq, map: item as YAMLMap, index }] : [],
  )
}

function nameIn(map: YAMLMap, key: string): string | undefined {
  const value = pairOf(map, key)?.value
  return isScalar(value) ? String(value.value) : undefined
}
