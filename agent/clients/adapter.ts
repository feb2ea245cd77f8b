/**
 * The contract every client adapter keeps. An adapter turns a client's hook bytes into a
 * `HookEvent` of declared fields only, turns a `Decision` into the client's own answer, edits the client's
 * configuration, and reads what its sessions used. It knows no rule and opens no network connection.
 */
import type { Action } from '#core/boundary/shape.ts'
import type { Level } from '#core/client.ts'
import type { SeenPlan } from '#core/plan-window.ts'
import type { UsageTokens } from '#core/pricing.ts'
import type { Covered } from '#core/usage/bucket.ts'

// ---------------------------------------------------------------- events

/** What a hook's transport knows beside the body: a header or an environment variable of the hook's process. */
export type HookOrigin = {
  /** The client's own name for how it was started, e.g. `cli` or `sdk-cli`. */
  entrypoint?: string | undefined
  /** Whether the client says that someone is at the keyboard; undefined = it did not say, to be read as nobody. */
  attended?: boolean | undefined
  /** The event that our program was started for (header `x-holdpoint-event`), where the client's own JSON does not say. */
  event?: string | undefined
}

type EventBase = {
  sessionId: string
  /** When the bytes arrived: milliseconds since the epoch, as passed to `parse`. */
  atMs: number
  cwd: string
  /** As the payload has it: a hint only. The usage reader derives its own path. */
  transcriptPath?: string
  /** Set inside a subagent; the session is then its parent's. */
  agentId?: string
  agentType?: string
  entrypoint?: string
  attended?: boolean
  /** The model that answers in this session (inside a subagent: the subagent's), where the payload says. */
  model?: string
  /** Who serves it, where the payload says: a name of core/pricing's PROVIDERS, anything else is `other`. */
  provider?: string
}

/** A tool call that waits for an answer: the pause point. */
export type ToolCall = EventBase & {
  kind: 'tool_call'
  toolName: string
  toolUseId?: string
  /** Made from within another call, which the records name in its stead until it has run. */
  isNested?: boolean
  /** True when the call starts a subagent. */
  startsSubagent: boolean
  /** Only where `startsSubagent`: the model it names; absent = it inherits the session's. */
  subagentModel?: string
}
/** The client is about to ask its user about a call. */
export type PermissionPrompt = EventBase & { kind: 'permission_prompt'; toolName: string; toolUseId?: string }
/** A call has ended; `ok` is false when the tool itself failed. */
export type ToolDone = EventBase & { kind: 'tool_done'; toolName: string; toolUseId?: string; ok: boolean }
/** `source`: startup, resume, clear, compact, or what a later version says. */
export type SessionStart = EventBase & { kind: 'session_start'; source: string }
export type SessionEnd = EventBase & { kind: 'session_end'; reason: string }
/** A prompt reached the model; not always typed by a person (task notifications come the same way). */
export type Prompt = EventBase & { kind: 'prompt' }
export type TurnEnd = EventBase & { kind: 'turn_end' }
export type SubagentStart = EventBase & { kind: 'subagent_start' }
export type SubagentEnd = EventBase & { kind: 'subagent_end' }
/** An event that the adapter knows nothing more about, e.g. one of a newer version. Never held. */
export type OtherEvent = EventBase & { kind: 'other'; name: string }

export type HookEvent =
  | ToolCall
  | PermissionPrompt
  | ToolDone
  | SessionStart
  | SessionEnd
  | Prompt
  | TurnEnd
  | SubagentStart
  | SubagentEnd
  | OtherEvent

/** Why bytes are not an event. Holds the name of a field, never a value. */
export type ParseFailure = {
  kind: 'parse_failure'
  reason: 'too_large' | 'not_utf8' | 'not_json' | 'not_object' | 'missing_field' | 'wrong_type' | 'bad_id'
  /** The field concerned, for the last three reasons. */
  field?: string
  sizeBytes: number
}

/** The session that a canary event claims (`holdpoint hooks install` sends one); no agent's. */
export const CANARY_SESSION = 'holdpoint-canary'
/** What the daemon answers to it, for the person: nobody else says so. */
export const CANARY_HEARD = 'Holdpoint’s daemon has heard the test event.'

