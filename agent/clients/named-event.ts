/** Events under the names that Claude Code began with and others have taken over. Pure. */
import type { HookEvent, ToolCall } from './adapter.ts'
import { type Fields, optional } from './hook-body.ts'

type Base = Pick<HookEvent, 'sessionId' | 'atMs' | 'cwd'>
type Called = Pick<ToolCall, 'toolName' | 'toolUseId'>

/** What an event other than the pause point comes to; one of a newer version is kept by its name. `called` reads its call. */
export function namedEvent(name: string, base: Base, called: () => Called, fields: Fields): HookEvent {
  switch (name) {
    case 'PermissionRequest':
      return { ...base, kind: 'permission_prompt', ...called() }
    case 'PostToolUse':
      return { ...base, kind: 'tool_done', ...called(), ok: true }
    case 'PostToolUseFailure':
      return { ...base, kind: 'tool_done', ...called(), ok: false }
    case 'SessionStart':
      return { ...base, kind: 'session_start', source: optional(fields, 'source') ?? 'unknown' }
    case 'SessionEnd':
      return { ...base, kind: 'session_end', reason: optional(fields, 'reason') ?? 'unknown' }
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
