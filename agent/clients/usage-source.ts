/**
 * The contract of whoever reads what a client's sessions used from its own records. It opens no network connection.
 */
import type { SeenPlan } from '#core/plan-window.ts'
import type { UsageTokens } from '#core/pricing.ts'
import type { Covered } from '#core/usage/bucket.ts'
import type { ClientHome } from './client-home.ts'

/** One model response as its client recorded it. `key` is the provider's message id, else its request id. */
export type UsageRecord = {
  key: string
  /** Exact model id as recorded. */
  model: string
  /** 0 where no moment was recorded. */
  atMs: number
  tokens: UsageTokens
  agentId?: string
  /** The provider's request id beside a message id: two of them under one `key` are two calls. */
  requestId?: string
  /** The working folder as recorded with the response. */
  cwd?: string
  /** The provider, where the client records one: a name of core/pricing's PROVIDERS, anything else is `other`. */
  provider?: string
  /** Whether a plan covers this call, where the record itself says so. */
  covered?: Covered
  /** The attempt failed or its stream broke off: what it had used until then is counted all the same. */
  partial?: boolean
}

/** What a hook's process has seen of how its client signs in: that something is set, never its value. */
export const CREDENTIALS = ['cloud', 'gateway', 'key', 'token', 'none'] as const
export type Credential = (typeof CREDENTIALS)[number]

/** A tool use that the transcript shows, to be compared with the journal (calls that nobody judged). */
export type SeenToolUse = { toolUseId: string; toolName: string; atMs: number; agentId?: string }

/**
 * How a tool use ended, as the transcript tells it.
 * `declined`: a person said no at the prompt. `refused`: a rule, a hook or the client itself said no (a tool that does not
 * exist, input that does not fit). `ran`: the tool ran, well or not.
 */
export type SeenToolResult = {
  toolUseId: string
  outcome: 'declined' | 'refused' | 'ran'
  atMs: number
  /** Who let it through or stopped it, where the client says so: `user_temporary`, `hook`, `config`… */
  decidedBy?: string
}

/** Prices one record; pure. `picoUsd` is exact (10^-12 dollar). */
export type PriceRecord = (record: Pick<UsageRecord, 'model' | 'atMs' | 'tokens'>) => {
  picoUsd: bigint
  fallback: boolean
}

/** What a reader must remember between two reads: plain JSON, to be kept by the caller and passed back unread. */
export type UsageState = { readonly v: 1; readonly client: string }

export type SessionUsage<S extends UsageState = UsageState> = {
  state: S
  /**
   * The session's cost so far, subagents included: never lower than any earlier reading of the same state.
   * Undefined = it was never read.
   */
  costPicoUsd: bigint | undefined
  /** True when part of the cost was priced at the bound for unknown models. */
  fallback: boolean
  /** Models that were priced at the bound. */
  unpricedModels: string[]
  /** Model of the newest response of the session itself (not of a subagent). */
  model?: string
  /** What was new or changed in this read. At least once: a caller keys by `key` and `toolUseId`. */
  records: UsageRecord[]
  toolUses: SeenToolUse[]
  toolResults: SeenToolResult[]
  /** Every call that the records name is named by a response that is in the cost. Absent where a reader cannot tell. */
  isWhole?: boolean
  /** False when this read failed: the figures are those of earlier reads. `problem` says why, without a path. */
  fresh: boolean
  problem?: 'no_transcript' | 'unreadable' | 'not_a_file' | 'not_ours' | 'too_many_files' | 'too_large'
  /** The newest account of a plan's limits in what was new, where the records hold any. */
  plan?: SeenPlan
  /** True when there is more to read than one call takes: call again. */
  more: boolean
}

/** A session whose transcript changed; `changedMs` in milliseconds since the epoch. */
export type ChangedSession = { sessionId: string; transcriptPath: string; changedMs: number }

export type UsageReader<S extends UsageState = UsageState> = {
  /**
   * Reads on from where `state` ended (undefined: from the start). Synchronous, bounded; never throws for what a
   * file holds or lacks. A client may write a response some time after the hook for its tool call arrived (see the
   * adapter's README); a figure that must include it is there once `toolUses` of some read has named that call. `transcriptPath` and `cwd` are hints and are used only below the client's own roots.
   * `rateCard` names the prices in use: another name than the state's re-prices from the start, the mark is kept.
   */
  readSession(
    home: ClientHome,
    session: { sessionId: string; cwd?: string | undefined; transcriptPath?: string | undefined },
    state: S | undefined,
    pricing: { rateCard: string; price: PriceRecord },
    /** How many bytes one call reads at most; the adapter's own bound when absent. */
    limits?: { bytes: number },
  ): SessionUsage<S>
  /**
   * What must be kept of a state to read on from it where records were kept elsewhere by their keys: small, and without what
   * only prices a session. Reading on from it may tell of a record again.
   */
  marksOf(state: S): S
  /**
   * Sessions below the client's own roots whose transcripts changed at or after a moment, in batches between which a caller
   * may do something else. Bounded; regular files of one's own only, no link is followed. Never throws.
   */
  changedSessions(home: ClientHome, sinceMs: number): Iterable<ChangedSession[]>
}

/** A client whose own records of its calls are read. */
export type UsageSource<S extends UsageState = UsageState> = {
  /** The client's name in attribution and on the wire, e.g. `claude-code`. */
  client: string
  title: string
  usage: UsageReader<S>
  /** What its records leave out, as a sentence for people; absent where nothing is known to be missing. */
  lacks?: string
  /**
   * Whether a plan covers a session, as far as the client's own files and its hook's process tell; no credential's value is
   * looked at. Absent where only the records themselves can say.
   */
  coverOf?(home: ClientHome, session: { credential: Credential; attended: boolean; cwd: string }): Covered
}
