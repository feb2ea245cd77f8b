/**
 * Our entries in a client's JSON file where `hooks.<event>` is a list: of entries, or of groups with a list of entries each. The
 * edits are pure and keep every byte that is not ours.
 */

import type { ConfigPlan } from './config-file.ts'
import { HookEditError } from './hook-editor.ts'
import { withoutComments } from './json-comments.ts'
import { type JsonNode, JsonTextError, nodeAt, parseJsonText, placeOf, plainOf, removeIn, setIn } from './json-text.ts'

export type Entry = Readonly<Record<string, unknown>>

export type HookLists = {
  /** The events that we have entries for, the pause point first. */
  events: readonly string[]
  /** Whether entries stand in groups that have a matcher. */
  isGrouped: boolean
  /** What a new file holds beside the hooks. */
  emptyFile: string
  /** Whether an entry is one of ours, of any version. */
  isOurs(entry: unknown): boolean
}

/** The matcher of a group that is for every tool. */
const EVERY = '*'

export type FoundEntry = { event: string; path: readonly (string | number)[]; matcher: unknown; entry: Entry }

/** Whether a word of a command names a file of ours. */
export const isOurPath = (word: string): boolean =>
  /[\\/]\.holdpoint[\\/]|(?:^|[\\/])holdpoint[^\\/]*$|[\\/]bin[\\/]hook\.cjs$/.test(word)

/** @throws HookEditError `unparsable` or `wrong_shape`, with line and column */
function readHookFile(text: string, { events, isGrouped }: HookLists): JsonNode & { kind: 'object' } {
  let root: JsonNode
  try {
    root = parseJsonText(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    const { line, column } = error
    const what = withoutComments(text) === text ? error.message : 'comments cannot be kept safely, take them out first'
    throw new HookEditError('unparsable', `not plain JSON: line ${line}, column ${column}: ${what}`, { line, column })
  }
  const refuse = (node: JsonNode, what: string): never => {
    const place = placeOf(text, node.start)
    throw new HookEditError('wrong_shape', `line ${place.line}, column ${place.column}: ${what}`, place)
  }
  if (root.kind !== 'object') return refuse(root, 'the file is not an object')
  const hooks = nodeAt(root, ['hooks'])
  if (hooks && hooks.kind !== 'object') refuse(hooks, 'hooks is not an object')
  for (const event of events) {
    const list = nodeAt(root, ['hooks', event])
    if (!list) continue
    if (list.kind !== 'array') return refuse(list, `hooks.${event} is not a list`)
    for (const group of isGrouped ? list.items : []) {
      const entries = nodeAt(group, ['hooks'])
      if (entries?.kind !== 'array') refuse(entries ?? group, `a group of hooks.${event} has no list of hooks`)
    }
  }
  return root
}

/** All entries of ours in a file's plain content, in its order. Anything of another shape holds none. */
export function findOurs(content: unknown, { events, isGrouped, isOurs }: HookLists): FoundEntry[] {
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
  const hooks = (content as { hooks?: Record<string, unknown> } | null)?.hooks
  return events.flatMap(event =>
    listOf(hooks?.[event]).flatMap((item, at): FoundEntry[] => {
      if (!isGrouped) {
        const { matcher } = (item ?? {}) as { matcher?: unknown }
        return isOurs(item) ? [{ event, path: ['hooks', event, at], matcher, entry: item as Entry }] : []
      }
      const { matcher, hooks: entries } = (item ?? {}) as { matcher?: unknown; hooks?: unknown }
      return listOf(entries).flatMap((entry, index) =>
        isOurs(entry) ? [{ event, path: ['hooks', event, at, 'hooks', index], matcher, entry: entry as Entry }] : [],
      )
    }),
  )
}

const isEmpty = (text: string, path: readonly (string | number)[]) => {
  const node = nodeAt(parseJsonText(text), path)
  return node?.kind === 'array' ? node.items.length === 0 : node?.kind === 'object' && node.members.length === 0
}

/** Removes one entry, and its group, event and `hooks` where that leaves them empty. */
function dropEntry(text: string, { path }: FoundEntry): string {
  let out = removeIn(text, path)
  // entry, [list, group,] event's list, hooks
  const containers = path.length > 3 ? [path.slice(0, 4), path.slice(0, 2), ['hooks']] : [path.slice(0, 2), ['hooks']]
  for (const container of containers) {
    if (!isEmpty(out, container)) return out
    out = removeIn(out, container.length === 4 ? container.slice(0, 3) : container)
  }
  return out
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Whether a group lets every tool through to its entries. */
export const isForEvery = (matcher: unknown) => matcher === undefined || matcher === EVERY || matcher === ''

/**
 * The file with `entryOf(event)` at each event. Twice gives the same bytes; entries of ours from another version are replaced where
 * they stand; all else keeps its bytes.
 * @throws HookEditError for text that must not be edited; RangeError for an entry that could not be known again
 */
export function planEntries(text: string | undefined, lists: HookLists, entryOf: (event: string) => Entry): ConfigPlan {
  for (const event of lists.events)
    if (!lists.isOurs(entryOf(event))) throw new RangeError(`the ${event} hook could not be known again`)
  const changes: string[] = []
  let out = text === undefined || text.trim() === '' ? lists.emptyFile : text
  const found = (event: string) => findOurs(plainOf(readHookFile(out, lists)), lists).filter(one => one.event === event)
  const pause = lists.events[0]!
  for (const event of lists.events) {
    const entry = entryOf(event)
    const [kept, ...extra] = found(event)
    for (const one of extra.reverse()) {
      out = dropEntry(out, one)
      changes.push(`removed a second ${event} hook of ours`)
    }
    if (kept && isForEvery(kept.matcher)) {
      if (same(kept.entry, entry)) continue
      out = setIn(out, kept.path, entry)
      changes.push(`updated the ${event} hook`)
      continue
    }
    if (kept) out = dropEntry(out, kept)
    const list = nodeAt(readHookFile(out, lists), ['hooks', event])
    const at = list?.kind === 'array' ? list.items.length : 0
    const matcher = event === pause ? { matcher: EVERY } : {}
    out = setIn(out, ['hooks', event, at], lists.isGrouped ? { ...matcher, hooks: [entry] } : entry)
    changes.push(kept ? `put the ${event} hook back on every tool` : `added a ${event} hook`)
  }
  return { text: changes.length === 0 && text !== undefined ? text : out, changes }
}

/** The file without our entries; others stay. @throws HookEditError */
export function planWithout(text: string, lists: HookLists): ConfigPlan {
  const found = findOurs(plainOf(readHookFile(text, lists)), lists)
  const out = [...found].reverse().reduce(dropEntry, text)
  return { text: out, changes: found.map(({ event }) => `removed the ${event} hook`) }
}
