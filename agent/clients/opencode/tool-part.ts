/** Tool calls as opencode's records have them, to be compared with what was judged. Pure; what went in or came out is left. */

import { count, idOf, isObject, type Json } from '#agent/clients/json-lines.ts'
import type { SeenToolResult, SeenToolUse } from '#agent/clients/usage-source.ts'
import { isCopy, type StoredMessage, type StoredTool } from './message.ts'
import { UNJUDGED } from './plugin/installed.ts'
import { toolUseIdOf } from './tool-use.ts'

/** In the order in which the client writes them. */
const HEAD =
  /^\{"type":"tool","tool":"([^"\\]{1,200})","callID":"([^"\\]{1,200})","state":\{"status":"(pending|running|completed|error)"/

/** A tool part from the beginning of its text; the state itself stays empty. */
export function toolFromHead(id: string, head: string): StoredTool | undefined {
  const [, tool, callId, status] = HEAD.exec(head) ?? []
  return tool && callId && status ? { id, tool, callId, status, state: {} } : undefined
}

export function toolFromPart(id: string, part: Json | undefined): StoredTool | undefined {
  if (part?.type !== 'tool') return undefined
  const [tool, callId] = [idOf(part.tool), idOf(part.callID)]
  const state = isObject(part.state) ? part.state : {}
  // run by whoever sells the model, where no hook is
  const isElsewhere = isObject(part.metadata) && part.metadata.providerExecuted === true
  return tool && callId && !isElsewhere ? { id, tool, callId, status: String(state.status), state } : undefined
}

const SUBAGENT_TOOL = 'task'
/** What stands for a call of a tool that is not there. */
const INVALID_TOOL = 'invalid'
/** The client's own id of a call that no model has asked for (ULID). */
const OWN_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/

/** A command that starts a subagent goes through the hook under the part's id. */
const hookIdOf = ({ id, tool, callId }: StoredTool): string =>
  toolUseIdOf(tool === SUBAGENT_TOOL && OWN_ID.test(callId) ? id : callId)

/** Why a call did not run, in the client's words (1.18) and ours. What a tool itself says when it fails is none of these. */
const REFUSALS: readonly [RegExp, SeenToolResult['outcome']][] = [
  [/^The user rejected permission to use this specific tool call/, 'declined'],
  [/^The user has specified a rule which prevents you from using this specific tool call/, 'refused'],
]

function outcomeOf({ tool, status, state }: StoredTool): SeenToolResult['outcome'] | undefined {
  if (status !== 'completed' && status !== 'error') return undefined
  if (tool === INVALID_TOOL) return 'refused'
  if (status === 'completed') return 'ran'
  const error = typeof state.error === 'string' ? state.error : ''
  if (error.startsWith(UNJUDGED)) return 'refused'
  return REFUSALS.find(([words]) => words.test(error))?.[1] ?? 'ran'
}

/** The calls of a message and how they ended. A copy that a fork has made tells of none: they were another session's. */
export function toolsOf({ id, message, tools }: StoredMessage): { uses: SeenToolUse[]; results: SeenToolResult[] } {
  const times = isObject(message.time) ? message.time : {}
  const created = count(times.created)
  const isCopied = created !== 0 && isCopy(id, created, count(times.completed))
  const uses: SeenToolUse[] = []
  const results: SeenToolResult[] = []
  for (const part of isCopied ? [] : tools) {
    const time = isObject(part.state.time) ? part.state.time : {}
    const toolUseId = hookIdOf(part)
    const atMs = count(time.start) || created
    const outcome = outcomeOf(part)
    uses.push({ toolUseId, toolName: part.tool, atMs })
    if (outcome !== undefined) results.push({ toolUseId, outcome, atMs: count(time.end) || atMs })
  }
  return { uses, results }
}
