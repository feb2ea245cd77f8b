/** Gemini CLI's hook input to a `HookEvent`. Pure. Only the fields named here leave this file. */
import type { HookEvent, ParseFailure } from '#agent/clients/adapter.ts'
import {
  type Fields,
  NAME_MAX,
  optional,
  PATH_MAX,
  readHookBody,
  required,
  requiredId,
  some,
} from '#agent/clients/hook-body.ts'
import { SUBAGENT_END } from './chat.ts'

/** The tool that starts a subagent. It names no model: the subagent's own definition does, or it has the session's. */
const SUBAGENT_TOOL = 'invoke_agent'

function readEvent(fields: Fields, nowMs: number): HookEvent {
  const name = required(fields, 'hook_event_name')
  const base = {
    sessionId: requiredId(fields, 'session_id'),
    atMs: nowMs,
    cwd: required(fields, 'cwd', PATH_MAX),
    // it speaks to nobody else
    provider: 'google',
    ...some({ transcriptPath: optional(fields, 'transcript_path', PATH_MAX) }),
  }
  switch (name) {
    case 'BeforeTool': {
      const toolName = required(fields, 'tool_name')
      // refused, a subagent would only ask its model again and again
      if (toolName === SUBAGENT_END) return { ...base, kind: 'subagent_end' }
      return { ...base, kind: 'tool_call', toolName, startsSubagent: toolName === SUBAGENT_TOOL }
    }
    case 'AfterTool': {
      const { error } = (fields.tool_response ?? {}) as { error?: unknown }
      const ok = error === undefined || error === null
      return { ...base, kind: 'tool_done', toolName: required(fields, 'tool_name'), ok }
    }
    case 'SessionStart':
      return { ...base, kind: 'session_start', source: optional(fields, 'source') ?? 'unknown' }
    case 'SessionEnd':
      return { ...base, kind: 'session_end', reason: optional(fields, 'reason') ?? 'unknown' }
    case 'BeforeAgent':
      return { ...base, kind: 'prompt' }
    case 'AfterAgent':
      return { ...base, kind: 'turn_end' }
    default:
      return { ...base, kind: 'other', name: name.slice(0, NAME_MAX) }
  }
}

/**
 * Reads one hook body. Unknown fields and unknown events are fine (newer versions); a missing or odd required field is a failure
 * that names it. A call has no id there, and nothing tells a subagent's call from the session's own. What a tool is given and
 * answers, prompts and whole model requests are dropped here. `nowMs` is when the bytes arrived, milliseconds since the epoch.
 */
export const parseGeminiHook = (bytes: Uint8Array, nowMs: number): HookEvent | ParseFailure =>
  readHookBody(bytes, fields => readEvent(fields, nowMs))
