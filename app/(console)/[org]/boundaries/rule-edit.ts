import type { EditResult } from '#core/boundary/document-edit.ts'
import { setField } from '#core/boundary/edit.ts'
import type { RuleKey } from '#core/boundary/read-rule.ts'
import type { Json } from '#core/boundary/rule.ts'
import { conditionsFor, isAction } from '#core/boundary/shape.ts'
import { isFigureName } from '#core/figure.ts'
import { type WrittenRule, whenOf } from './draft-rules.ts'
import { startingValue } from './rule-words.ts'

/** Several keys of one rule at once; undefined removes a key. Nothing is changed when one of them cannot be. */
function setFields(text: string, name: string, fields: readonly (readonly [RuleKey, Json | undefined])[]): EditResult {
  let result: EditResult = { ok: true, text }
  for (const [key, value] of fields) {
    result = setField(result.text, name, key, value)
    if (!result.ok) return result
  }
  return result
}

/** Another action: conditions that it cannot be judged by go, and one that it can be stays or comes. */
export function setAction(text: string, rule: WrittenRule, action: string): EditResult {
  const fields: [RuleKey, Json | undefined][] = [['action', action]]
  if (isAction(action)) {
    const known = conditionsFor(action)
    const kept = rule.when.filter(condition => isFigureName(condition.figure) && known.includes(condition.figure))
    const when = kept.length > 0 ? kept : [{ figure: known[0]!, ...startingValue(known[0]!) }]
    if (when.length !== rule.when.length || kept.length === 0) fields.push(['when', whenOf(when, rule.qualifiers)])
    if (!when.some(each => GROWING.includes(each.figure))) fields.push(['step', undefined])
  }
  return setFields(text, rule.name, fields)
}
const GROWING = ['session_cost_usd', 'budget_used_pct']

/** Another requirement: keys that only an asking or an approving rule can have go with it. */
export function setRequire(text: string, name: string, require: string): EditResult {
  const fields: [RuleKey, Json | undefined][] = [['require', require]]
  if (!require.startsWith('approver:')) {
    for (const key of ['approvals', 'signed', 'self', 'fallback'] as const) fields.push([key, undefined])
    if (require !== 'ask') for (const key of ['expires', 'step'] as const) fields.push([key, undefined])
  }
  return setFields(text, name, fields)
}

/** Shadow is the default and is not written out. */
export function setRuleStage(text: string, name: string, stage: string): EditResult {
  return setField(text, name, 'stage', stage === 'shadow' ? undefined : stage)
}

/** `for:` from three lists of names. */
export function setAppliesTo(text: string, name: string, lists: WrittenRule['for']): EditResult {
  const entries = Object.entries(lists).filter(([, names]) => names.length > 0)
  return setField(text, name, 'for', entries.length === 0 ? undefined : Object.fromEntries(entries))
}

/** Names out of a line with commas or spaces. */
export const namesIn = (line: string): string[] => line.split(/[\s,]+/).filter(Boolean)
