/** What a command hook could not hand to the daemon, left for it to chain. Never holds a prompt, an input or a message. */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolesOf } from './events.ts'

/** The fields of a client's event that the adapters declare; all others stay out of the spool. */
const DECLARED = [
  'hook_event_name',
  'session_id',
  'cwd',
  'transcript_path',
  'agent_id',
  'agent_type',
  'source',
  'model',
  'reason',
  'tool_name',
  'tool_use_id',
  // as others spell them
  'sessionId',
  'transcriptPath',
  'agentId',
  'agentType',
  'parentAgentId',
  'toolName',
  'conversation_id',
  'subagent_id',
  'parent_conversation_id',
] as const

export type SpooledEvent = {
  kind: 'hook_event'
  client: string
  event: string
  /** ISO 8601, when the hook ran. */
  at: string
  /** Why it could not be handed over. */
  why: string
  /** As the door's headers would have been: `x-holdpoint-attended` and the like. */
  headers: Record<string, string>
  /** The declared fields of the client's own body; absent when it could not be read. */
  body?: Record<string, string>
}
export type SpooledAlarm = { kind: 'alarm'; what: 'daemon_impostor' | 'hook_broken'; at: string; why: string }

/** A runaway client must not fill the disk while the daemon is down, nor its calls the place of a session's start. */
const SPOOL_MAX = 1000
const CALLS_MAX = SPOOL_MAX / 2

/** Writes one file, whole or not at all. `random` makes its name. */
export function spool(home: string, entry: SpooledEvent | SpooledAlarm, random: string): void {
  const folder = join(home, 'spool')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const isCall = entry.kind === 'hook_event' && rolesOf(entry.client).pause.includes(entry.event)
  const max = isCall ? CALLS_MAX : SPOOL_MAX
  if (readdirSync(folder).length >= max) return
  const name = `${entry.kind === 'alarm' ? 'alarm' : 'event'}-${random}`
  const unfinished = join(folder, `.${name}.tmp`)
  writeFileSync(unfinished, JSON.stringify(entry), { mode: 0o600, flag: 'wx' })
  renameSync(unfinished, join(folder, `${name}.json`))
}

/** The declared fields of an event's bytes; undefined when they are no JSON object. */
export function declaredFields(bytes: Buffer): Record<string, string> | undefined {
  try {
    const read = JSON.parse(bytes.toString('utf8')) as Record<string, unknown> | null
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined
    const kept = DECLARED.map(name => [name, read[name]] as const).filter(
      ([, value]) => typeof value === 'string' && value.length <= 8192,
    )
    return Object.fromEntries(kept) as Record<string, string>
  } catch {
    return undefined
  }
}
