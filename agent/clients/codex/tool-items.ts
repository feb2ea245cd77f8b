/** Calls of tools in Codex's session files: which a response asked for, and which of them ran. Pure. */

import { isObject, type Json, marker } from '#agent/clients/json-lines.ts'
import type { SeenToolResult, SeenToolUse } from '#agent/clients/usage-source.ts'

/** Calls of one thread that are still looked for: by id, the tool's name and when it was asked for. */
export type OpenCalls = {
  /** Of a response that is not in the cost yet. */
  asked?: Record<string, [string, number]>
  /** Of the newest response that is. */
  open?: Record<string, [string, number]>
}

export type FoundCalls = { toolUses: SeenToolUse[]; toolResults: SeenToolResult[] }

/** What an ended call leaves a line of. Commands that the person types at the prompt are no calls, nor is typing into one that runs. */
const RAN = ['CommandExecution', 'FileChange', 'McpToolCall', 'CollabAgentToolCall', 'SubAgentActivity', 'ImageView']
const COMMAND_SOURCES: readonly unknown[] = [undefined, null, 'agent', 'unified_exec_startup']
const CALL_ID = /^[\x21-\x7e]{1,128}$/
/** Far more calls than a response asks for. */
const CALLS_MAX = 1000

export const CALL_MARKERS = [
  marker('"type":"function_call"'),
  marker('"type":"custom_tool_call"'),
  marker('"type":"local_shell_call"'),
  ...RAN.map(type => marker(`"item":{"type":"${type}"`)),
]

const callIdOf = (value: unknown) => (typeof value === 'string' && CALL_ID.test(value) ? value : undefined)

/** A response names a call; it is in the cost only when the line about the response's tokens has come. */
export function noteCall(calls: OpenCalls, payload: Json, atMs: number): void {
  if (!['function_call', 'custom_tool_call', 'local_shell_call'].includes(String(payload.type))) return
  const id = callIdOf(payload.call_id)
  if (id === undefined || Object.keys(calls.asked ?? {}).length >= CALLS_MAX) return
  const name = typeof payload.name === 'string' ? payload.name.slice(0, 200) : String(payload.type)
  calls.asked = { ...calls.asked, [id]: [name, atMs] }
}

/** A response is in the cost: its calls are told, and what the one before asked for and did not run is over. */
export function noteCounted(calls: OpenCalls, found: FoundCalls, about: { atMs: number; agentId?: string }): void {
  const { atMs, agentId } = about
  for (const id of Object.keys(calls.open ?? {})) found.toolResults.push({ toolUseId: id, outcome: 'refused', atMs })
  const agent = agentId === undefined ? {} : { agentId }
  for (const [toolUseId, [toolName, askedMs]] of Object.entries(calls.asked ?? {}))
    found.toolUses.push({ toolUseId, toolName, atMs: askedMs, ...agent })
  if (calls.asked) calls.open = calls.asked
  else delete calls.open
  delete calls.asked
}

/** A call has run. One from within the model's own script is named here for the first time. */
export function noteRan(
  calls: OpenCalls,
  found: FoundCalls,
  item: unknown,
  about: { atMs: number; agentId?: string },
): void {
  if (!isObject(item) || !RAN.includes(String(item.type))) return
  if (item.type === 'CommandExecution' && !COMMAND_SOURCES.includes(item.source)) return
  // that a subagent has ended is nobody's call
  if (item.type === 'SubAgentActivity' && item.kind === 'completed') return
  const id = callIdOf(item.id)
  if (id === undefined) return
  const { atMs, agentId } = about
  const agent = agentId === undefined ? {} : { agentId }
  const [toolName, askedMs] = calls.open?.[id] ?? calls.asked?.[id] ?? [String(item.tool ?? item.type), atMs]
  found.toolUses.push({ toolUseId: id, toolName, atMs: askedMs, ...agent })
  found.toolResults.push({ toolUseId: id, outcome: 'ran', atMs })
  if (calls.open) delete calls.open[id]
}

/** Threads that a call has started: their files lie beside this one's. */
export function startedIn(item: unknown): string[] {
  if (!isObject(item)) return []
  const { receiver_thread_ids: receivers, agent_thread_id: agent } = item
  return [agent, ...(Array.isArray(receivers) ? receivers : [])].filter(
    (id): id is string => typeof id === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(id),
  )
}
