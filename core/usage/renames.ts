import type { Tags } from './tags.ts'

/** A value of a tag that is called otherwise from now on, wherever it stands. What was recorded stays as it was. */
export interface Rename {
  key: string
  from: string
  to: string
}

/** By key: what each renamed value is called at the end of its renames. */
export type RenameMap = Readonly<Record<string, Readonly<Record<string, string>>>>
export const NO_RENAMES: RenameMap = Object.freeze({})

/** The renames as one look-up. Of one value the first rename counts; a circle, which no published document has, renames nothing. */
export function renameMap(renames: readonly Rename[]): RenameMap {
  const next = new Map<string, string>()
  for (const { key, from, to } of renames) if (!next.has(`${key} ${from}`)) next.set(`${key} ${from}`, to)
  const map: Record<string, Record<string, string>> = {}
  for (const { key, from } of renames) {
    let at = from
    const seen = new Set([from])
    for (let to = next.get(`${key} ${at}`); to !== undefined && at !== ''; to = next.get(`${key} ${at}`)) {
      at = seen.has(to) ? '' : to
      seen.add(to)
    }
    if (at !== '') map[key] = { ...map[key], [from]: at }
  }
  return map
}

/** What a value is called now. */
export function renamedValue(map: RenameMap, key: string, value: string): string {
  const of = Object.hasOwn(map, key) ? map[key]! : undefined
  return of !== undefined && Object.hasOwn(of, value) ? of[value]! : value
}

/** Tags as they read now; the same object where nothing of them was renamed. */
export function renamedTags(map: RenameMap, tags: Tags): Tags {
  if (map === NO_RENAMES) return tags
  let changed: Record<string, string> | undefined
  for (const [key, value] of Object.entries(tags)) {
    const now = renamedValue(map, key, value)
    if (now === value) continue
    changed ??= { ...tags }
    changed[key] = now
  }
  return changed ?? tags
}

/** Lists of values as they read now: each once, renamed ones as what they are called. */
export const renamedLists = (
  map: RenameMap,
  lists: Readonly<Record<string, readonly string[]>>,
): Record<string, readonly string[]> =>
  Object.fromEntries(
    Object.entries(lists).map(([key, values]) => [key, [...new Set(values.map(one => renamedValue(map, key, one)))]]),
  )
