/**
 * Claude Code's transcript lines to usage, tool uses and their results. Pure: bytes and prices come in, a state that is
 * plain JSON goes out. The format is the client's own and moves, so everything is read leniently; what is not
 * understood is skipped. Text of prompts, answers and tools never leaves this file.
 */
import type { PriceRecord, SeenToolResult, SeenToolUse, UsageRecord, UsageState } from '#agent/clients/adapter.ts'
import type { UsageTokens } from '#core/pricing.ts'
import { splitWrites } from '#core/usage/convention.ts'

/** [model, requestId, atMs, input, cacheRead, cacheWrite5m, cacheWrite1h, output, webSearches] of one counted response. */
type Counted = [string, string, number, number, number, number, number, number, number]

export type FileMark = {
  /** `dev:ino` of the file that was read. */
  id: string
  /** Bytes read, up to and with the last whole line. */
  offset: number
  /** Digest of the last bytes before `offset`: another one means that the file was rewritten. */
  tail: string
  /** Set inside a line that is longer than is ever read: bytes are dropped up to its end. */
  skipping?: boolean
}

export type ClaudeUsageState = UsageState & {
  client: 'claude-code'
  rateCard: string
  /** Names of the folders below `projects` where the session was found. */
  folders: string[]
  /** By path below `projects`. */
  files: Record<string, FileMark>
  /** By usage key, in the order of arrival; the oldest are forgotten when there are too many. */
  counted: Record<string, Counted>
  countedSize: number
  /** Sum of what was counted, in pico-dollars (decimal). */
  cost: string
  /** The highest sum ever shown; undefined until one was read. */
  mark?: string
  unpriced: string[]
  model?: string
  lastAtMs: number
}

/** What one read found. `addedPicoUsd` is what the lines of the call under way added. */
export type Found = {
  records: Map<string, UsageRecord>
  toolUses: SeenToolUse[]
  toolResults: SeenToolResult[]
  addedPicoUsd: bigint
}
export const nothingFound = (): Found => ({ records: new Map(), toolUses: [], toolResults: [], addedPicoUsd: 0n })

/** Responses remembered against double counting: a hundred times a long session, about 5 MB. */
const COUNTED_MAX = 50_000
const PATH_MAX = 8192

export function emptyState(rateCard: string): ClaudeUsageState {
  return {
    v: 1,
    client: 'claude-code',
    rateCard,
    folders: [],
    files: {},
    counted: {},
    countedSize: 0,
    cost: '0',
    unpriced: [],
    lastAtMs: 0,
  }
}

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

type Json = Record<string, unknown>
const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v)
/** A count as it is used: whole, not negative; anything else counts as none. */
const count = (v: unknown): number => (Number.isSafeInteger(v) && (v as number) > 0 ? (v as number) : 0)
const idOf = (v: unknown): string | undefined => (typeof v === 'string' && v !== '' && v.length <= 200 ? v : undefined)

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

function combine(a: UsageTokens, b: UsageTokens, how: (x: number, y: number) => number): UsageTokens {
  return {
    input: how(a.input, b.input),
    cacheRead: how(a.cacheRead, b.cacheRead),
    cacheWrite5m: how(a.cacheWrite5m, b.cacheWrite5m),
    cacheWrite1h: how(a.cacheWrite1h, b.cacheWrite1h),
    output: how(a.output, b.output),
    webSearches: how(a.webSearches, b.webSearches),
  }
}
const sum = (x: number, y: number) => x + y
const isEmpty = (t: UsageTokens) =>
  t.input + t.cacheRead + t.cacheWrite5m + t.cacheWrite1h + t.output + t.webSearches === 0

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
  const named = speed === undefined || speed === 'standard' ? model : `${model} (${speed})`
  return [['', named, own], ...others]
}

const tokensOf = (c: Counted): UsageTokens => ({
  input: c[3],
  cacheRead: c[4],
  cacheWrite5m: c[5],
  cacheWrite1h: c[6],
  output: c[7],
  webSearches: c[8],
})

