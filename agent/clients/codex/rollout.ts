/**
 * Lines of Codex's session files ("rollouts") to usage. Pure: bytes and prices come in, a state that is plain JSON goes out.
 * The format is the client's own and moves, so everything is read leniently; what is not understood is skipped. Text of
 * prompts, answers and tools never leaves this file.
 */

import {
  type ByteTools,
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
import type { PriceRecord, UsageRecord, UsageState } from '#agent/clients/usage-source.ts'
import type { UsageTokens } from '#core/pricing.ts'
import { areSound, providerName, UNKNOWN_MODEL } from '#core/usage/bucket.ts'
import { fromInclusive } from '#core/usage/convention.ts'
import { isCoveredByPlan, windowsIn } from './plan.ts'
import {
  CALL_MARKERS,
  type FoundCalls,
  noteCall,
  noteCounted,
  noteRan,
  type OpenCalls,
  startedIn,
} from './tool-items.ts'

/** Input, cached, written to the cache, output: as Codex adds them up over a thread. */
type Sum = [number, number, number, number]

/** What was read of one thread that the lines to come are to be understood by. */
export type Thread = OpenCalls & {
  id: string
  model?: string
  /** Provider as the configuration calls it. */
  provider?: string
  /** A speed other than the standard one. */
  tier?: string
  cwd?: string
  /** The turn under way, and the provider's searches of the web since its last response. */
  turn?: string
  searches?: number
  /** The newest account of the limits says that a plan covers the calls. */
  plan?: true
  /** Each response stands by itself, so that sums are not counted. */
  exact?: true
  /** Older versions: the thread's newest sum, and when the last line of a copied history was written. */
  sum?: Sum
  copiedMs?: number
}

export type CodexUsageState = UsageState &
  UsageTally & {
    client: 'codex'
    rateCard: string
    /** By name of the file: threads of one session, each in its own. */
    files: Record<string, FileMark>
    threads: Record<string, Thread>
    /** Threads that these have started and whose files were not found yet: when, and since when they are looked for. */
    started?: Record<string, [number, number]>
    model?: string
    lastAtMs: number
  }

export const emptyState = (rateCard: string): CodexUsageState => ({
  v: 1,
  client: 'codex',
  rateCard,
  files: {},
  threads: {},
  lastAtMs: 0,
  ...emptyTally(),
})

/** A state without what was counted. */
export const marksOf = ({ rateCard, files, threads, lastAtMs, model }: CodexUsageState): CodexUsageState => ({
  ...emptyState(rateCard),
  files,
  threads,
  lastAtMs,
  ...(model === undefined ? {} : { model }),
})

/** A copied history is written in one go, the first response of its own comes from a model. */
const COPY_GAP_MS = 1000

const MARKERS = [
  marker('"type":"session_meta"'),
  marker('"type":"turn_context"'),
  marker('"type":"thread_settings_applied"'),
  marker('"type":"token_usage_record"'),
  marker('"type":"token_count"'),
  marker('"type":"web_search_call"'),
  ...CALL_MARKERS,
]

/** A count as it stands there; NaN for what is none. Absent is none counted. */
const countOf = (v: unknown): number => (v === undefined || v === null ? 0 : typeof v === 'number' ? v : Number.NaN)

function sumOf(usage: Json): Sum {
  return [
    countOf(usage.input_tokens),
    countOf(usage.cached_input_tokens),
    countOf(usage.cache_write_input_tokens),
    countOf(usage.output_tokens),
  ]
}

/** OpenAI's input holds what was read from and written to the cache, its output what was reasoned. */
const tokensOf = ([input, cacheRead, cacheWrite, output]: Sum, webSearches: number): UsageTokens =>
  fromInclusive({ input, cacheRead, cacheWrite, output, webSearches })

/** The session that a file belongs to, from its first line: a subagent's names its parent's. */
export function sessionIn(line: unknown): string | undefined {
  if (!isObject(line) || line.type !== 'session_meta' || !isObject(line.payload)) return undefined
  const { session_id, parent_thread_id, id, source } = line.payload
  return idOf(session_id) ?? idOf(parent_thread_id) ?? spawnedBy(source) ?? idOf(id)
}

/** Older versions tell the parent of a subagent's thread in its source alone. */
function spawnedBy(source: unknown): string | undefined {
  const subagent = isObject(source) ? source.subagent : undefined
  const spawn = isObject(subagent) ? subagent.thread_spawn : undefined
  return isObject(spawn) ? idOf(spawn.parent_thread_id) : undefined
}

/** One file being read: `agentId` is the thread's id where it is a subagent's. */
class RolloutReader {
  constructor(
    private readonly state: CodexUsageState,
    private readonly found: FoundUsage & FoundCalls,
    private readonly price: PriceRecord,
    private readonly name: string,
    private readonly sessionId: string,
  ) {}

  private get thread(): Thread {
    // without a first line of its own, the thread is known by the file's name
    const { threads } = this.state
    threads[this.name] ??= { id: threadIdIn(this.name) ?? this.sessionId }
    return threads[this.name]!
  }

  read(line: Json): void {
    const { payload } = line
    if (!isObject(payload)) return
    const atMs = momentOf(line.timestamp) ?? this.state.lastAtMs
    this.state.lastAtMs = Math.max(this.state.lastAtMs, atMs)
    if (line.type === 'session_meta') this.readMeta(payload, atMs)
    else if (line.type === 'turn_context') this.readTurn(payload)
    else if (line.type === 'token_usage_record') this.readResponse(payload, atMs)
    else if (line.type === 'response_item' && payload.type === 'web_search_call') this.readSearch(payload)
    else if (line.type === 'response_item') noteCall(this.thread, payload, atMs)
    else if (line.type === 'event_msg' && payload.type === 'item_completed') this.readItem(payload, atMs)
    else if (line.type === 'event_msg' && payload.type === 'token_count') this.readCount(payload, atMs)
    else if (line.type === 'event_msg' && payload.type === 'thread_settings_applied') this.readSettings(payload)
  }

  private readMeta(payload: Json, atMs: number): void {
    const before = this.state.threads[this.name]
    const id = idOf(payload.id)
    if (before !== undefined) {
      // another thread's first line within the file: its history follows
      if (id !== before.id) before.copiedMs ??= atMs
      return
    }
    const thread = this.thread
    if (id !== undefined) thread.id = id
    if (idOf(payload.forked_from_id) !== undefined) thread.copiedMs = atMs
    set(thread, 'provider', idOf(payload.model_provider))
    set(thread, 'cwd', pathOf(payload.cwd))
  }

  private readTurn(payload: Json): void {
    const { thread } = this
    set(thread, 'model', idOf(payload.model) ?? thread.model)
    set(thread, 'cwd', pathOf(payload.cwd) ?? thread.cwd)
    // what was searched in a turn that another thread's history holds is not of this one's answers
    if (idOf(payload.turn_id) !== thread.turn) delete thread.searches
    set(thread, 'turn', idOf(payload.turn_id))
  }

  /** A step of the provider's own search; it charges for searching, not for opening what was found. */
  private readSearch({ action }: Json): void {
    if (isObject(action) && action.type === 'search') this.thread.searches = (this.thread.searches ?? 0) + 1
  }

  private readItem({ item }: Json, atMs: number): void {
    const agentId = this.thread.id === this.sessionId ? undefined : this.thread.id
    noteRan(this.thread, this.found, item, { atMs, ...(agentId === undefined ? {} : { agentId }) })
    for (const id of startedIn(item)) {
      const { threads, started = {} } = this.state
      if (id in started || Object.values(threads).some(thread => thread.id === id)) continue
      this.state.started = { ...started, [id]: [atMs, 0] }
    }
  }

  private readSettings({ thread_settings: settings }: Json): void {
    if (!isObject(settings)) return
    const { thread } = this
    set(thread, 'provider', idOf(settings.model_provider_id) ?? thread.provider)
    const tier = idOf(settings.service_tier)
    set(thread, 'tier', tier === 'default' || tier === 'auto' || tier === 'standard' ? undefined : tier)
  }

  /** One response, told with its id. */
  private readResponse(payload: Json, atMs: number): void {
    const { thread } = this
    thread.exact = true
    if (!isObject(payload.usage)) return
    const threadId = idOf(payload.thread_id) ?? thread.id
    const sums = isObject(payload.thread_token_usage) ? payload.thread_token_usage : payload.usage
    const turnId = idOf(payload.turn_id)
    this.count({
      key: idOf(payload.response_id) ?? keyOf(threadId, sumOf(sums)),
      atMs,
      used: sumOf(payload.usage),
      threadId,
      // a provider that gives an id again does so in another turn
      ...(turnId === undefined ? {} : { requestId: turnId }),
    })
  }

  /** An account of sums and limits: all that older versions tell, and written again whenever either is looked at. */
  private readCount(payload: Json, atMs: number): void {
    const { thread } = this
    this.notePlan(payload.rate_limits)
    this.noteWindows(payload.rate_limits, atMs)
    const info = isObject(payload.info) ? payload.info : undefined
    if (thread.exact || !info) return
    const last = isObject(info.last_token_usage) ? sumOf(info.last_token_usage) : undefined
    const sum = isObject(info.total_token_usage) ? sumOf(info.total_token_usage) : undefined
    const before = thread.sum
    if (sum !== undefined && before !== undefined && sum.join() === before.join()) return
    if (sum !== undefined) thread.sum = sum
    if (thread.copiedMs !== undefined) {
      if (atMs - thread.copiedMs < COPY_GAP_MS) {
        thread.copiedMs = Math.max(thread.copiedMs, atMs)
        return
      }
      delete thread.copiedMs
    }
    const used = last ?? (sum && risen(sum, before))
    if (used === undefined) return
    const key = sum ? keyOf(thread.id, sum) : `${thread.id}@${new Date(atMs).toISOString()}`
    this.count({ key, atMs, used, threadId: thread.id })
  }

  /** It comes with the answer that it is about and stands behind it; for those that are read before it, the last one holds. */
  private notePlan(limits: unknown): void {
    if (!isObject(limits)) return
    const { thread } = this
    // a sum is about the call that it counts itself
    const newest = thread.exact ? this.newest : undefined
    this.newest = undefined
    delete thread.plan
    delete newest?.covered
    if (!isCoveredByPlan(limits)) return
    thread.plan = true
    if (newest) newest.covered = 'plan'
  }
  private newest: UsageRecord | undefined

  private noteWindows(limits: unknown, atMs: number): void {
    const plan = isObject(limits) ? windowsIn(limits, atMs) : undefined
    if (plan && plan.observedAt >= (this.found.plan?.observedAt ?? 0)) this.found.plan = plan
  }

  private count(call: Pick<UsageRecord, 'key' | 'atMs' | 'requestId'> & { used: Sum; threadId: string }): void {
    const { threadId, used, ...counted } = call
    const { model, tier, cwd, provider, plan, searches = 0 } = this.thread
    delete this.thread.searches
    const isAgent = threadId !== this.sessionId
    // another speed has prices of its own, which the plain id must not stand for
    const named = model !== undefined && tier !== undefined ? `${model}:${tier}` : (model ?? UNKNOWN_MODEL)
    const record: UsageRecord = {
      ...counted,
      tokens: tokensOf(used, searches),
      model: named,
      ...(isAgent ? { agentId: threadId } : {}),
      ...(cwd === undefined ? {} : { cwd }),
      ...(provider === undefined ? {} : { provider: providerName(provider) }),
      ...(plan ? { covered: 'plan' } : {}),
    }
    if (!isAgent) this.state.model = named
    this.newest = undefined
    noteCounted(this.thread, this.found, { atMs: call.atMs, ...(isAgent ? { agentId: threadId } : {}) })
    if (areSound(record.tokens)) countUsage(this.state, this.found, this.price, record)
    // whoever keeps the calls says that this one cannot be counted; in the session's figure it is not
    else this.found.records.set(record.key, record)
    this.newest = this.found.records.get(record.key)
  }
}

function set<K extends 'model' | 'provider' | 'tier' | 'cwd' | 'turn'>(
  thread: Thread,
  field: K,
  value: Thread[K],
): void {
  if (value === undefined) delete thread[field]
  else thread[field] = value
}

const keyOf = (threadId: string, sum: Sum) => `${threadId}@${sum.join('.')}`

/** What was added to a sum; all of it where it began anew. */
function risen(sum: Sum, before: Sum | undefined): Sum {
  const added = sum.map((count, i) => count - (before?.[i] ?? 0)) as Sum
  return added.every(count => count >= 0) ? added : sum
}

const NAME = /^rollout-(\d{4})-(\d\d)-(\d\d)T\d\d-\d\d-\d\d-([A-Za-z0-9_-]{1,128})\.jsonl$/
/** The day and the thread that a session file is named for; undefined for any other name. */
export function partsOf(name: string): { day: [string, string, string]; threadId: string } | undefined {
  const [, year, month, date, threadId] = NAME.exec(name) ?? []
  return threadId === undefined ? undefined : { day: [year!, month!, date!], threadId }
}
const threadIdIn = (name: string) => partsOf(name)?.threadId

/**
 * Reads the whole lines of `bytes`, of the file called `name`, into `state` (taken over: do not use the old one again) and
 * `found`. Returns how many bytes were read.
 */
export function readRollout(
  state: CodexUsageState,
  found: FoundUsage & FoundCalls,
  bytes: Uint8Array,
  about: { name: string; sessionId: string; price: PriceRecord; tools: ByteTools },
): number {
  const { name, sessionId, price, tools } = about
  const reader = new RolloutReader(state, found, price, name, sessionId)
  const read = eachLineWith(MARKERS, bytes, tools, line => reader.read(line))
  settle(state, found)
  return read
}
