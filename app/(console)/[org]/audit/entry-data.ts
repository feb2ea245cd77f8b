import type { SessionMethod } from '#core/approval/answer.ts'
import type { Json } from '#core/json.ts'
import { methodName } from '#core/permission.ts'
import { ageWords } from '../settings/age-words.ts'

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

/** The data of an entry as facts to read, in the order they stand. Nothing is left out. */
export function entryFacts(data: { readonly [key: string]: Json }): EntryFact[] {
  return Object.entries(data).map(([key, value]) => ({
    key: KEYS[key] ?? keyWords(key),
    ...(key === 'method' ? { text: signInWords(value), code: false } : valueWords(value)),
  }))
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

/** One line under the title of an entry: what tells it from others of its kind. */
export function entryGist(kind: string, data: { readonly [key: string]: Json }): string | undefined {
  const text = (key: string) =>
    typeof data[key] === 'string' || typeof data[key] === 'number' ? String(data[key]).replaceAll('_', ' ') : undefined
  if (kind === 'member.role_changed' || kind === 'organisation.setting_changed') {
    const change =
      data.from !== undefined && data.to !== undefined
        ? `${settingWords(data.setting, data.from)} → ${settingWords(data.setting, data.to)}`
        : undefined
    return (
      [text('setting') && (SETTINGS[String(data.setting)] ?? text('setting')), change].filter(Boolean).join(': ') ||
      undefined
    )
  }
  if (kind === 'key.rotated') return text('role')
  if (kind === 'member.signed_in')
    return [
      data.method === undefined ? undefined : `with ${signInWords(data.method)}`,
      data.demo === true ? 'in demo mode' : undefined,
    ]
      .filter(Boolean)
      .join(', ')
  if (kind === 'member.joined' || kind === 'member.invited') return text('role') && `as ${text('role')}`
  if (kind.startsWith('approval.') && Array.isArray(data.rules)) return ruleNames(data.rules)
  if (kind === 'approval.approved')
    return data.scope === 'session' ? 'the rest of the session' : data.scope === 'step' ? 'one step' : undefined
  return text('why')
}

const SETTINGS: Record<string, string> = {
  name: 'name',
  selfAnswer: 'own requests',
  whenBroken: 'when a hook is broken',
  maxAgeS: 'greatest age of rules',
  adminCredential: 'credentials of the command',
}

const settingWords = (setting: Json | undefined, value: Json): string => {
  if (setting === 'maxAgeS' && typeof value === 'number') return ageWords(value)
  return value === true ? 'on' : value === false ? 'off' : String(value)
}

function ruleNames(rules: readonly Json[]): string | undefined {
  const names = rules.flatMap(rule => {
    const name = typeof rule === 'string' ? rule : (rule as { name?: Json } | null)?.name
    return typeof name === 'string' ? [`org:${name}`] : []
  })
  return names.length > 0 ? names.join(', ') : undefined
}
