/** Claude Code's hook input to a `HookEvent`. Pure. Only the fields named here leave this file. */
import type { HookEvent, HookOrigin, ParseFailure } from '#agent/clients/adapter.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

/** Session and agent ids become parts of file names: nothing but what the client makes them of. */
const ID = /^[A-Za-z0-9_-]{1,128}$/
const NAME_MAX = 512
const PATH_MAX = 8192

/** The subagent tool is `Agent` in hooks; older versions and models call it `Task`. */
const SUBAGENT_TOOLS: ReadonlySet<string> = new Set(['Agent', 'Task'])

class Unfit extends Error {
  constructor(
    readonly reason: 'missing_field' | 'wrong_type' | 'bad_id',
    readonly field: string,
  ) {
    super(reason)
  }
}

type Fields = Record<string, unknown>

function optional(fields: Fields, field: string, max: number): string | undefined {
  const value = fields[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > max) throw new Unfit('wrong_type', field)
  return value
}

function required(fields: Fields, field: string, max: number): string {
  const value = optional(fields, field, max)
  if (value === undefined || value === '') throw new Unfit('missing_field', field)
  return value
}

function checkId(value: string | undefined, field: string): string | undefined {
  if (value !== undefined && !ID.test(value)) throw new Unfit('bad_id', field)
  return value
}

/** Leaves out what is undefined, so that an event holds its fields and nothing else. */
function some<T extends Fields>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as never
}

function readEvent(fields: Fields, nowMs: number, origin: HookOrigin): HookEvent {
  const name = required(fields, 'hook_event_name', NAME_MAX)
  const base = {
    sessionId: checkId(required(fields, 'session_id', NAME_MAX), 'session_id')!,
    atMs: nowMs,
    cwd: required(fields, 'cwd', PATH_MAX),
    ...some({
      transcriptPath: optional(fields, 'transcript_path', PATH_MAX),
      agentId: checkId(optional(fields, 'agent_id', NAME_MAX), 'agent_id'),
      agentType: optional(fields, 'agent_type', NAME_MAX),
      entrypoint: origin.entrypoint,
      attended: origin.attended,
    }),
  }
  const tool = () => ({
    toolName: required(fields, 'tool_name', NAME_MAX),
    ...some({ toolUseId: checkId(optional(fields, 'tool_use_id', NAME_MAX), 'tool_use_id') }),
  })
  switch (name) {
    case 'PreToolUse': {
      const call = tool()
      const startsSubagent = SUBAGENT_TOOLS.has(call.toolName)
      const model = startsSubagent ? (fields.tool_input as Fields | null | undefined)?.model : undefined
      const subagentModel = typeof model === 'string' && model !== '' ? model.slice(0, NAME_MAX) : undefined
      return { ...base, kind: 'tool_call', ...call, startsSubagent, ...some({ subagentModel }) }
    }
    case 'PermissionRequest':
      return { ...base, kind: 'permission_prompt', ...tool() }
    case 'PostToolUse':
      return { ...base, kind: 'tool_done', ...tool(), ok: true }
    case 'PostToolUseFailure':
      return { ...base, kind: 'tool_done', ...tool(), ok: false }
    case 'SessionStart': {
      const source = optional(fields, 'source', NAME_MAX) ?? 'unknown'
      return { ...base, kind: 'session_start', source, ...some({ model: optional(fields, 'model', NAME_MAX) }) }
    }
    case 'SessionEnd':
      return { ...base, kind: 'session_end', reason: optional(fields, 'reason', NAME_MAX) ?? 'unknown' }
    case 'UserPromptSubmit':
      return { ...base, kind: 'prompt' }
    case 'Stop':
    case 'StopFailure':
      return { ...base, kind: 'turn_end' }
    case 'SubagentStart':
      return { ...base, kind: 'subagent_start' }
    case 'SubagentStop':
      return { ...base, kind: 'subagent_end' }
    default:
      return { ...base, kind: 'other', name }
  }
}

/**
 * Reads one hook body. Unknown fields and unknown events are fine (newer versions); a missing or odd required field is
 * a failure that names it. Tool input (but the subagent's model), prompts and messages are dropped here.
 * `nowMs` is when the bytes arrived, milliseconds since the epoch.
 */
export function parseClaudeHook(bytes: Uint8Array, nowMs: number, origin: HookOrigin = {}): HookEvent | ParseFailure {
  const failed = (reason: ParseFailure['reason'], field?: string): ParseFailure => ({
    kind: 'parse_failure',
    reason,
    ...(field === undefined ? {} : { field }),
    sizeBytes: bytes.length,
  })
  if (bytes.length > HOOK_BODY_MAX) return failed('too_large')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return failed('not_utf8')
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return failed('not_json')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return failed('not_object')
  try {
    return readEvent(parsed as Fields, nowMs, origin)
  } catch (error) {
    if (error instanceof Unfit) return failed(error.reason, error.field)
    throw error
  }
}

/** Of a command hook's environment, which also holds API keys, only these two names are read. */
export function originFromEnv(env: Readonly<Record<string, string | undefined>>): HookOrigin {
  return {
    entrypoint: env.CLAUDE_CODE_ENTRYPOINT || undefined,
    attended: attendedFrom(env.CLAUDE_CODE_SESSION_ATTENDED),
  }
}

const attendedFrom = (value: unknown) => (value === '1' ? true : value === '0' ? false : undefined)

export const ENTRYPOINT_HEADER = 'X-Holdpoint-Entrypoint'
/** Set by our own command hook only: the client fills it empty in an http hook (measured). */
const ATTENDED_HEADER = 'X-Holdpoint-Attended'

/** `sdk-cli` is a run without a person; other entry points say nothing about who is there. */
export function originFromHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): HookOrigin {
  const value = headers[ENTRYPOINT_HEADER.toLowerCase()]
  const entrypoint = typeof value === 'string' && value !== '' ? value.slice(0, NAME_MAX) : undefined
  const attended = entrypoint === 'sdk-cli' ? false : attendedFrom(headers[ATTENDED_HEADER.toLowerCase()])
  return { entrypoint, attended }
}
