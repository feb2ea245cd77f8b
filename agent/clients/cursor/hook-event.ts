/** Cursor's hook input, as its documents describe it, to a `HookEvent`. Only the fields named here leave this file. */
import type { HookEvent, ParseFailure } from '#agent/clients/adapter.ts'
import {
  type Fields,
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

/** The tool that starts a subagent. Which model that has is told at `subagentStart`, and held there. */
const SUBAGENT_TOOL = 'Task'

const lineage = new Lineage()

/** An id of a call that was made by whichever model answered: of unlike forms, and no part of a file's name. */
const callId = (fields: Fields, field: string): string | undefined =>
  optional(fields, field)
    ?.replace(/[^\w-]/g, '_')
    .slice(0, 128) || undefined

function folderOf(fields: Fields): string {
  const roots = fields.workspace_roots
  const root = Array.isArray(roots) && typeof roots[0] === 'string' ? roots[0].slice(0, PATH_MAX) : ''
  return optional(fields, 'cwd', PATH_MAX) || root
}

function readEvent(fields: Fields, nowMs: number): HookEvent {
  const name = required(fields, 'hook_event_name')
  const conversation = requiredId(fields, 'conversation_id')
  const parent = optionalId(fields, 'parent_conversation_id')
  const subagent = optionalId(fields, 'subagent_id')
  const sessionId =
    subagent !== undefined ? lineage.note(subagent, parent ?? conversation) : lineage.rootOf(parent ?? conversation)
  const agentId = subagent ?? (conversation === sessionId ? undefined : conversation)
  const base = {
    sessionId,
    atMs: nowMs,
    cwd: folderOf(fields),
    // whichever model it is, Cursor is who is paid
    provider: 'other',
    ...some({
      transcriptPath: optional(fields, 'transcript_path', PATH_MAX),
      model: optional(fields, 'model_id') ?? optional(fields, 'model'),
      agentId,
      agentType: optional(fields, 'subagent_type'),
      attended: fields.is_background_agent === true ? false : undefined,
    }),
  }
  const tool = () => ({
    toolName: required(fields, 'tool_name'),
    ...some({ toolUseId: callId(fields, 'tool_use_id') }),
  })
  switch (name) {
    case 'preToolUse':
      return { ...base, kind: 'tool_call', ...tool(), startsSubagent: false }
    case 'subagentStart':
      return {
        ...base,
        kind: 'tool_call',
        toolName: SUBAGENT_TOOL,
        startsSubagent: true,
        ...some({
          toolUseId: callId(fields, 'tool_call_id'),
          subagentModel: optional(fields, 'subagent_model') || undefined,
        }),
      }
    case 'postToolUse':
      return { ...base, kind: 'tool_done', ...tool(), ok: true }
    case 'postToolUseFailure':
      return { ...base, kind: 'tool_done', ...tool(), ok: false }
    case 'sessionStart':
      return { ...base, kind: 'session_start', source: 'startup' }
    case 'sessionEnd':
      return { ...base, kind: 'session_end', reason: optional(fields, 'reason') ?? 'unknown' }
    case 'beforeSubmitPrompt':
      return { ...base, kind: 'prompt' }
    case 'stop':
      return { ...base, kind: 'turn_end' }
    case 'subagentStop':
      return { ...base, kind: 'subagent_end' }
    default:
      return { ...base, kind: 'other', name: name.slice(0, NAME_MAX) }
  }
}

/**
 * Reads one hook body. Unknown fields and unknown events are fine (newer versions); a missing or odd required field is a failure
 * that names it. What tools are given and answer, prompts, and the person's mail address are dropped here. `nowMs` is when the bytes
 * arrived, milliseconds since the epoch.
 */
export const parseCursorHook = (bytes: Uint8Array, nowMs: number): HookEvent | ParseFailure =>
  readHookBody(bytes, fields => readEvent(fields, nowMs))
