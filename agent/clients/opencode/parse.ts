/** What our own module in opencode tells to a `HookEvent`. Pure. */
import type { HookEvent, ParseFailure } from '#agent/clients/adapter.ts'
import {
  type Fields,
  optional,
  optionalId,
  PATH_MAX,
  readHookBody,
  required,
  requiredId,
  some,
} from '#agent/clients/hook-body.ts'
import { namedEvent } from '#agent/clients/named-event.ts'
import { providerOf } from './providers.ts'
import { toolUseIdOf } from './tool-use.ts'

const SUBAGENT_TOOL = 'task'

/** `nowMs` is when the bytes arrived, milliseconds since the epoch. */
export const parseOpencodeHook = (bytes: Uint8Array, nowMs: number): HookEvent | ParseFailure =>
  readHookBody(bytes, fields => readEvent(fields, nowMs))

function readEvent(fields: Fields, nowMs: number): HookEvent {
  const name = required(fields, 'hook_event_name')
  const providerId = optional(fields, 'provider')
  const base = {
    sessionId: requiredId(fields, 'session_id'),
    atMs: nowMs,
    cwd: required(fields, 'cwd', PATH_MAX),
    ...some({
      agentId: optionalId(fields, 'agent_id'),
      agentType: optional(fields, 'agent_type'),
      model: optional(fields, 'model'),
      provider: providerId === undefined ? undefined : providerOf(providerId),
    }),
  }
  const tool = () => {
    const id = optional(fields, 'tool_use_id')
    return { toolName: required(fields, 'tool_name'), ...some({ toolUseId: id && toolUseIdOf(id) }) }
  }
  if (name !== 'PreToolUse') return namedEvent(name, base, tool, fields)
  const call = tool()
  const startsSubagent = call.toolName === SUBAGENT_TOOL
  const subagentModel = startsSubagent ? optional(fields, 'subagent_model') : undefined
  return { ...base, kind: 'tool_call', ...call, startsSubagent, ...some({ subagentModel }) }
}
