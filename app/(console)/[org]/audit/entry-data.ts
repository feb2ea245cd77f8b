import type { SessionMethod } from '#core/approval/answer.ts'
import type { Json } from '#core/json.ts'
import { methodName, UNDATED_SIGN_IN } from '#core/permission.ts'

/** One fact of an entry. `when` is set for moments; `code` marks digests, ids and whatever is not prose. */
export type EntryFact = { key: string; text: string; code: boolean; when?: Date }

const KEYS: Record<string, string> = {
  authnAt: 'Signed in at',
  method: 'Signed in with',
  asked: 'Asked for',
  by: 'By',
  old: 'Old key',
  new: 'New key',
  kid: 'Key',
  prev: 'Before',
  notAfter: 'Holds until',
  until: 'Ceilings',
  demo: 'Demo mode',
  self: 'Own request',
  how: 'How',
  why: 'Why',
  seq: 'Number',
  ruleset: 'Rule set',
}
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const CODE = /^[A-Za-z0-9_-]{20,}$|^[a-z]{2,4}[-_][a-z0-9]{6,}$|^https?:/

/**
 * The data of an entry as facts to read, in the order they stand. Nothing is left out. `mentioned`: what the ids in it are
 * called, put before them.
 */
export function entryFacts(
  data: { readonly [key: string]: Json },
  mentioned: { readonly [id: string]: string } = {},
): EntryFact[] {
  return Object.entries(data).map(([key, value]) => ({
    key: KEYS[key] ?? keyWords(key),
    ...factOf(key, value, mentioned),
  }))
}

function factOf(key: string, value: Json, mentioned: { readonly [id: string]: string }): Omit<EntryFact, 'key'> {
  if (key === 'method') return { text: signInWords(value), code: false }
  if (key === 'authnAt' && value === UNDATED_SIGN_IN.toISOString())
    return { text: 'the provider does not say when', code: false }
  const name = typeof value === 'string' ? mentioned[value] : undefined
  return name === undefined ? valueWords(value) : { text: `${name} (${value})`, code: false }
}

const signInWords = (method: Json): string => methodName(method as SessionMethod) ?? String(method)

function valueWords(value: Json): Omit<EntryFact, 'key'> {
  if (value === true) return { text: 'yes', code: false }
  if (value === false) return { text: 'no', code: false }
  if (value === null) return { text: 'none', code: false }
  if (typeof value === 'number') return { text: String(value), code: false }
  if (typeof value === 'string') {
    if (MOMENT.test(value)) return { text: value, code: false, when: new Date(value) }
    return {
      text: value === '' ? 'empty' : value.replaceAll('_', CODE.test(value) ? '_' : ' '),
      code: CODE.test(value),
    }
  }
  if (Array.isArray(value) && value.length === 0) return { text: 'none', code: false }
  if (Array.isArray(value) && value.every(each => typeof each === 'string' || typeof each === 'number'))
    return { text: value.join(', '), code: false }
  return { text: JSON.stringify(value), code: true }
}

/** `receivedAt` is "Received at". */
function keyWords(key: string): string {
  const words = key
    .replace(/[_-]/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
