/** Tags as developers write them: in a repository's file, and for one run. */

import type { Findings, Problem } from '#core/boundary/problem.ts'
import { isNothing, openDocument, sectionTree } from '#core/boundary/sections.ts'
import { describeTree, type TreeEntry } from '#core/boundary/tree.ts'
import { clip } from '#core/plain-text.ts'
import { readMap, writtenText } from '#core/rules/fields.ts'
import { TAG_KEY, TAG_VALUE, type Tags } from './tags.ts'

/** The file in a repository's root (or in the folder of the session) that says to whom work there belongs. */
export const REPOSITORY_FILE = '.holdpoint.yaml'
/** The variable that says so for one run. */
export const RUN_TAGS = 'HOLDPOINT_TAGS'

/** Tags of one file: with any error none of them is taken, and the last good ones are the caller's to keep. */
export type ReadTags = { tags: Tags; errors: Problem[]; warnings: Problem[] }

/** Reads `tags:` of a repository's file. Never throws; a file without it has no tags, and that is fine. */
export function parseRepositoryFile(text: string): ReadTags {
  const doc = openDocument(text, { scope: 'local', known: ['tags'] })
  const tree = sectionTree(doc, 'tags')
  const tags: Record<string, string> = {}
  const map =
    tree === undefined || isNothing(tree) ? undefined : readMap(tree, 'tags', 'tags: { tenant: acme }', doc.findings)
  for (const entry of map?.entries ?? []) {
    const value = readValue(entry, doc.findings)
    if (value !== undefined) tags[entry.key] = value
  }
  const { errors, warnings } = doc.problems()
  return { tags: errors.length === 0 ? tags : {}, errors, warnings }
}

function readValue({ key, keyAt, value }: TreeEntry, findings: Findings): string | undefined {
  if (!TAG_KEY.test(key)) {
    const remedy = 'use lower-case letters, digits, - and _, a letter first'
    findings.error(keyAt, 'bad_name', `${clip(key)} is not a tag's key`, remedy)
    return undefined
  }
  const text = writtenText(value)
  if (text !== undefined && TAG_VALUE.test(text)) return text
  findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, remedyFor(key, text))
  return undefined
}

function remedyFor(key: string, text: string | undefined): string {
  const slug = (text ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return TAG_VALUE.test(slug)
    ? `write ${key}: ${slug}`
    : 'use lower-case letters, digits, dots, - and _, a letter or digit first'
}

/**
 * Reads `tenant=acme,project=x`. What is wrong is told and left out; the rest is taken, because a run cannot be asked again.
 * Of a key that stands twice the last is taken.
 */
export function parseRunTags(text: string): { tags: Tags; problems: string[] } {
  const tags: Record<string, string> = {}
  const problems: string[] = []
  for (const part of text.split(',')) {
    const pair = part.trim()
    if (pair === '') continue
    const at = pair.indexOf('=')
    const key = pair.slice(0, Math.max(0, at)).trim()
    const value = pair.slice(at + 1).trim()
    if (at < 0) problems.push(`${clip(pair)} has no =; write tenant=acme`)
    else if (!TAG_KEY.test(key)) problems.push(`${clip(key) || 'nothing'} is not a tag's key`)
    else if (!TAG_VALUE.test(value)) problems.push(`${key} cannot be "${clip(value)}": ${remedyFor(key, value)}`)
    else tags[key] = value
  }
  return { tags, problems }
}
