/** Codex's hook input to a `HookEvent`. Pure. Only the fields named here leave this file. */
import type { HookEvent, ParseFailure } from '#agent/clients/adapter.ts'
import {
  type Fields,
  inputText,
  optional,
  optionalId,
  PATH_MAX,
  readHookBody,
  required,
  requiredId,
  some,
} from '#agent/clients/hook-body.ts'
import { namedEvent } from '#agent/clients/named-event.ts'

/** `spawn_agent`, `collaborationspawn_agent` (a namespace glued on), and the tool that starts one for each row of a file. */
const SUBAGENT_TOOL = /spawn_agents?(?:_on_csv)?$/
/** A call from within the model's own script: the records name the script's call in its stead until it has run. */
const NESTED = /^exec-[0-9a-f-]{36}$/
/** Ids of calls come from the model's server, whoever that is; one of another form is left out. */
const CALL_ID = /^[\x21-\x7e]{1,128}$/

function readEvent(fields: Fields, nowMs: number): HookEvent {
  const name = required(fields, 'hook_event_name')
  const base = {
    sessionId: requiredId(fields, 'session_id'),
    atMs: nowMs,
    cwd: required(fields, 'cwd', PATH_MAX),
    ...some({
      transcriptPath: optional(fields, 'transcript_path', PATH_MAX),
      agentId: optionalId(fields, 'agent_id'),
      agentType: optional(fields, 'agent_type'),
      model: optional(fields, 'model'),
    }),
  }
  const tool = () => {
    const { tool_use_id: id } = fields
    return {
      toolName: required(fields, 'tool_name'),
      ...(typeof id === 'string' && CALL_ID.test(id) ? { toolUseId: id } : {}),
    }
  }
  if (name !== 'PreToolUse') return namedEvent(name, base, tool, fields)
  const call = tool()
  const startsSubagent = SUBAGENT_TOOL.test(call.toolName)
  const subagentModel = startsSubagent ? inputText(fields.tool_input, 'model') : undefined
  const isNested = NESTED.test(call.toolUseId ?? '')
  return {
    ...base,
    kind: 'tool_call',
    ...call,
    startsSubagent,
    ...(isNested ? { isNested } : {}),
    ...some({ subagentModel }),
  }
}

/**
 * Reads one hook body. Unknown fields and unknown events are fine (newer versions); a missing or odd required field is a failure
 * that names it. A subagent's events carry the session of whoever started it. What a tool is given and answers (but a subagent's
 * model), prompts and messages are dropped here. `nowMs` is when the bytes arrived, milliseconds since the epoch.
 */
export const parseCodexHook = (bytes: Uint8Array, nowMs: number): HookEvent | ParseFailure =>
  readHookBody(bytes, fields => readEvent(fields, nowMs))