/** What the pause point decided, in words the client shows. `pass` has no text; the others never an empty one. */
export type Decision = {
  outcome: 'pass' | 'ask' | 'refuse'
  /** Shown to the agent (refuse) or at the client's own prompt (ask). */
  text: string
  /** Shown to the person only, where the client can. */
  systemMessage?: string
  /** Of a refusal: the run only retries, and its turn should end, where the client has a way that still refuses the call. */
  endTurn?: boolean
}

/** One decision in both transports; a hook uses the one it was installed with. */
export type RenderedAnswer = {
  http: { status: number; body: string }
  command: { exit: number; stdout: string; stderr: string }
}

// ---------------------------------------------------------------- hooks in the client's configuration

/** What an organisation or a person chose for the moment when our side is broken. */
export type WhenBroken = 'pass' | 'block'

/**
 * How a call reaches the daemon. `http`: the client asks the daemon's port itself, with a token that stands in its settings.
 * `command`: it starts our small program, which asks over a socket that no other user of the machine can open.
 * `plugin`: it loads a small module of ours, which asks over that socket itself.
 */
export type HookForm = 'http' | 'command' | 'plugin'

export type HookInstall = {
  form: HookForm
  /** Loopback address of the daemon's hook route; its path is the adapter's `hookPath`, by which entries are known. */
  hookUrl: string
  /** The hook token (may submit events, nothing else). */
  hookToken: string
  /**
   * The program for hooks that must be a command: absolute path and arguments. The client's name and the event's are
   * appended (`… claude-code SessionStart`). One of the paths must lie in a `.holdpoint` folder, be called
   * `holdpoint…` or end in `bin/hook.cjs`, or the entries could not be known again.
   */
  hookCommand: { exe: string; args: string[] }
  whenBroken: WhenBroken
}

/** The person's own folder and the few environment variables that move the client's configuration. */
export type ClientHome = { homeDir: string; env: Readonly<Record<string, string | undefined>> }

export type HookChange = {
  file: string
  /** What was done, in a person's words, e.g. `added PreToolUse http hook`. */
  changes: string[]
  /** The whole file before and after; `before` is undefined when there was none, `after` when it is removed. */
  before: string | undefined
  after: string | undefined
  /** Where the former text was kept; undefined on a dry run or when there was nothing to keep. */
  backup?: string
  dryRun: boolean
}

/** How far the hook holds: told, never claimed. `managed` is set by what checks ownership, not here. */
export type HookLevel = Extract<Level, 'user-hook' | 'broken' | 'not-installed'>

/** One thing that switches the hook off, or could. */
export type HookFinding = {
  /** `off`: calls pass unseen now. `risk`: it could be switched off this way. */
  severity: 'off' | 'risk'
  code: string
  /** One sentence for a person, with what to do. */
  text: string
  file?: string
}

export type HookInspection = {
  level: HookLevel
  /** The form of the hook that is installed; absent where none is. */
  form?: HookForm
  whenBroken?: WhenBroken
  /** True when the entries are ours but not what would be installed now (another address, token or program). */
  outdated: boolean
  findings: HookFinding[]
}

/** How the client would call the hook that stands in its configuration; `env` is what that configuration adds. */
export type HookProbe = { env: Readonly<Record<string, string>> } & (
  | { form: 'http'; url: string; headers: Readonly<Record<string, string>> }
  | { form: 'command'; run: { exe: string; args: string[] } | { shell: string }; timeoutMs: number }
  /** `run` loads the module as the client would, hands it the event on standard input and prints what it heard. */
  | { form: 'plugin'; file: string; run?: { exe: string; args: string[] }; timeoutMs?: number }
)

/** A client that runs a hook only once it was told to trust it. */
export type HookTrust = {
  /** One question to the person: what is done, and where that is written. */
  question: string
  /** How it is done by hand, one sentence. */
  byHand: string
  /** Whether the hooks as they stand are trusted; undefined where that cannot be read. */
  isTrusted(home: ClientHome): boolean | undefined
  /** Tells the client, by its own program, to trust our hooks as they stand and no others. Never throws. */
  grant(home: ClientHome, client: { exe: string; cwd: string }): Promise<{ ok: true } | { ok: false; why: string }>
}

