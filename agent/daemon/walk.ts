import { setImmediate as breathe } from 'node:timers/promises'
import type { ChangedSession } from '#agent/clients/usage-source.ts'
import { takeResults } from './results.ts'
import type { Runtime } from './runtime.ts'
import type { Session } from './session.ts'
import { COMPARE_MS } from './sessions.ts'

/** A look takes no more of one session at once, so that a hook that comes meanwhile is answered. */
const LOOK_MS = 50
/** What changed while the last walk was under way, and a clock that is not quite the file system's. */
const OVERLAP_MS = 2 * 60_000
/** Files that no hook has told of are looked into so many at a time: a restored backup changes all there are at once. */
const STRANGERS_MAX = 500

/**
 * Walks the transcripts each minute and at the start: cost between calls, answers at the prompt, and tool uses that nobody
 * judged. It finds the sessions themselves as well as those that a hook has told of: one that began without hooks, or while
 * the daemon was down, tells of itself in no other way.
 */
export class Walk {
  private walkedTo = 0
  private newest: Promise<void> = Promise.resolve()
  private readonly strangers = new Map<string, { client: string; changed: ChangedSession }>()

  constructor(private readonly runtime: Runtime) {}

  /** Walks once more, after the walk that is under way. */
  run(): Promise<void> {
    this.newest = this.newest.catch(() => {}).then(() => this.walk())
    return this.newest
  }

  private async walk(): Promise<void> {
    const { runtime } = this
    const { sessions } = runtime
    const now = runtime.now()
    await this.find(Math.max(sessions.countsFrom(), Math.min(this.walkedTo, now) - OVERLAP_MS))
    for (const session of sessions.all()) {
      if (session.lastSeen < now - COMPARE_MS) continue
      this.look(session)
      await breathe()
    }
    for (const [key, { client, changed }] of [...this.strangers].slice(0, STRANGERS_MAX)) {
      this.strangers.delete(key)
      const session = sessions.get(client, changed.sessionId) ?? sessions.meet(client, changed)
      this.look(session)
      // one in which nothing happened that counts is nobody's business
      if (hasShownCalls(session)) sessions.adopt(session)
      await breathe()
    }
    this.walkedTo = now
  }

  private look(session: Session): void {
    takeResults(this.runtime, session, this.runtime.sessions.observe(session, { budgetMs: LOOK_MS }))
  }

  private async find(sinceMs: number): Promise<void> {
    const { adapters, clientHome, sessions } = this.runtime
    for (const { client, usage } of adapters.values()) {
      for (const batch of usage.changedSessions(clientHome, sinceMs)) {
        for (const changed of batch) {
          if (sessions.noteChanged(client, changed)) continue
          this.strangers.set(`${client} ${changed.sessionId}`, { client, changed })
        }
        await breathe()
      }
    }
  }
}

const hasShownCalls = ({ waiting, unguarded, isUnread }: Session): boolean =>
  isUnread === true || Object.keys(waiting).length > 0 || Object.keys(unguarded).length > 0
