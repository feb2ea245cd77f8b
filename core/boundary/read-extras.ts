import { formatDuration, parseDuration } from '#core/duration.ts'
import { FIGURES } from '#core/figure.ts'
import { cutDecimal, type Micros } from '#core/money.ts'
import { clip, isPlainLine, isPlainWord } from '#core/plain-text.ts'
import { type LadderRole, roleAtLeast } from '#core/role.ts'
import {
  MAX_APPROVALS,
  MAX_EXPIRES_SECONDS,
  MAX_FOR_ENTRIES,
  MAX_NOTE_CHARS,
  MAX_PATTERN_CHARS,
  MIN_EXPIRES_SECONDS,
} from './limits.ts'
import { type Findings, nearest, oneOf } from './problem.ts'
import type { AppliesTo, Condition, Fallback } from './shape.ts'
import { describeTree, entryOf, type Tree, type TreeEntry } from './tree.ts'

/** Readers of the keys beyond the first five. Each gives undefined, with a finding, for what it refuses. */

/** `note:` one plain line; breaks become spaces. */
export function readNote({ value }: TreeEntry, findings: Findings): string | undefined {
  if (value.kind !== 'scalar' || value.value === null) {
    findings.error(value, 'wrong_kind', `note is a sentence, not ${describeTree(value)}`, 'write why the rule is there')
    return undefined
  }
  const text = (typeof value.value === 'string' ? value.value : value.source).trim().replace(/[\t\n\r]+/g, ' ')
  if (text.length > MAX_NOTE_CHARS) {
    findings.error(value, 'bad_value', `note has ${text.length} characters`, `use at most ${MAX_NOTE_CHARS}`)
    return undefined
  }
  if (!isPlainLine(text)) {
    findings.error(
      value,
      'bad_value',
      text === '' ? 'note is empty' : 'note holds control or direction marks',
      'write plain text',
    )
    return undefined
  }
  return text
}

/** `approvals:` how many people. */
export function readApprovals({ value }: TreeEntry, findings: Findings): number | undefined {
  const n = value.kind === 'scalar' ? value.value : undefined
  if (typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= MAX_APPROVALS) return n
  const code = typeof n === 'number' ? 'out_of_range' : 'wrong_kind'
  findings.error(
    value,
    code,
    `approvals cannot be ${describeTree(value)}`,
    `use a whole number from 1 to ${MAX_APPROVALS}`,
  )
  return undefined
}

/** A duration in seconds between `least` and a day. */
export function readDuration(
  { key, value }: { key: string; value: Tree },
  findings: Findings,
  least = MIN_EXPIRES_SECONDS,
): number | undefined {
  const range = `${formatDuration(least)} to ${formatDuration(MAX_EXPIRES_SECONDS)}`
  const seconds = value.kind === 'scalar' && typeof value.value === 'string' ? parseDuration(value.value) : undefined
  if (seconds === undefined) {
    findings.error(
      value,
      'bad_value',
      `${key} cannot be ${describeTree(value)}`,
      `write a duration such as 30m or 1h, ${range}`,
    )
    return undefined
  }
  if (seconds < least || seconds > MAX_EXPIRES_SECONDS) {
    findings.error(value, 'out_of_range', `${key} cannot be ${describeTree(value)}`, `use ${range}`)
    return undefined
  }
  return seconds
}

/** `step:` in dollars or points. Only a figure that grows through an answer can have one. */
export function readStep(
  { keyAt, value }: TreeEntry,
  when: readonly Condition[],
  findings: Findings,
): Micros | undefined {
  const growing = when.find(c => c.figure === 'session_cost_usd' || c.figure === 'budget_used_pct')
  if (growing === undefined) {
    findings.error(
      keyAt,
      'not_here',
      'step needs session_cost_usd or budget_used_pct',
      'add one of them to when, or remove step',
    )
    return undefined
  }
  const plain = value.kind === 'scalar' && (typeof value.value === 'string' || typeof value.value === 'number')
  const read = plain ? cutDecimal(typeof value.value === 'string' ? value.value : value.source) : undefined
  if (read === undefined || read.cut) {
    findings.error(
      value,
      'bad_value',
      `step cannot be ${describeTree(value)}`,
      'write a plain number such as 20, at most six decimal places',
    )
    return undefined
  }
  const { max = 0 } = FIGURES[growing.figure]
  if (read.floor === 0 || read.floor > max * 1_000_000) {
    findings.error(value, 'out_of_range', `step cannot be ${describeTree(value)}`, `use more than 0 and at most ${max}`)
    return undefined
  }
  return read.floor
}

/** The keys of `for:`. */
export const FOR_KEYS = ['tenants', 'projects', 'machines'] as const

/** The keys of `fallback:`. */
export const FALLBACK_KEYS = ['role', 'after', 'loosens'] as const

