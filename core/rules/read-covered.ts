import type { Findings } from '#core/boundary/problem.ts'
import { nearest, oneOf } from '#core/boundary/problem.ts'
import type { JsonObject } from '#core/boundary/rule.ts'
import { isNothing } from '#core/boundary/sections.ts'
import type { Tree, TreeEntry } from '#core/boundary/tree.ts'
import { isDay } from '#core/day.ts'
import { clip } from '#core/plain-text.ts'
import { USAGE_CLIENTS, type UsageClient } from '#core/usage/bucket.ts'
import { DECLARABLE, type Declarable, type DeclaredCover } from '#core/usage/declared-cover.ts'
import { readChoice, readMap } from './fields.ts'

const EXAMPLE = 'covered: { claude-code: plan }'
/** Changes of one client: far more than plans a person ever has. */
const CHANGES_MAX = 50

/**
 * `covered:` of an organisation's document, or of one machine's config.yaml: what of clients a plan covers, where neither their own
 * records nor their sign-ins tell. One word for ever, or a map of first days (UTC): `{ 2026-01-01: plan, 2026-12-01: metered }`. Undefined where nothing is declared.
 */
export function readCovered(tree: Tree | undefined, findings: Findings): DeclaredCover | undefined {
  if (tree === undefined || isNothing(tree)) return undefined
  const map = readMap(tree, 'covered', EXAMPLE, findings)
  const declared: Partial<Record<UsageClient, { from: string; is: Declarable }[]>> = {}
  for (const entry of map?.entries ?? []) {
    const client = USAGE_CLIENTS.find(name => name === entry.key)
    if (client === undefined) {
      const near = nearest(entry.key, USAGE_CLIENTS)
      const remedy = near === undefined ? `use ${oneOf(USAGE_CLIENTS)}` : `did you mean ${near}?`
      findings.error(entry.keyAt, 'unknown_key', `covered knows no client ${clip(entry.key)}`, remedy)
    } else declared[client] = readSpans(entry, findings)
  }
  return Object.keys(declared).length > 0 ? declared : undefined
}

/** As it stands in the signed set: an entry for each span, `from` absent where it is from ever. */
export const coveredToJson = (declared: DeclaredCover | undefined): JsonObject[] =>
  Object.entries(declared ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([client, spans]) => spans.map(({ from, is }) => ({ client, ...(from === '' ? {} : { from }), is })))

/** One entry of the signed set; undefined for what this build cannot read. */
export function coveredFromJson(
  value: Readonly<Record<string, unknown>>,
): { client: UsageClient; from: string; is: Declarable } | undefined {
  const { client: name, from = '', is: word, ...rest } = value
  const client = USAGE_CLIENTS.find(one => one === name)
  const is = DECLARABLE.find(one => one === word)
  if (client === undefined || is === undefined || typeof from !== 'string' || Object.keys(rest).length > 0)
    return undefined
  return from === '' || isDay(from) ? { client, from, is } : undefined
}

/** Spans of the same client together, the earliest first. */
export function declaredBy(
  entries: readonly { client: UsageClient; from: string; is: Declarable }[],
): DeclaredCover | undefined {
  const declared: Partial<Record<UsageClient, { from: string; is: Declarable }[]>> = {}
  for (const { client, from, is } of entries) declared[client] = [...(declared[client] ?? []), { from, is }]
  for (const spans of Object.values(declared)) spans.sort((a, b) => (a.from < b.from ? -1 : 1))
  return entries.length > 0 ? declared : undefined
}

function readSpans(entry: TreeEntry, findings: Findings): { from: string; is: Declarable }[] {
  const { key, value } = entry
  if (value.kind !== 'map') {
    const is = readChoice(entry, DECLARABLE, findings)
    return is === undefined ? [] : [{ from: '', is }]
  }
  if (value.entries.length === 0 || value.entries.length > CHANGES_MAX) {
    findings.error(
      value,
      'too_many',
      `${key} has ${value.entries.length} entries`,
      `use 1 to ${CHANGES_MAX} first days`,
    )
    return []
  }
  const spans = value.entries.flatMap(({ key: from, keyAt, value: word }) => {
    if (!isDay(from))
      findings.error(keyAt, 'bad_value', `${clip(from)} is no day`, 'write a first day such as 2026-12-01')
    const is = readChoice({ key: from, value: word }, DECLARABLE, findings)
    return isDay(from) && is !== undefined ? [{ from, is }] : []
  })
  return spans.sort((a, b) => (a.from < b.from ? -1 : 1))
}
