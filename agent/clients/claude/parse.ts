/** Claude Code's hook input to a `HookEvent`. Pure. Only the fields named here leave this file. */
import type { HookEvent, HookOrigin, ParseFailure } from '#agent/clients/adapter.ts'
import {
  type Fields,
  inputText,
  NAME_MAX,
  optional,
  optionalId,
  PATH_MAX,
  readHookBody,
  required,
  requiredId,
  some,
} from '#agent/clients/hook-body.ts'
import { namedEvent } from '#agent/clients/named-event.ts'

/** The subagent tool is `Agent` in hooks; older versions and models call it `Task`. */
const SUBAGENT_TOOLS: ReadonlySet<string> = new Set(['Agent', 'Task'])

function readEvent(fields: Fields, nowMs: number, origin: HookOrigin): HookEvent {
  const name = required(fields, 'hook_event_name')
  const base = {
    sessionId: requiredId(fields, 'session_id'),
    atMs: nowMs,
    cwd: required(fields, 'cwd', PATH_MAX),
    ...some({
      transcriptPath: optional(fields, 'transcript_path', PATH_MAX),
      agentId: optionalId(fields, 'agent_id'),
      agentType: optional(fields, 'agent_type'),
      model: name === 'SessionStart' ? optional(fields, 'model') : undefined,
      entrypoint: origin.entrypoint,
      attended: origin.attended,
    }),
  }
  const tool = () => ({
    toolName: required(fields, 'tool_name'),
    ...some({ toolUseId: optionalId(fields, 'tool_use_id') }),
  })
  if (name !== 'PreToolUse') return namedEvent(name, base, tool, fields)
  const call = tool()
  const startsSubagent = SUBAGENT_TOOLS.has(call.toolName)
  const subagentModel = startsSubagent ? inputText(fields.tool_input, 'model') : undefined
  return { ...base, kind: 'tool_call', ...call, startsSubagent, ...some({ subagentModel }) }
}

/**
 * Reads one hook body. Unknown fields and unknown events are fine (newer versions); a missing or odd required field is
 * a failure that names it. Tool input (but the subagent's model), prompts and messages are dropped here.
 * `nowMs` is when the bytes arrived, milliseconds since the epoch.
 */
export const parseClaudeHook = (bytes: Uint8Array, nowMs: number, origin: HookOrigin = {}): HookEvent | ParseFailure =>
  readHookBody(bytes, fields => readEvent(fields, nowMs, origin))

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
