/** What Codex's own configuration says of hooks: whether they run at all, and which of them it was told to trust. Pure. */
import { parse } from 'smol-toml'
import { isObject, type Json } from '#agent/clients/json-lines.ts'

/** Where the machine's administrator says what holds for every user; Windows keeps it elsewhere. */
export const REQUIREMENTS = '/etc/codex/requirements.toml'

/** Undefined for text that is no TOML. */
export function readToml(text: string): Json | undefined {
  try {
    return parse(text) as Json
  } catch {
    return undefined
  }
}

export type CodexConfig = {
  /** `features.hooks`; undefined where it says nothing, which is on. */
  hooks: boolean | undefined
  /** Events that have hooks in the configuration itself. */
  events: string[]
  /** What is kept of each hook, by its key. */
  state: Readonly<Record<string, { trustedHash?: string; enabled?: boolean }>>
  /** Only in requirements: hooks of the machine's administrator are the only ones. */
  managedOnly: boolean
}

/** @throws TypeError for text that is no TOML */
export function readCodexConfig(text: string): CodexConfig {
  const config = readToml(text)
  if (!config) throw new TypeError('it is not valid TOML')
  const { features, hooks, allow_managed_hooks_only: managedOnly } = config
  const table = isObject(hooks) ? hooks : {}
  const state = isObject(table.state) ? table.state : {}
  const on = isObject(features) ? (features.hooks ?? features.codex_hooks) : undefined
  return {
    hooks: typeof on === 'boolean' ? on : undefined,
    events: Object.keys(table).filter(name => Array.isArray(table[name])),
    state: Object.fromEntries(
      Object.entries(state).flatMap(([key, value]) => {
        if (!isObject(value)) return []
        const { trusted_hash: hash, enabled } = value
        const kept = {
          ...(typeof hash === 'string' ? { trustedHash: hash } : {}),
          ...(typeof enabled === 'boolean' ? { enabled } : {}),
        }
        return [[key, kept]]
      }),
    ),
    managedOnly: managedOnly === true,
  }
}
