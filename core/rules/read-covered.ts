import type { Findings } from '#core/boundary/problem.ts'
import { nearest, oneOf } from '#core/boundary/problem.ts'
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
 * `covered:` of config.yaml: what of a machine's clients a plan covers, where their own records do not tell. One word for ever,
 * or a map of first days (UTC): `{ 2026-01-01: plan, 2026-12-01: metered }`. Undefined where nothing is declared.
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
