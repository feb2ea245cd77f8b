import { formatDuration } from '#core/duration.ts'
import { FIGURES } from '#core/figure.ts'
import { formatMicros } from '#core/money.ts'
import { type Finding, Findings } from './problem.ts'
import { type RuleContext, readRule } from './read-rule.ts'
import { type Condition, type Rule, requirementText } from './shape.ts'
import { treeFromJson } from './tree.ts'

/** What stands in the signed rule set: strings, integers, booleans, lists and maps; no nulls, no fractions. */
export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** `>= 20`, `< 5`, `== claude-code:*`: a condition's comparison in its one spelling. */
function comparisonText(condition: Condition): string {
  const { op, value } = condition
  return `${op} ${typeof value === 'number' ? formatMicros(value) : value}`
}

/** `when:` as a map of comparisons with `window` and `budget` beside them. */
function whenToJson(when: readonly Condition[]): JsonObject {
  const json: Record<string, Json> = {}
  for (const condition of when) {
    json[condition.figure] = comparisonText(condition)
    const key = FIGURES[condition.figure].qualifier
    if (key !== undefined && condition.qualifier !== undefined) json[key] = condition.qualifier
  }
  return json
}

/**
 * A rule as a JSON object with the document's own keys. Two rules that mean the same give the same object: absent
 * keys with their default are left out, `stage` always stands, numbers with places are strings in shortest form.
 */
export function ruleToJson(rule: Rule): JsonObject {
  const json: Record<string, Json> = {
    name: rule.name,
    action: rule.action,
    when: whenToJson(rule.when),
    require: requirementText(rule.require),
    stage: rule.stage,
  }
  if (rule.note !== undefined) json.note = rule.note
  if (rule.approvals !== undefined) json.approvals = rule.approvals
  if (rule.expires !== undefined) json.expires = formatDuration(rule.expires)
  if (rule.step !== undefined) json.step = formatMicros(rule.step)
  if (rule.for !== undefined) json.for = forToJson(rule.for)
  if (rule.onUnknown !== 'pass') json.on_unknown = rule.onUnknown
  if (rule.signed) json.signed = true
  if (rule.self !== undefined) json.self = rule.self
  if (rule.fallback !== undefined) json.fallback = fallbackToJson(rule.fallback)
  return json
}

function forToJson(appliesTo: NonNullable<Rule['for']>): JsonObject {
  const json: Record<string, Json> = {}
  if (appliesTo.tenants) json.tenants = appliesTo.tenants
  if (appliesTo.projects) json.projects = appliesTo.projects
  if (appliesTo.machines) json.machines = appliesTo.machines
  return json
}

function fallbackToJson(fallback: NonNullable<Rule['fallback']>): JsonObject {
  const json = { role: fallback.role, after: formatDuration(fallback.afterSeconds) }
  return fallback.loosens ? { ...json, loosens: true } : json
}

export type RuleReading = { ok: true; rule: Rule } | { ok: false; findings: readonly Finding[] }

/** The inverse of ruleToJson, for one object of a signed set. As strict as the parser; a finding has no place. */
export function ruleFromJson(value: unknown, context: RuleContext = { scope: 'organisation' }): RuleReading {
  const findings = new Findings()
  const tree = treeFromJson(value)
  const rule = tree === undefined ? undefined : readRule(tree, context, findings)
  if (rule !== undefined) return { ok: true, rule }
  if (tree === undefined) findings.error({ start: -1, end: -1 }, 'wrong_kind', 'this is not JSON', 'send an object')
  return { ok: false, findings: findings.errors }
}

/**
 * What a request's rule digest covers: name, action, when, require, approvals, signed, self, fallback and
 * on_unknown, with defaults written out, so that a change of any of them makes an old answer fit no longer. The stage,
 * the note, `expires`, `step` and `for` are not in it: they change nothing about what the answer lets through.
 */
export function ruleDigestInput(rule: Rule): JsonObject {
  return {
    name: rule.name,
    action: rule.action,
    when: whenToJson(rule.when),
    require: requirementText(rule.require),
    approvals: rule.approvals ?? 1,
    signed: rule.signed ?? false,
    on_unknown: rule.onUnknown,
    ...(rule.self === undefined ? {} : { self: rule.self }),
    ...(rule.fallback === undefined ? {} : { fallback: fallbackToJson(rule.fallback) }),
  }
}
