import { type Findings, nearest, oneOf } from '#core/boundary/problem.ts'
import { refuseUnknownKeys } from '#core/boundary/read-rule.ts'
import { describeTree, entryOf, type Tree, type TreeMap } from '#core/boundary/tree.ts'
import { clip } from '#core/plain-text.ts'
import { type Rename, type RenameMap, renamedValue } from '#core/usage/renames.ts'
import { TAG_KEY, TAG_VALUE, type TagLists } from '#core/usage/tags.ts'
import { oneOrMore, readMap, required, writtenText } from './fields.ts'

export const RENAME_KEYS = ['key', 'from', 'to'] as const
const EXAMPLE = '{ key: tenant, from: acme, to: acme-europe }'

/** One entry of `renames:`; `tags` undefined: its key is not checked against lists. */
export function readRename(tree: Tree, tags: TagLists | undefined, findings: Findings): Rename | undefined {
  const map = readMap(tree, 'a rename', EXAMPLE, findings)
  if (map === undefined) return undefined
  const before = findings.errors.length
  refuseUnknownKeys(map, RENAME_KEYS, 'a rename', findings)
  const [key, from, to] = RENAME_KEYS.map(name => {
    const entry = required(map, name, 'the rename', `write ${EXAMPLE}`, findings)
    if (entry === undefined) return undefined
    const text = writtenText(entry.value)
    if (text !== undefined && (name === 'key' ? TAG_KEY : TAG_VALUE).test(text)) return text
    const remedy = name === 'key' ? 'write the key of a tag, such as tenant' : 'write one value, such as acme'
    findings.error(entry.value, 'bad_value', `${name} cannot be ${describeTree(entry.value)}`, remedy)
    return undefined
  })
  if (key !== undefined && tags !== undefined && !Object.hasOwn(tags, key)) {
    const near = nearest(key, Object.keys(tags))
    const remedy = near === undefined ? `use ${oneOf(Object.keys(tags))}` : `did you mean ${near}?`
    const at = entryOf(map, 'key')!.value
    findings.error(at, 'unknown_tag', `${clip(key)} is not one of the organisation's tags`, remedy)
  }
  if (from !== undefined && from === to)
    findings.error(entryOf(map, 'to')!.value, 'bad_value', `${from} is renamed to itself`, 'write another value')
  return findings.errors.length > before ? undefined : { key: key!, from: from!, to: to! }
}

/** Refuses two renames of one value, renames in a circle, and those that end at a value that is on no list. */
export function checkRenames(
  renames: readonly { rename: Rename; tree: TreeMap }[],
  tags: TagLists,
  findings: Findings,
): void {
  const next = new Map<string, string>()
  for (const { rename, tree } of renames) {
    const id = `${rename.key} ${rename.from}`
    if (next.has(id)) {
      const message = `${rename.from} is renamed above already`
      findings.error(entryOf(tree, 'from')!.value, 'duplicate', message, 'keep one of the two')
    } else next.set(id, rename.to)
  }
  for (const { rename, tree } of renames) {
    const { key, from, to } = rename
    const seen = new Set([from])
    let at = to
    while (!seen.has(at) && next.has(`${key} ${at}`)) {
      seen.add(at)
      at = next.get(`${key} ${at}`)!
    }
    const place = entryOf(tree, 'to')!.value
    if (seen.has(at)) {
      const message = `the renames of ${from} go in a circle, by way of ${to}`
      findings.error(place, 'bad_value', message, 'take one of them away')
    } else if (!(tags[key] ?? []).includes(at)) {
      const near = nearest(at, tags[key] ?? [])
      const remedy =
        near === undefined ? `list it under tags, as in tags: { ${key}: [${at}] }` : `did you mean ${near}?`
      findings.error(place, 'unknown_tag', `${at} is on no list of ${key}`, remedy)
    }
  }
}

/** Keys of a boundary's `for:` whose entries are values of a tag. */
const FOR_TAGS: Readonly<Record<string, string>> = { tenants: 'tenant', projects: 'project' }

/**
 * A budget or a boundary for a value that is called otherwise by now would meet nothing: it is refused, with what to write. What
 * sets a tag (attribution rules, repositories, runs) may go on saying the old one.
 */
export function checkRenamed(trees: readonly (Tree | undefined)[], map: RenameMap, findings: Findings): void {
  for (const tree of trees)
    for (const item of tree?.kind === 'list' ? tree.items : []) {
      const whom = item.kind === 'map' ? entryOf(item, 'for')?.value : undefined
      if (whom?.kind !== 'map') continue
      for (const { key, value } of whom.entries)
        for (const one of oneOrMore(value)) {
          const text = writtenText(one)
          const now = text === undefined ? undefined : renamedValue(map, FOR_TAGS[key] ?? key, text)
          if (now === text) continue
          findings.error(one, 'unknown_tag', `${text} is called ${now} now`, `write ${now}`)
        }
    }
}