/** `for:` whom a rule applies to. */
export function readAppliesTo({ value }: TreeEntry, findings: Findings): AppliesTo | undefined {
  if (value.kind !== 'map' || value.entries.length === 0) {
    findings.error(
      value,
      'wrong_kind',
      `for takes ${oneOf(FOR_KEYS)}, not ${describeTree(value)}`,
      'write for: { tenants: [acme] }',
    )
    return undefined
  }
  const appliesTo: { -readonly [K in keyof AppliesTo]: AppliesTo[K] } = {}
  for (const entry of value.entries) {
    const key = FOR_KEYS.find(k => k === entry.key)
    if (key === undefined) {
      const near = nearest(entry.key, FOR_KEYS)
      const remedy = near === undefined ? `use ${oneOf(FOR_KEYS)}` : `did you mean ${near}?`
      findings.error(entry.keyAt, 'unknown_key', `"${clip(entry.key)}" is not a key of for`, remedy)
      continue
    }
    const list = readNames(entry, findings)
    if (list !== undefined) appliesTo[key] = list
  }
  return appliesTo
}

/** A list of names, or one name alone, sorted and each once: their order means nothing. */
function readNames({ key, value }: TreeEntry, findings: Findings): string[] | undefined {
  const items = value.kind === 'list' ? value.items : [value]
  if (items.length === 0 || items.length > MAX_FOR_ENTRIES) {
    findings.error(value, 'bad_value', `${key} lists ${items.length} names`, `list 1 to ${MAX_FOR_ENTRIES}`)
    return undefined
  }
  const names: string[] = []
  for (const item of items) {
    const name =
      item.kind === 'scalar' && item.value !== null && typeof item.value !== 'boolean'
        ? typeof item.value === 'string'
          ? item.value
          : item.source
        : ''
    if (!isPlainWord(name) || name.length > MAX_PATTERN_CHARS) {
      findings.error(
        item,
        'bad_value',
        `${key} cannot list ${describeTree(item)}`,
        'list names of one word, * being a wildcard',
      )
      return undefined
    }
    names.push(name)
  }
  return [...new Set(names)].sort()
}

/** `fallback:` who may answer when nobody has for a while; `wanted` is the role that the rule names. */
export function readFallback(
  { value }: TreeEntry,
  wanted: LadderRole,
  roles: readonly LadderRole[],
  expires: number | undefined,
  findings: Findings,
): Fallback | undefined {
  if (value.kind !== 'map') {
    findings.error(
      value,
      'wrong_kind',
      `fallback takes role and after, not ${describeTree(value)}`,
      'write fallback: { role: admin, after: 30m }',
    )
    return undefined
  }
  for (const { key, keyAt } of value.entries) {
    if (!(FALLBACK_KEYS as readonly string[]).includes(key))
      findings.error(keyAt, 'unknown_key', `"${clip(key)}" is not a key of fallback`, `use ${oneOf(FALLBACK_KEYS)}`)
  }
  const roleTree = entryOf(value, 'role')?.value
  const after = entryOf(value, 'after')
  const flag = entryOf(value, 'loosens')
  const role = roleTree?.kind === 'scalar' ? roles.find(r => r === roleTree.value) : undefined
  if (role === undefined) {
    findings.error(
      roleTree ?? value,
      roleTree === undefined ? 'missing' : 'unknown_role',
      'fallback names no role that can answer',
      `use ${oneOf(roles)}`,
    )
  }
  if (after === undefined) findings.error(value, 'missing', 'fallback does not say after how long', 'add after: 30m')
  const afterSeconds = after === undefined ? undefined : readDuration(after, findings, 60)
  if (afterSeconds !== undefined && expires !== undefined && afterSeconds >= expires) {
    findings.error(
      after!.value,
      'out_of_range',
      'the request has expired before its fallback begins',
      'make after shorter than expires',
    )
  }
  const declared = flag?.value.kind === 'scalar' && flag.value.value === true
  if (flag !== undefined && !declared) {
    findings.error(
      flag.value,
      'bad_value',
      `loosens cannot be ${describeTree(flag.value)}`,
      'write loosens: true, or leave it out',
    )
    return undefined
  }
  if (role === undefined || afterSeconds === undefined) return undefined
  const below = !roleAtLeast(role, wanted)
  if (below && !declared) {
    findings.error(
      roleTree!,
      'missing',
      `${role} stands below ${wanted}, so this fallback loosens the rule`,
      'add loosens: true, or name a higher role',
    )
    return undefined
  }
  if (!below && declared) {
    findings.error(flag!.keyAt, 'not_here', `${role} does not stand below ${wanted}`, 'remove loosens')
    return undefined
  }
  return { role, afterSeconds, ...(below ? { loosens: true as const } : {}) }
}
