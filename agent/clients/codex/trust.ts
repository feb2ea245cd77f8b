/**
 * Whether Codex was told to trust a hook: it keeps a digest of each hook as it was then, under the file's name and the hook's
 * place in it, and runs no other.
 */
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import type { FoundEntry } from '#agent/clients/hook-lists.ts'
import type { CodexConfig } from './config.ts'

/** `PreToolUse` as keys and digests have it. */
const labelOf = (event: string) => event.replace(/(?<=[a-z])[A-Z]/g, letter => `_${letter}`).toLowerCase()

/** The key of an entry in a file. */
export const keyOf = (file: string, { event, path }: FoundEntry): string =>
  `${file}:${labelOf(event)}:${path[2]}:${path[4]}`

/**
 * The digest of an entry, as the client makes it (0.171.0): of its event, matcher and command in canonical JSON, with what the
 * file leaves out as the client fills it in.
 */
export function digestOf({ event, matcher, entry }: FoundEntry): string {
  const { command, timeout = 600, async: isAsync = false, statusMessage } = entry
  // keys in their order
  const hook = {
    async: isAsync,
    command,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    timeout,
    type: 'command',
  }
  // at these events the client knows no matcher
  const isMatched = matcher !== undefined && event !== 'UserPromptSubmit' && event !== 'Stop'
  const identity = { event_name: labelOf(event), hooks: [hook], ...(isMatched ? { matcher } : {}) }
  return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`
}

export type Trust = 'trusted' | 'changed' | 'untrusted' | 'switched_off'

/** How an entry stands. The file is known to the client by the name that it finds it under, or by its real one. */
export function trustOf({ state }: Pick<CodexConfig, 'state'>, file: string, entry: FoundEntry): Trust {
  const kept = namesOf(file).flatMap(name => state[keyOf(name, entry)] ?? [])
  if (kept.some(({ enabled }) => enabled === false)) return 'switched_off'
  const digests = kept.flatMap(({ trustedHash }) => trustedHash ?? [])
  if (digests.length === 0) return 'untrusted'
  return digests.includes(digestOf(entry)) ? 'trusted' : 'changed'
}

function namesOf(file: string): string[] {
  try {
    return [...new Set([file, realpathSync(file)])]
  } catch {
    return [file]
  }
}
