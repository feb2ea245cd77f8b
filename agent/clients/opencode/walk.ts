/** Reading on through a session's messages, those of its subagents' sessions among them, in bounded pieces. */
import { isUnfinished, type StoredMessage } from './message.ts'

/** Messages are written a moment after the time they bear. */
const LOOK_BACK_MS = 60_000
/** An answer that is older than this beside a later one is not written any more. */
const UNFINISHED_MS = 24 * 3600_000

/** How far a session was read in one place. */
export type WalkMark = {
  /** Everything before this position was read. */
  from: number
  /** A pass that has not come to its end: where it goes on, among how many sessions, and what it has seen. */
  pass?: { session: string; at: number; sessions: number; newest: number; open?: number }
}

export type Entry = { at: number; read(): StoredMessage | undefined }
/** Where sessions are kept. */
export type Store = {
  /** The session and those of its subagents, in an order that stays while none is added; empty where it is not kept here. */
  sessions(root: string): string[]
  /** Its messages that may have changed at a position or after it, in the order of their positions. */
  messages(session: string, from: number): Iterable<Entry>
  /** Bytes read so far. */
  spent(): number
  /** Whether there are more sessions than are looked at. */
  readonly isCut: boolean
}

/**
 * Reads on from a mark. Ends at the first message past the budget. A message is handed over again where it may have changed
 * since.
 */
export function walk(
  store: Store,
  root: string,
  mark: WalkMark,
  budget: number,
  take: (stored: StoredMessage, session: string) => void,
): { mark: WalkMark; more: boolean; found: boolean } {
  const sessions = store.sessions(root)
  const { from } = mark
  // a session that was added would be in an order of its own: once more from where the pass began
  const pass = mark.pass?.sessions === sessions.length ? mark.pass : undefined
  let newest = pass?.newest ?? from
  let open = pass?.open ?? Number.POSITIVE_INFINITY
  const start = pass ? sessions.indexOf(pass.session) : 0
  for (const [n, session] of sessions.entries()) {
    if (n < start) continue
    const begin = pass?.session === session ? pass.at : from
    for (const entry of store.messages(session, begin)) {
      if (store.spent() > budget && entry.at > begin) {
        const seen = { newest, ...(Number.isFinite(open) ? { open } : {}) }
        return {
          mark: { from, pass: { session, at: entry.at, sessions: sessions.length, ...seen } },
          more: true,
          found: true,
        }
      }
      const stored = entry.read()
      newest = Math.max(newest, entry.at)
      if (stored === undefined) continue
      if (isUnfinished(stored)) open = Math.min(open, entry.at)
      take(stored, session)
    }
  }
  const settled = newest - LOOK_BACK_MS
  const next = open > newest - UNFINISHED_MS ? Math.min(settled, open) : settled
  return { mark: { from: Math.max(from, next) }, more: false, found: sessions.length > 0 }
}
