/**
 * Copilot's event lines to usage. Pure: bytes and prices come in, a state that is plain JSON goes out. The format is the
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
  pathOf,
} from '#agent/clients/json-lines.ts'
import type { FileMark } from '#agent/clients/record-file.ts'
import { countUsage, emptyTally, type FoundUsage, settle, type UsageTally } from '#agent/clients/tally.ts'
import type { PriceRecord, SeenToolResult, SeenToolUse, UsageRecord, UsageState } from '#agent/clients/usage-source.ts'
import { PRICE_AXES, PROVIDERS, type UsageTokens } from '#core/pricing.ts'
import { UNKNOWN_MODEL } from '#core/usage/bucket.ts'
import { fromInclusive } from '#core/usage/convention.ts'

/** Sums of one model: calls, and input (cached ones among them), cache reads, cache writes and output. */
type Sums = [number, number, number, number, number]
const NO_SUMS: Sums = [0, 0, 0, 0, 0]

export type CopilotUsageState = UsageState &
  UsageTally & {
    client: 'copilot'
    rateCard: string
    file?: FileMark
    cwd?: string
    model?: string
    lastAtMs: number
    /** Whether the run under way has told of its calls one by one. */
    isItemised: boolean
    /** Sums by model at the newest run's end. */
    ended?: Record<string, Sums>
  }

export const emptyState = (rateCard: string): CopilotUsageState => ({
  ...emptyTally(),
  v: 1,
  client: 'copilot',
  rateCard,
  lastAtMs: 0,
  isItemised: false,
})

/** A state without what was counted: where the file was read to and what its reading goes on from. */
export function marksOf({ rateCard, file, cwd, model, lastAtMs, isItemised, ended }: CopilotUsageState) {
  return {
    ...emptyState(rateCard),
    ...(file === undefined ? {} : { file }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    lastAtMs,
    isItemised,
    ...(ended === undefined ? {} : { ended }),
  }
}

/** Before a file that was read is read from its start again. */
export function startOver(state: CopilotUsageState): void {
  state.isItemised = false
  delete state.ended
}

/** Summaries of more calls than this are spread over so many. */
const SPREAD_MAX = 10_000
/** Models of one summary. */
const MODELS_MAX = 100
const HOUR_S = 3600

/** GitHub writes a dot where Anthropic's own ids have a dash; it is the same model, and only these spellings are. */
const DOTTED = /^claude-(opus|sonnet|haiku)-(\d{1,2})\.(\d{1,2})$/
const modelOf = (recorded: unknown): string | undefined => idOf(recorded)?.replace(DOTTED, 'claude-$1-$2-$3')

/** Counts whose input holds everything that was read and written, cached or not. */
function tokensOf(usage: Json): UsageTokens {
  const tokens = fromInclusive({
    input: count(usage.inputTokens),
    cacheRead: count(usage.cacheReadTokens),
    cacheWrite: count(usage.cacheWriteTokens),
    output: count(usage.outputTokens),
  })
  return count(usage.cacheTtlSeconds) < HOUR_S
    ? tokens
    : { ...tokens, cacheWrite5m: 0, cacheWrite1h: tokens.cacheWrite5m }
}

const sumsOf = (metric: unknown): Sums => {
  const { requests, usage } = isObject(metric) ? metric : {}
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = isObject(usage) ? usage : {}
  const calls = isObject(requests) ? count(requests.count) : 0
  return [calls, count(inputTokens), count(cacheReadTokens), count(cacheWriteTokens), count(outputTokens)]
}

/**
 * Who is paid, where the record says so: a provider that the person has a key of. A model on the machine itself may stand for
 * anything, and whether GitHub's plan covers a call of its own is not recorded.
 */
function payerOf({ isByok, byokKind, modelProvider }: Json): Pick<UsageRecord, 'provider' | 'covered'> {
  if (isByok !== true) return {}
  const provider = PROVIDERS.find(name => name !== 'other' && name === modelProvider)
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(byokKind === 'remote_user' ? { covered: 'metered' } : {}),
  }
}

/** How the agent says that its work is done: no call that is judged. */
export const WORK_END = 'task_complete'

export type FoundEvents = FoundUsage & { toolUses: SeenToolUse[]; toolResults: SeenToolResult[] }
type Context = { state: CopilotUsageState; found: FoundEvents; price: PriceRecord; sessionId: string }
type Beside = Pick<UsageRecord, 'atMs'> & Partial<UsageRecord>

/** One call, told of by itself. */
function readCall({ state, found, price, sessionId }: Context, line: Json, usage: Json, beside: Beside): void {
  state.isItemised = true
  const model = modelOf(usage.model) ?? UNKNOWN_MODEL
  const accounting = isObject(usage.accounting) ? usage.accounting : {}
  const key = idOf(accounting.usageId) ?? idOf(usage.apiCallId) ?? idOf(line.id) ?? `${sessionId} ${beside.atMs}`
  if (beside.agentId === undefined) state.model = model
  countUsage(state, found, price, { ...beside, key, model, tokens: tokensOf(usage), ...payerOf(usage) })
}

