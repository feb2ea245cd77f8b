/** Copilot CLI's hook input to a `HookEvent`. Only the fields named here leave this file. */
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
import { Lineage } from '#agent/clients/lineage.ts'
import { WORK_END } from './events.ts'

/** The tool that starts a subagent, and may name its model. */
const SUBAGENT_TOOL = 'task'

/** A subagent's own events bear its own session id; what started it stands beside. */
const lineage = new Lineage()

function readEvent(fields: Fields, nowMs: number, origin: HookOrigin): HookEvent {
  // its own JSON names no event in this spelling of the hooks: our program was told which one it is for
  const name = optional(fields, 'hook_event_name') ?? origin.event ?? required(fields, 'hook_event_name')
  const own = requiredId(fields, 'sessionId')
  const agentId = optionalId(fields, 'agentId')
  const parent = optionalId(fields, 'parentAgentId')
  const base = {
    sessionId: agentId !== undefined && parent !== undefined ? lineage.note(agentId, parent) : lineage.rootOf(own),
    atMs: nowMs,
    cwd: required(fields, 'cwd', PATH_MAX),
    ...some({
      transcriptPath: optional(fields, 'transcriptPath', PATH_MAX),
      agentId,
      agentType: optional(fields, 'agentType'),
    }),
  }
  const isSubagent = agentId !== undefined
  switch (name) {
    case 'preToolUse': {
      const toolName = required(fields, 'toolName')
      // refused, an agent that works by itself would only go on
      if (toolName === WORK_END) return { ...base, kind: 'other', name: toolName }
      const startsSubagent = toolName === SUBAGENT_TOOL
      const subagentModel = startsSubagent ? inputText(fields.toolArgs, 'model') : undefined
      return { ...base, kind: 'tool_call', toolName, startsSubagent, ...some({ subagentModel }) }
    }
    case 'postToolUse':
      return { ...base, kind: 'tool_done', toolName: required(fields, 'toolName'), ok: true }
    case 'postToolUseFailure':
      return { ...base, kind: 'tool_done', toolName: required(fields, 'toolName'), ok: false }
    case 'permissionRequest':
      return { ...base, kind: 'permission_prompt', toolName: required(fields, 'toolName') }
    case 'sessionStart':
      return { ...base, kind: 'session_start', source: optional(fields, 'source') ?? 'unknown' }
    case 'sessionEnd':
      return { ...base, kind: 'session_end', reason: optional(fields, 'reason') ?? 'unknown' }
    case 'userPromptSubmitted':
      return { ...base, kind: isSubagent ? 'subagent_start' : 'prompt' }
    case 'agentStop':
      return { ...base, kind: isSubagent ? 'subagent_end' : 'turn_end' }
    case 'subagentStart':
      return { ...base, kind: 'subagent_start' }
    case 'subagentStop':
      return { ...base, kind: 'subagent_end' }
    default:
      return { ...base, kind: 'other', name: name.slice(0, NAME_MAX) }
  }
}

/**
 * Reads one hook body. Unknown fields and unknown events are fine (newer versions); a missing or odd required field is a failure
 * that names it. A call has no id there. What a tool is given (but the subagent's model) and answers, and prompts, are dropped
 * here. `nowMs` is when the bytes arrived, milliseconds since the epoch.
 */
export const parseCopilotHook = (bytes: Uint8Array, nowMs: number, origin: HookOrigin = {}): HookEvent | ParseFailure =>
  readHookBody(bytes, fields => readEvent(fields, nowMs, origin))