function countUsage(state: ClaudeUsageState, found: Found, price: PriceRecord, record: UsageRecord, requestId: string) {
  if (isEmpty(record.tokens)) return
  let { key } = record
  let before = state.counted[key]
  // one message id under two request ids is two responses (a gateway that reuses ids), both billed
  if (before && requestId !== '' && before[1] !== '' && before[1] !== requestId) {
    key = `${key}|${requestId}`
    before = state.counted[key]
  }
  const tokens = before ? combine(tokensOf(before), record.tokens, Math.max) : record.tokens
  if (before && isEmpty(combine(tokens, tokensOf(before), (x, y) => x - y))) return
  const atMs = before ? before[2] : record.atMs
  const entry: UsageRecord = { ...record, key, atMs, tokens, model: before ? before[0] : record.model }
  const now = price(entry)
  const was = before ? price({ model: before[0], atMs, tokens: tokensOf(before) }).picoUsd : 0n
  found.addedPicoUsd += now.picoUsd - was
  if (now.fallback && !state.unpriced.includes(entry.model) && state.unpriced.length < 100)
    state.unpriced.push(entry.model)
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, webSearches } = tokens
  state.counted[key] = [
    entry.model,
    requestId || before?.[1] || '',
    atMs,
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h,
    output,
    webSearches,
  ]
  if (!before && ++state.countedSize > COUNTED_MAX) {
    for (const oldest in state.counted) {
      delete state.counted[oldest]
      state.countedSize--
      break
    }
  }
  found.records.set(key, entry)
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
  const parsed = typeof line.timestamp === 'string' ? Date.parse(line.timestamp) : Number.NaN
  const atMs = Number.isNaN(parsed) ? state.lastAtMs : parsed
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
  const beside = {
    ...agent,
    ...(requestId === '' ? {} : { requestId }),
    ...(typeof line.cwd === 'string' && line.cwd !== '' && line.cwd.length <= PATH_MAX ? { cwd: line.cwd } : {}),
  }
  for (const [suffix, name, tokens] of usageByModel(model, message.usage))
    countUsage(state, found, price, { key: key + suffix, model: name, atMs, tokens, ...beside }, requestId)
}

const NEWLINE = 10
const encode = (s: string) => new TextEncoder().encode(s)
// Inside a JSON string these bytes would carry a backslash before the closing quote, so content cannot fake them.
const USAGE = encode('"usage":{')
const RESULT = encode('"tool_result"')
const TOOL_USE = encode('"tool_use"')

/** How to search bytes from an offset (-1 when absent) and to read them as UTF-8; Buffer's own are the fast ones. */
export type ByteTools = {
  find(bytes: Uint8Array, wanted: Uint8Array | number, from: number): number
  decode(bytes: Uint8Array, start: number, end: number): string
}

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
  const { find, decode } = context.tools
  const end = bytes.lastIndexOf(NEWLINE) + 1
  const next = [USAGE, RESULT, TOOL_USE].map(wanted => ({ wanted, at: -2 }))
  let start = 0
  while (start < end) {
    let hit = end
    for (const marker of next) {
      // a marker found once stays found until the reading has passed it
      if (marker.at < start && marker.at !== -1) marker.at = find(bytes, marker.wanted, start)
      if (marker.at !== -1 && marker.at < hit) hit = marker.at
    }
    if (hit >= end) break
    const lineStart = bytes.lastIndexOf(NEWLINE, hit) + 1
    const lineEnd = find(bytes, NEWLINE, hit)
    start = lineEnd + 1
    let line: unknown
    try {
      line = JSON.parse(decode(bytes, lineStart, lineEnd))
    } catch {
      continue
    }
    if (isObject(line)) readLine(state, found, line, context.price, context.agentId)
  }
  state.cost = (BigInt(state.cost) + found.addedPicoUsd).toString()
  found.addedPicoUsd = 0n
  return end
}
