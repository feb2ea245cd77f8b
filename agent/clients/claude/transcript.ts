/**
 * Claude Code's transcript lines to usage, tool uses and their results. Pure: bytes and prices come in, a state that is
 * plain JSON goes out. The format is the client's own and moves, so everything is read leniently; what is not
 * understood is skipped. Text of prompts, answers and tools never leaves this file.
 */

import {
  type ByteTools,
  count,
  eachLineWith,
  idOf,
  isObject,
  type Json,
  marker,
  momentOf,
  pathOf,
} from '#agent/clients/json-lines.ts'
import type { FileMark } from '#agent/clients/record-file.ts'
import { combine, countUsage, emptyTally, type FoundUsage, settle, type UsageTally } from '#agent/clients/tally.ts'
import type { PriceRecord, SeenToolResult, SeenToolUse, UsageState } from '#agent/clients/usage-source.ts'
import type { UsageTokens } from '#core/pricing.ts'
import { splitWrites } from '#core/usage/convention.ts'

export type ClaudeUsageState = UsageState &
  UsageTally & {
    client: 'claude-code'
    rateCard: string
    /** Names of the folders below `projects` where the session was found. */
    folders: string[]
    /** By path below `projects`. */
    files: Record<string, FileMark>
    model?: string
    lastAtMs: number
  }

/** What one read found. */
export type Found = FoundUsage & { toolUses: SeenToolUse[]; toolResults: SeenToolResult[] }
export const nothingFound = (): Found => ({ records: new Map(), toolUses: [], toolResults: [], addedPicoUsd: 0n })

export const emptyState = (rateCard: string): ClaudeUsageState => ({
  ...emptyTally(),
  v: 1,
  client: 'claude-code',
  rateCard,
  folders: [],
  files: {},
  lastAtMs: 0,
})

/** A state without what was counted: where each file was read to, and no more. */
export const marksOf = ({
  client,
  v,
  rateCard,
  folders,
  files,
  lastAtMs,
  model,
}: ClaudeUsageState): ClaudeUsageState => ({
  ...emptyState(rateCard),
  client,
  v,
  folders,
  files,
  lastAtMs,
  ...(model === undefined ? {} : { model }),
})

