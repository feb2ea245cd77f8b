import * as z from 'zod/mini'
import { TAG_KEYS_MAX } from '#core/limits.ts'

/** A tag's key: `tenant` and `project` always exist, an organisation may list more. */
export const TAG_KEY = /^[a-z][a-z0-9_-]{0,31}$/
/** A tag's value: a word that an organisation listed. No white space, no slash, no upper case: no prose and no path fits. */
export const TAG_VALUE = /^[a-z0-9][a-z0-9._-]{0,62}$/
/** The keys that every organisation has. */
export const STANDING_KEYS = ['tenant', 'project'] as const

/** Attribution of one call: key to value. A key that is absent is unattributed; there is no value for "none". */
export type Tags = Readonly<Record<string, string>>
export const NO_TAGS: Tags = Object.freeze({})

/** Tags on the wire: only listed keys and values ever stand there. */
export const TagsShape = z
  .record(z.string().check(z.regex(TAG_KEY)), z.string().check(z.regex(TAG_VALUE)))
  .check(z.refine(tags => Object.keys(tags).length <= TAG_KEYS_MAX))

/** What an organisation lists: the values each key may have on the wire. */
export type TagLists = Readonly<Record<string, readonly string[]>>

/** One text for one map of tags, whatever the order of its keys: what buckets and reports are grouped by. */
export function tagsKey(tags: Tags): string {
  // most come in order, and there are thousands of them in an upload
  let text = ''
  let before = ''
  for (const key in tags) {
    if (key < before) return sortedKey(tags)
    text += text === '' ? `${key}=${tags[key]}` : `,${key}=${tags[key]}`
    before = key
  }
  return text
}

const sortedKey = (tags: Tags): string =>
  Object.keys(tags)
    .sort()
    .map(key => `${key}=${tags[key]}`)
    .join(',')

/** The map that {@link tagsKey} spelled. */
export function tagsFromKey(key: string): Tags {
  if (key === '') return NO_TAGS
  return Object.fromEntries(
    key.split(',').map(part => {
      const at = part.indexOf('=')
      return [part.slice(0, at), part.slice(at + 1)]
    }),
  )
}
