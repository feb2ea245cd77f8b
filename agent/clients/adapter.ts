/**
 * The contract every client adapter keeps. An adapter turns a client's hook bytes into a
 * `HookEvent` of declared fields only, turns a `Decision` into the client's own answer, edits the client's
 * configuration, and reads what its sessions used. It knows no rule and opens no network connection.
 */
import type { Action } from '#core/boundary/shape.ts'
import type { HookEditor, HookForm } from './hook-editor.ts'
import type { UsageSource, UsageState } from './usage-source.ts'

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
