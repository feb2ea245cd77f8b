import { clip } from '#core/plain-text.ts'
import { type LadderRole, ROLES } from '#core/role.ts'
import { type Findings, nearest, oneOf, type Place } from './problem.ts'
import { readWhen } from './read-condition.ts'
import { readAppliesTo, readApprovals, readDuration, readFallback, readNote, readStep } from './read-extras.ts'
import {
  ACTIONS,
  type Action,
  isAction,
  ON_UNKNOWN,
  type Requirement,
  type Rule,
  type Scope,
  SELF_ANSWERS,
  STAGES,
  type Stage,
} from './shape.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from './tree.ts'

/** The keys of a rule, in the order a document gives them. */
export const RULE_KEYS = [
  'name',
  'action',
  'when',
  'require',
  'stage',
  'note',
  'approvals',
  'expires',
  'step',
  'for',
  'on_unknown',
  'signed',
  'self',
  'fallback',
] as const
export type RuleKey = (typeof RULE_KEYS)[number]

export interface RuleContext {
  scope: Scope
  /** The roles an approver may be named by; the whole ladder when absent. */
  roles?: readonly LadderRole[]
  budgets?: readonly string[]
  organisationBudgets?: readonly string[]
}

const NAME_FORM = /^[a-z0-9_-]{1,64}$/
/** An organisation's names travel in requests and commands, where a leading dash would read as an option. */
const ORGANISATION_NAME_FORM = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Reads one rule. Undefined, with findings, when anything in it is wrong: a rule is whole or it is refused. */
export function readRule(tree: Tree, context: RuleContext, findings: Findings): Rule | undefined {
  findings.rule = undefined
  if (tree.kind !== 'map') {
    findings.error(
      tree,
      'wrong_kind',
      `a boundary is a map of keys, not ${describeTree(tree)}`,
      'start it with - name: session-spend',
    )
    return undefined
  }
  const before = findings.errors.length
  const written = entryOf(tree, 'name')?.value
  findings.rule = written?.kind === 'scalar' && written.value !== null ? clip(String(written.value)) : undefined
  const rule = readKeys(tree, context, findings)
  findings.rule = undefined
  return findings.errors.length > before ? undefined : rule
}

function readKeys(map: TreeMap, context: RuleContext, findings: Findings): Rule | undefined {
  refuseUnknownKeys(map, RULE_KEYS, 'a boundary', findings)
  const head: Place = map.entries[0]?.keyAt ?? map
  const required = (key: RuleKey, remedy: string): TreeEntry | undefined => {
    const entry = entryOf(map, key)
    if (entry === undefined) findings.error(head, 'missing', `the boundary has no ${key}`, remedy)
    return entry
  }
  const optional = <T>(key: RuleKey, read: (entry: TreeEntry) => T | undefined): T | undefined => {
    const entry = entryOf(map, key)
    return entry === undefined ? undefined : read(entry)
  }

  const name = readName(
    required('name', 'add name: followed by lower-case letters, digits, - and _'),
    context.scope,
    findings,
  )
  const action = readAction(required('action', `add action: ${oneOf(ACTIONS)}`), findings)
  const whenEntry = required('when', 'add when: with at least one condition')
  const when = whenEntry === undefined ? [] : readWhen(whenEntry.value, { ...context, action }, findings)
  const require = readRequire(
    required('require', 'add require: allow, ask, approver:<role> or deny'),
    context,
    findings,
  )
  const rule: Omit<Rule, 'name' | 'action' | 'require'> = {
    when,
    stage: optional('stage', entry => readStage(entry, findings)) ?? 'shadow',
    onUnknown: optional('on_unknown', entry => readWord(entry, ON_UNKNOWN, findings)) ?? 'pass',
  }
  const note = optional('note', entry => readNote(entry, findings))
  if (note !== undefined) rule.note = note

  const role = require?.kind === 'approver' && context.scope === 'organisation' ? require.role : undefined
  const asked = require?.kind === 'ask' || require?.kind === 'approver'
  const approvals = optional(
    'approvals',
    entry => needsApprover(entry, require, context, findings) && readApprovals(entry, findings),
  )
  if (typeof approvals === 'number' && approvals > 1) rule.approvals = approvals
  const expires = optional(
    'expires',
    entry => needsAnswer(entry, require, asked, findings) && readDuration(entry, findings),
  )
  if (typeof expires === 'number') rule.expires = expires
  const step = optional(
    'step',
    entry => needsAnswer(entry, require, asked, findings) && readStep(entry, when, findings),
  )
  if (typeof step === 'number') rule.step = step
  const appliesTo = optional('for', entry => readAppliesTo(entry, findings))
  if (appliesTo !== undefined) rule.for = appliesTo
  if (
    optional('signed', entry => needsApprover(entry, require, context, findings) && readFlag(entry, findings)) === true
  )
    rule.signed = true
  const self = optional('self', entry =>
    needsApprover(entry, require, context, findings) ? readWord(entry, SELF_ANSWERS, findings) : undefined,
  )
  if (self !== undefined) rule.self = self
  const fallback = optional('fallback', entry =>
    needsApprover(entry, require, context, findings) && role !== undefined
      ? readFallback(entry, role, context.roles ?? ROLES, rule.expires, findings)
      : undefined,
  )
  if (fallback !== undefined) rule.fallback = fallback
  return name === undefined || action === undefined || require === undefined
    ? undefined
    : { name, action, require, ...rule }
}