/** Compacting is a call of its own that no other event tells of. Older versions wrote shorter names. */
function readCompaction({ state, found, price, sessionId }: Context, line: Json, data: Json, beside: Beside): void {
  const used = isObject(data.compactionTokensUsed) ? data.compactionTokensUsed : {}
  const model = modelOf(used.model) ?? modelOf(data.model) ?? state.model ?? UNKNOWN_MODEL
  const key = idOf(data.compactionAttemptId) ?? idOf(line.id) ?? `${sessionId} ${beside.atMs}`
  const tokens = tokensOf({
    inputTokens: used.inputTokens ?? used.input,
    cacheReadTokens: used.cacheReadTokens ?? used.cachedInput,
    cacheWriteTokens: used.cacheWriteTokens,
    outputTokens: used.outputTokens ?? used.output,
  })
  const partial = data.success === false ? { partial: true } : {}
  countUsage(state, found, price, { ...beside, key: `compaction ${key}`, model, tokens, ...partial })
}

/**
 * The end of a run by versions that tell of no call by itself: sums by model. Since some version they go on from the run before
 * (they name the size of the events file since then) and hold what was counted at its end; before, each run began at nothing.
 */
function readEnd({ state, found, price, sessionId }: Context, line: Json, data: Json, beside: Beside): void {
  if (!isObject(data.modelMetrics)) return
  const ended: Record<string, Sums> = {}
  for (const [name, metric] of Object.entries(data.modelMetrics).slice(0, MODELS_MAX)) {
    const model = modelOf(name) ?? UNKNOWN_MODEL
    ended[model] = sumsOf(metric).map((n, i) => n + (ended[model]?.[i] ?? 0)) as Sums
  }
  const before = state.ended ?? {}
  const goesOn =
    data.eventsFileSizeBytes !== undefined &&
    Object.entries(before).every(([model, sums]) => sums.every((n, i) => n <= (ended[model]?.[i] ?? 0)))
  state.ended = ended
  if (state.isItemised || isObject(data.accountingSnapshot)) return
  const key = idOf(line.id) ?? `${sessionId} ${beside.atMs}`
  for (const [model, sums] of Object.entries(ended)) {
    const was = goesOn ? (before[model] ?? NO_SUMS) : NO_SUMS
    const [calls, input, cacheRead, cacheWrite, output] = sums.map((n, i) => n - was[i]!) as Sums
    const tokens = fromInclusive({ input, cacheRead, cacheWrite, output })
    spread(tokens, Math.min(Math.max(calls, 1), SPREAD_MAX)).forEach((part, i) => {
      countUsage(state, found, price, { ...beside, key: `${key} ${model} ${i}`, model, tokens: part })
    })
  }
}

/** A sum as so many calls of one size: their number counts, and none looks like one of a dearer, longer context. */
function spread(tokens: UsageTokens, calls: number): UsageTokens[] {
  return Array.from({ length: calls }, (_, i) => {
    const part = { ...tokens }
    for (const axis of PRICE_AXES) part[axis] = Math.floor(tokens[axis] / calls) + (i < tokens[axis] % calls ? 1 : 0)
    return part
  })
}

/** A call is named before its hook is asked, whether or not it will run. */
function readToolUse({ toolUses }: FoundEvents, { toolCallId, toolName }: Json, { atMs, agentId }: Beside): void {
  const [toolUseId, name] = [idOf(toolCallId), idOf(toolName)]
  if (toolUseId !== undefined && name !== undefined && name !== WORK_END)
    toolUses.push({ toolUseId, toolName: name, atMs, ...(agentId === undefined ? {} : { agentId }) })
}

/** What did not succeed may have been refused, by a hook or by the client itself: that it ran is told of none of those. */
function readResult({ toolResults }: FoundEvents, { toolCallId, success }: Json, { atMs }: Beside): void {
  const toolUseId = idOf(toolCallId)
  if (toolUseId !== undefined) toolResults.push({ toolUseId, outcome: success === true ? 'ran' : 'refused', atMs })
}

function readLine(context: Context, line: Json): void {
  const { state, found } = context
  if (!isObject(line.data)) return
  const { data } = line
  const atMs = momentOf(line.timestamp) ?? state.lastAtMs
  state.lastAtMs = Math.max(state.lastAtMs, atMs)
  const agentId = idOf(line.agentId)
  const { cwd } = state
  const beside = { atMs, ...(agentId === undefined ? {} : { agentId }), ...(cwd === undefined ? {} : { cwd }) }
  switch (line.type) {
    case 'session.start':
    case 'session.resume': {
      const place = isObject(data.context) ? pathOf(data.context.cwd) : undefined
      if (place !== undefined) state.cwd = place
      if (agentId === undefined) state.isItemised = false
      return
    }
    case 'session.usage_record':
      if (isObject(data.usage)) readCall(context, line, data.usage, beside)
      return
    case 'tool.execution_start':
      readToolUse(found, data, beside)
      return
    case 'tool.execution_complete':
      readResult(found, data, beside)
      return
    case 'session.compaction_complete':
      readCompaction(context, line, data, beside)
      return
    case 'session.shutdown':
      readEnd(context, line, data, beside)
      state.isItemised = false
  }
}

const MARKERS = [
  ...['start', 'resume', 'usage_record', 'compaction_complete', 'shutdown'].map(name => `"session.${name}"`),
  '"tool.execution_start"',
  '"tool.execution_complete"',
].map(marker)

/** Reads the whole lines of `bytes` into the state and what was found; returns how many bytes they were. */
export function readEvents(context: Context, bytes: Buffer): number {
  const read = eachLineWith(MARKERS, bytes, BUFFER_TOOLS, line => readLine(context, line))
  settle(context.state, context.found)
  return read
}