export type HookEditor = {
  /** The file that `install` edits. */
  settingsPath(home: ClientHome): string
  /** The installed hook for tool calls, read anew; undefined where there is none of ours, or nothing can be read. */
  probe(home: ClientHome): HookProbe | undefined
  /** @throws HookEditError when the file cannot be edited safely; nothing is written then. */
  install(home: ClientHome, request: HookInstall, options: { dryRun: boolean }): HookChange
  /** @throws HookEditError */
  uninstall(home: ClientHome, options: { dryRun: boolean }): HookChange
  /**
   * Reads what is in force. `projectDirs` are the folders whose own settings can interfere;
   * `expected` (when known) finds entries that are ours but outdated; `version` is the client's own.
   */
  inspect(home: ClientHome, about: { projectDirs: string[]; expected?: HookInstall; version?: string }): HookInspection
  trust?: HookTrust
}

/** The client's file is one we must not touch: unparsable or of a wrong shape, with the place. */
export class HookEditError extends Error {
  readonly code: 'unparsable' | 'wrong_shape' | 'unreadable' | 'changed_meanwhile' | 'unsafe_file'
  readonly file: string | undefined
  readonly line: number | undefined
  readonly column: number | undefined
  constructor(
    code: HookEditError['code'],
    message: string,
    place: { file?: string | undefined; line?: number | undefined; column?: number | undefined } = {},
  ) {
    super(message)
    this.name = 'HookEditError'
    this.code = code
    this.file = place.file
    this.line = place.line
    this.column = place.column
  }
}

// ---------------------------------------------------------------- usage

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

export type { SeenPlan }

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

/** The actions that a client's pause points can hold. */
export type HeldAction = Extract<Action, 'continue' | 'spend' | 'subagent_model'>

/**
 * What can be made to refuse while Holdpoint is broken. `client`: the client itself, whatever is broken. `program`: our own
 * program or module, which is there but hears nothing; that it is missing or too slow the client passes over. `none`: nothing.
 */
export type FailsClosed = 'client' | 'program' | 'none'

/** A client at whose pause points we decide. */
export type ClientAdapter<S extends UsageState = UsageState> = UsageSource<S> & {
  /** Its program's name on the path, asked for its version. */
  program: string
  /** Forms of hooks that it takes, the one that is preferred first. */
  forms: readonly HookForm[]
  /** Whether it can put our question to whoever is at its keyboard. Where it cannot, what would be asked is refused. */
  asks: boolean
  /** What a refusal holds there. */
  holds: readonly HeldAction[]
  /** What it cannot do, each a sentence for people; shown in status. */
  limits: readonly string[]
  /** How a user hook is undone besides by editing its file: clauses that go on from `It stops holding when someone`. */
  undoneBy?(form: HookForm): string[]
  /** What `when_broken: block` brings in each form. */
  failsClosed: Readonly<Partial<Record<HookForm, FailsClosed>>>
  /** The response that asks for a call stands in its records before the call's hook arrives: none is waited for. */
  recordsFirst?: true
  /** Path of the hook route that `HookInstall.hookUrl` must have. */
  hookPath: string
  /** What a command hook's process can tell from its environment; nothing else of it may be kept or sent. */
  originFromEnv(env: Readonly<Record<string, string | undefined>>): HookOrigin
  /** What an http hook's headers tell (lower-case names). */
  originFromHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): HookOrigin
  parse(bytes: Uint8Array, nowMs: number, origin?: HookOrigin): HookEvent | ParseFailure
  /** The answer to `event` (undefined = bytes that did not parse); an event that cannot be held always passes. */
  render(decision: Decision, event?: HookEvent): RenderedAnswer
  /** The answer that tells the client that our side failed: passes, or blocks where installed with `block`. */
  renderBroken(why: string): RenderedAnswer
  hooks: HookEditor
}