/** Every key that is not in `known`, refused with the nearest one. */
export function refuseUnknownKeys(map: TreeMap, known: readonly string[], where: string, findings: Findings): void {
  for (const { key, keyAt } of map.entries) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const remedy = near === undefined ? `use ${oneOf(known)}` : `did you mean ${near}?`
    findings.error(keyAt, 'unknown_key', `"${clip(key)}" is not a key of ${where}`, remedy)
  }
}

function readName(entry: TreeEntry | undefined, scope: Scope, findings: Findings): string | undefined {
  if (entry === undefined) return undefined
  const { value } = entry
  const text =
    value.kind !== 'scalar' || value.value === null
      ? undefined
      : typeof value.value === 'string'
        ? value.value
        : value.source
  const form = scope === 'local' ? NAME_FORM : ORGANISATION_NAME_FORM
  if (text !== undefined && form.test(text)) return text
  if (text?.startsWith('org:')) {
    findings.error(
      value,
      'bad_name',
      `${clip(text)}: names that start org: are the organisation's own`,
      'leave org: out; it is added where the rule is shown',
    )
  } else {
    const what = text === undefined ? describeTree(value) : `"${clip(text)}"`
    findings.error(
      value,
      'bad_name',
      `${what} is not a name`,
      'use lower-case letters, digits, - and _, at most 64, a letter or digit first',
    )
  }
  return undefined
}

function readAction(entry: TreeEntry | undefined, findings: Findings): Action | undefined {
  if (entry === undefined) return undefined
  const { value } = entry
  if (value.kind === 'scalar' && isAction(value.value)) return value.value
  const near = value.kind === 'scalar' ? nearest(value.source, ACTIONS) : undefined
  findings.error(
    value,
    'unknown_action',
    `${describeTree(value)} is not an action`,
    near === undefined ? `use ${oneOf(ACTIONS)}` : `did you mean ${near}?`,
  )
  return undefined
}

function readRequire(entry: TreeEntry | undefined, context: RuleContext, findings: Findings): Requirement | undefined {
  if (entry === undefined) return undefined
  const { value } = entry
  const text = value.kind === 'scalar' && typeof value.value === 'string' ? value.value : undefined
  if (text === 'allow' || text === 'ask' || text === 'deny') return { kind: text }
  const roles = context.roles ?? ROLES
  const named = text === undefined ? undefined : /^approver:\s*(.*)$/.exec(text)?.[1]
  if (named !== undefined) {
    const role = roles.find(r => r === named)
    if (role !== undefined) return { kind: 'approver', role }
    if (named === 'auditor') {
      findings.error(value, 'unknown_role', 'an auditor reads everything and answers nothing', `use ${oneOf(roles)}`)
    } else {
      const near = nearest(named, roles)
      findings.error(
        value,
        'unknown_role',
        `"${clip(named)}" is not a role`,
        near === undefined ? `use ${oneOf(roles)}` : `did you mean approver:${near}?`,
      )
    }
    return undefined
  }
  const words = ['allow', 'ask', 'deny', ...roles.map(role => `approver:${role}`)]
  const near = text === undefined ? undefined : nearest(text, words)
  const wrong =
    value.kind === 'map' ? 'approver and its role are one word' : `${describeTree(value)} is not a requirement`
  findings.error(
    value,
    'unknown_requirement',
    wrong,
    near === undefined ? 'use allow, ask, approver:<role> or deny' : `did you mean ${near}?`,
  )
  return undefined
}

function readStage(entry: TreeEntry, findings: Findings): Stage | undefined {
  const { value } = entry
  const stage = value.kind === 'scalar' ? STAGES.find(word => word === value.value) : undefined
  if (stage !== undefined) return stage
  const near = value.kind === 'scalar' ? nearest(value.source, STAGES) : undefined
  findings.error(
    value,
    'unknown_stage',
    `${describeTree(value)} is not a stage`,
    near === undefined ? `use ${oneOf(STAGES)}` : `did you mean ${near}?`,
  )
  return undefined
}

function readWord<const W extends string>(entry: TreeEntry, words: readonly W[], findings: Findings): W | undefined {
  const { key, value } = entry
  const word = value.kind === 'scalar' ? words.find(w => w === value.value) : undefined
  if (word === undefined)
    findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, `use ${oneOf(words)}`)
  return word
}

function readFlag(entry: TreeEntry, findings: Findings): boolean | undefined {
  const { key, value } = entry
  if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value
  findings.error(value, 'wrong_kind', `${key} is true or false, not ${describeTree(value)}`, `write ${key}: true`)
  return undefined
}

/** Keys about people who answer in the web app make sense only where a request is sent to them. */
function needsApprover(
  entry: TreeEntry,
  require: Requirement | undefined,
  context: RuleContext,
  findings: Findings,
): boolean {
  if (context.scope === 'local') {
    const message = `${entry.key} is for the organisation's rules: a local rule is answered on this machine`
    findings.error(entry.keyAt, 'not_here', message, `remove ${entry.key}`)
    return false
  }
  if (require === undefined || require.kind === 'approver') return true
  findings.error(
    entry.keyAt,
    'not_here',
    `${entry.key} needs require: approver:<role>`,
    `name a role, or remove ${entry.key}`,
  )
  return false
}

function needsAnswer(entry: TreeEntry, require: Requirement | undefined, asked: boolean, findings: Findings): boolean {
  if (require === undefined || asked) return true
  findings.error(
    entry.keyAt,
    'not_here',
    `${entry.key} needs a rule that asks`,
    `use require: ask or approver:<role>, or remove ${entry.key}`,
  )
  return false
}
