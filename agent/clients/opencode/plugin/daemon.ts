/** What the module says to the daemon: over its socket, or by the small program where that must know the process. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { askLoopback, LoopbackFailure } from '#agent/hook/loopback.ts'
import { folderTrouble, socketPlace } from '#agent/hook/socket-place.ts'
import { spool } from '#agent/hook/spool.ts'
import type { Installed } from './installed.ts'

/** The fields that the adapter declares, in the names of Claude Code's hooks. */
export type Fields = Readonly<Record<string, string | undefined>>

export type Heard =
  | { kind: 'answer'; exit: number; stdout: string; stderr: string }
  /** `isAway`: no daemon is there, as far as can be told. */
  | { kind: 'none'; why: string; isAway: boolean }

const CLIENT = 'opencode'
/** Two calls at once start one daemon; a start that did not come about is tried again after this. */
const START_EVERY_MS = 5000
/** Nobody waits for what is only told. */
const TELL_MS = 2000
const WORDS = { down: 'its daemon is not running', slow: 'its daemon took too long', odd: 'its daemon cannot be heard' }

/** A name for a file of the spool that two processes do not share. */
const unique = () => `${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2, 10)}`

export class DaemonLine {
  private readonly under = new Set<Promise<unknown>>()
  private startedMs = Number.NEGATIVE_INFINITY

  constructor(private readonly installed: Installed) {}

  /**
   * Asks and waits for the daemon's answer, which comes in the form of a command. Where nobody hears it the event is left for
   * the daemon to find. `sentMs`: since when the client waits.
   */
  async ask(fields: Fields, timeoutMs: number, sentMs = Date.now()): Promise<Heard> {
    const place = socketPlace(this.installed.home)
    if (!place) return this.unheard(fields, 'odd', 'this system has no sockets that a folder’s mode protects')
    const trouble = folderTrouble(place)
    if (trouble !== undefined) {
      if (!existsSync(place.folder)) return { kind: 'none', why: WORDS.down, isAway: true }
      return this.unheard(fields, 'odd', trouble)
    }
    try {
      const { body } = await askLoopback({
        socket: place.path,
        method: 'POST',
        path: `/hook/${CLIENT}`,
        headers: { 'x-holdpoint-form': 'command', 'x-holdpoint-sent': String(sentMs) },
        body: JSON.stringify(fields),
        timeoutMs,
      })
      return this.readAnswer(fields, body)
    } catch (error) {
      const code = error instanceof LoopbackFailure ? error.code : 'odd'
      if (code === 'down') return { kind: 'none', why: WORDS.down, isAway: true }
      return this.unheard(fields, code, WORDS[code])
    }
  }

  private readAnswer(fields: Fields, body: string): Heard {
    try {
      const { exit, stdout, stderr } = JSON.parse(body) as Record<string, unknown>
      if ((exit === 0 || exit === 1 || exit === 2) && typeof stdout === 'string' && typeof stderr === 'string')
        return { kind: 'answer', exit, stdout, stderr }
    } catch {
      // no answer of the daemon's
    }
    return this.unheard(fields, 'odd', WORDS.odd)
  }

  /** What the daemon of another moment is to know: that a call went by it. */
  private unheard(fields: Fields, code: 'slow' | 'odd', why: string): Heard {
    const { hook_event_name: event = '' } = fields
    try {
      const body = Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => !!entry[1]))
      const at = new Date().toISOString()
      spool(
        this.installed.home,
        { kind: 'hook_event', client: CLIENT, event, at, why: code, headers: {}, body },
        unique(),
      )
    } catch {
      // a full disk or a read-only home: nothing more can be done here
    }
    return { kind: 'none', why, isAway: false }
  }

  /** Tells something that nobody waits for, once it is known. */
  tell(fields: Promise<Fields>): void {
    const told: Promise<unknown> = fields
      .then(known => this.ask(known, TELL_MS))
      .catch(() => undefined)
      .finally(() => this.under.delete(told))
    this.under.add(told)
  }

  /** What was told, until it was heard or the time is over. */
  async settle(timeoutMs: number): Promise<void> {
    await within(timeoutMs, Promise.allSettled([...this.under]))
  }

  /**
   * Tells by the small program, which adds what it finds in its environment (to whom the run belongs, how the client signs in)
   * and starts the daemon where there is none. It outlives the client. Never throws.
   */
  tellByProgram(fields: Fields): void {
    const { node, hook, home } = this.installed
    try {
      const child = spawn(node, [hook, CLIENT, fields.hook_event_name ?? ''], {
        cwd: home,
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
        windowsHide: true,
      })
      child.on('error', () => {})
      child.stdin?.on('error', () => {})
      child.stdin?.end(JSON.stringify(fields))
      child.unref()
    } catch {
      // no such Node, no such folder: `hooks status` says so
    }
  }

  /** Starts a daemon by telling of a session's start, at most once in five seconds. */
  start(fields: Fields): void {
    const now = performance.now()
    if (now - this.startedMs < START_EVERY_MS) return
    this.startedMs = now
    this.tellByProgram(fields)
  }
}

/** What comes of a promise within a time; undefined where nothing does, or it fails. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), timeoutMs)
  })
  try {
    return await Promise.race([promise.catch(() => undefined), over])
  } finally {
    clearTimeout(timer)
  }
}