/** The provider's usage on disjoint axes. Its input leaves cache tokens out; the 5m/1h split may cover only a part. */
function usageTokens(usage: Json): UsageTokens {
  const split = isObject(usage.cache_creation) ? usage.cache_creation : {}
  const tools = isObject(usage.server_tool_use) ? usage.server_tool_use : {}
  return {
    input: count(usage.input_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    ...splitWrites(count(usage.cache_creation_input_tokens), {
      fiveMinutes: count(split.ephemeral_5m_input_tokens),
      oneHour: count(split.ephemeral_1h_input_tokens),
    }),
    output: count(usage.output_tokens),
    webSearches: count(tools.web_search_requests),
  }
}

const sum = (x: number, y: number) => x + y

/**
 * One response's usage by model. `iterations` (compaction, fall-backs, an advisor) are billed beside what the top
 * level shows: those of the same model are summed and the larger figure holds; those of another model stand alone.
 */
function usageByModel(model: string, usage: Json): [suffix: string, model: string, tokens: UsageTokens][] {
  let own = usageTokens(usage)
  const others: [string, string, UsageTokens][] = []
  if (Array.isArray(usage.iterations) && usage.iterations.length > 0) {
    let summed: UsageTokens | undefined
    usage.iterations.forEach((step, i) => {
      if (!isObject(step)) return
      const tokens = usageTokens(step)
      const other = idOf(step.model)
      if (other !== undefined && other !== model) others.push([`#${i}`, other, tokens])
      else summed = summed ? combine(summed, tokens, sum) : tokens
    })
    if (summed) own = combine(own, summed, Math.max)
  }
  // a faster speed has prices of its own, which the plain id must not stand for
  const speed = idOf(usage.speed)
  const named = speed === undefined || speed === 'standard' ? model : `${model}:${speed}`
  return [['', named, own], ...others]
}

/** The first version of which it was measured that a whole response carries `stop_details`. */
const TELLS_WHOLE = [2, 1, 332] as const

/** Whether a response's stream broke off: the client then makes up a reason for its stop, and has no details of it. */
function brokeOff({ version }: Json, message: Json): boolean {
  if (typeof message.stop_reason !== 'string' || 'stop_details' in message) return false
  const parts =
    typeof version === 'string' ? /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(version)?.slice(1).map(Number) : undefined
  const different = parts?.findIndex((part, i) => part !== TELLS_WHOLE[i])
  if (parts === undefined || different === undefined) return false
  return different === -1 || parts[different]! > TELLS_WHOLE[different]!
}

const DECLINED = /^The user doesn't want to (?:proceed with|take) this/

function readResult(line: Json, block: Json, atMs: number): SeenToolResult | undefined {
  const toolUseId = idOf(block.tool_use_id)
  if (toolUseId === undefined) return undefined
  const decision = isObject(line.permissionDecision) ? line.permissionDecision : {}
  const source = typeof decision.source === 'string' && /^[a-z_]{1,40}$/.test(decision.source) ? decision.source : ''
  const content = Array.isArray(block.content) ? (block.content[0] as Json | undefined)?.text : block.content
  const rejected = decision.decision === 'reject' || line.toolDenialKind !== undefined
  const declined =
    block.is_error === true &&
    (line.toolUseResult === 'User rejected tool use' ||
      (typeof content === 'string' && DECLINED.test(content)) ||
      (rejected && source.startsWith('user')))
  // a tool that does not exist, or input that does not fit: the client turns it back before any hook is asked
  const turnedBack =
    block.is_error === true &&
    typeof content === 'string' &&
    content.startsWith('<tool_use_error>') &&
    !decision.decision
  const outcome = declined ? 'declined' : rejected || turnedBack ? 'refused' : 'ran'
  return { toolUseId, outcome, atMs, ...(source ? { decidedBy: source } : {}) }
}

/** One line that holds a usage, a tool use or a tool's result. */
function readLine(state: ClaudeUsageState, found: Found, line: Json, price: PriceRecord, agentId: string | undefined) {
  const message = isObject(line.message) ? line.message : undefined
  if (!message) return
  const atMs = momentOf(line.timestamp) ?? state.lastAtMs
  state.lastAtMs = Math.max(state.lastAtMs, atMs)
  const agent = agentId === undefined ? {} : { agentId }
  const blocks = Array.isArray(message.content) ? (message.content as unknown[]).filter(isObject) : []
  if (line.type === 'user') {
    for (const block of blocks) {
      const result = block.type === 'tool_result' ? readResult(line, block, atMs) : undefined
      if (result) found.toolResults.push(result)
    }
    return
  }
  if (line.type !== 'assistant') return
  // history that a fork has copied: those calls were the other session's, and were judged there
  const isCopied = typeof line.requestSessionId === 'string' && line.requestSessionId !== line.sessionId
  for (const block of isCopied ? [] : blocks) {
    const toolUseId = block.type === 'tool_use' ? idOf(block.id) : undefined
    if (toolUseId !== undefined)
      found.toolUses.push({ toolUseId, toolName: idOf(block.name) ?? 'unknown', atMs, ...agent })
  }
  const model = idOf(message.model)
  const requestId = idOf(line.requestId) ?? ''
  const key = idOf(message.id) ?? requestId
  if (!isObject(message.usage) || model === undefined || model === '<synthetic>' || key === '') return
  if (agentId === undefined) state.model = model
  const cwd = pathOf(line.cwd)
  const beside = {
    ...agent,
    ...(brokeOff(line, message) ? { partial: true } : {}),
    ...(requestId === '' ? {} : { requestId }),
    ...(cwd === undefined ? {} : { cwd }),
  }
  for (const [suffix, name, tokens] of usageByModel(model, message.usage))
    countUsage(state, found, price, { key: key + suffix, model: name, atMs, tokens, ...beside })
}

// Inside a JSON string these bytes would carry a backslash before the closing quote, so content cannot fake them.
const MARKERS = [marker('"usage":{'), marker('"tool_result"'), marker('"tool_use"')]

/**
 * Reads the whole lines of `bytes` into `state` (taken over: do not use the old one again) and `found`. Returns how
 * many bytes were read: what follows the last newline is a line still being written and is left for the next call.
 */
export function readLines(
  state: ClaudeUsageState,
  found: Found,
  bytes: Uint8Array,
  context: { price: PriceRecord; tools: ByteTools; agentId?: string | undefined },
): number {
  const read = eachLineWith(MARKERS, bytes, context.tools, line =>
    readLine(state, found, line, context.price, context.agentId),
  )
  settle(state, found)
  return read
}
