/**
 * The contract of whoever writes our hooks into a client's configuration and tells whether they hold.
 */
import type { Level } from '#core/client.ts'
import type { ClientHome } from './client-home.ts'

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
