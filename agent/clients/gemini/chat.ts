/**
 * Gemini CLI's chat records to usage. Pure: bytes and prices come in, a state that is plain JSON goes out. The format is the
 * client's own and moves, so everything is read leniently; what is not understood is skipped. No text leaves this file.
 */

import {
  BUFFER_TOOLS,
  count,
  eachLineWith,
  idOf,
  isObject,
  type Json,
  marker,
  momentOf,
} from '#agent/clients/json-lines.ts'
import type { FileMark, WholeMark } from '#agent/clients/record-file.ts'
import { countUsage, emptyTally, type FoundUsage, settle, type UsageTally } from '#agent/clients/tally.ts'
import type { PriceRecord, SeenToolResult, SeenToolUse, UsageState } from '#agent/clients/usage-source.ts'
import type { UsageTokens } from '#core/pricing.ts'
import { UNKNOWN_MODEL } from '#core/usage/bucket.ts'
import { fromInclusive } from '#core/usage/convention.ts'

export type GeminiUsageState = UsageState &
  UsageTally & {
    client: 'gemini'
    rateCard: string
    /** Names of the folders below `tmp` where the session was found. */
    folders: string[]
    /** By path below `tmp`: files that grow, and files that are written anew. */
    files: Record<string, FileMark>
    whole: Record<string, WholeMark>
    model?: string
    lastAtMs: number
  }

export const emptyState = (rateCard: string): GeminiUsageState => ({
  ...emptyTally(),
  v: 1,
  client: 'gemini',
  rateCard,
  folders: [],
  files: {},
  whole: {},
  lastAtMs: 0,
})

/** A state without what was counted: where each file was read to, and no more. */
export const marksOf = ({ rateCard, folders, files, whole, model, lastAtMs }: GeminiUsageState): GeminiUsageState => ({
  ...emptyState(rateCard),
  folders,
  files,
  whole,
  lastAtMs,
  ...(model === undefined ? {} : { model }),
})

/**
 * The recorded counts on disjoint axes. The input holds the cached ones; thoughts stand beside the output and what tools brought
 * beside the input. A gateway may count thoughts or tools within them: then the recorded total says so, being that sum exactly.
 */
export function usageTokens(tokens: Json): UsageTokens {
  const [input, output, total] = [count(tokens.input), count(tokens.output), count(tokens.total)]
  const [thoughts, tool] = [count(tokens.thoughts), count(tokens.tool)]
  const ways: [number, number][] = [
    [thoughts, tool],
    [0, tool],
    [thoughts, 0],
    [0, 0],
  ]
  const [beside, brought] = ways.find(([t, u]) => input + output + t + u === total) ?? [thoughts, tool]
  return fromInclusive({ input: input + brought, cacheRead: count(tokens.cached), output: output + beside })
}

/** How a subagent hands back its result: no call that is judged. */
export const SUBAGENT_END = 'complete_task'

export type FoundChat = FoundUsage & { toolUses: SeenToolUse[]; toolResults: SeenToolResult[] }
type Context = {
  state: GeminiUsageState
  found: FoundChat
  price: PriceRecord
  sessionId: string
  agentId?: string | undefined
  cwd?: string | undefined
}

const OUTCOMES: Readonly<Record<string, SeenToolResult['outcome']>> = {
  success: 'ran',
  // a refusal and a failure look alike: that it ran is told of neither
  error: 'refused',
  cancelled: 'declined',
}

/** The calls of a response, which are recorded once all of them have ended. */
function readCalls({ found, agentId }: Context, calls: unknown, saidMs: number): void {
  for (const call of Array.isArray(calls) ? calls : []) {
    if (!isObject(call)) continue
    const [toolUseId, toolName] = [idOf(call.id), idOf(call.name)]
    const outcome = OUTCOMES[String(call.status)]
    if (toolUseId === undefined || toolName === undefined || toolName === SUBAGENT_END || outcome === undefined)
      continue
    const atMs = momentOf(call.timestamp) ?? saidMs
    found.toolUses.push({ toolUseId, toolName, atMs, ...(agentId === undefined ? {} : { agentId }) })
    found.toolResults.push({ toolUseId, outcome, atMs })
  }
}

function readMessage(context: Context, message: unknown): void {
  if (!isObject(message)) return
  readCalls(context, message.toolCalls, context.state.lastAtMs)
  readTokens(context, message)
}

function readTokens({ state, found, price, sessionId, agentId, cwd }: Context, message: Json): void {
  if (!isObject(message.tokens)) return
  const atMs = momentOf(message.timestamp) ?? state.lastAtMs
  state.lastAtMs = Math.max(state.lastAtMs, atMs)
  const recorded = idOf(message.model)
  if (agentId === undefined && recorded !== undefined) state.model = recorded
  countUsage(state, found, price, {
    // the client's own id of the message: it records none of the provider's
    key: idOf(message.id) ?? `${sessionId} ${agentId ?? ''} ${atMs}`,
    model: recorded ?? state.model ?? UNKNOWN_MODEL,
    atMs,
    tokens: usageTokens(message.tokens),
    ...(agentId === undefined ? {} : { agentId }),
    ...(cwd === undefined ? {} : { cwd }),
  })
}

function readMessages(context: Context, record: Json): void {
  if (Array.isArray(record.messages)) for (const message of record.messages) readMessage(context, message)
}

// text that quotes these carries backslashes before the quotes
const MARKERS = [marker('"tokens":'), marker('"toolCalls":')]

/** Reads the whole lines of `bytes` into the state and what was found; returns how many bytes they were. */
export function readLines(context: Context, bytes: Buffer): number {
  const read = eachLineWith(MARKERS, bytes, BUFFER_TOOLS, line => {
    readMessage(context, line)
    readMessages(context, line)
    // the history as it was compressed: the same messages under their ids
    if (isObject(line.$set)) readMessages(context, line.$set)
  })
  settle(context.state, context.found)
  return read
}

/** Reads a conversation that is one JSON document, as versions before wrote it; nothing where it is none, or not yet. */
export function readDocument(context: Context, bytes: Buffer): void {
  let document: unknown
  try {
    document = JSON.parse(bytes.toString('utf8'))
  } catch {
    return
  }
  if (isObject(document)) readMessages(context, document)
  settle(context.state, context.found)
}
