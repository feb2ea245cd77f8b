import { setImmediate as breathe } from 'node:timers/promises'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { ChangedSession, UsageSource, UsageState } from '#agent/clients/usage-source.ts'
import type { Session } from '#agent/daemon/session.ts'
import type { SeenPlan } from '#core/plan-window.ts'
import type { Attributor } from './attribute.ts'
import type { Ledger } from './ledger.ts'
import type { Marks } from './marks.ts'

/** What is read before others get their turn: a few milliseconds. */
const SLICE_BYTES = 256 * 1024
/** Sessions of the last two days are looked at each time: a subagent's file may move on while the session's own does not. */
const LOOK_MS = 2 * 24 * 3600_000
/** What changed while the last walk was under way, and a clock that is not quite the file system's. */
const OVERLAP_MS = 2 * 60_000

/** How far reading has come. `sessions` of how many that changed; since the first walk, or of the walk under way. */
export type CollectProgress = { running: boolean; done: number; of: number; since?: string; problems: number }

/** The ledger prices: here nothing is. */
const UNPRICED = { rateCard: 'ledger', price: () => ({ picoUsd: 0n, fallback: false }) }

type Deps = {
  sources: readonly UsageSource[]
  clientHome: ClientHome
  ledger: Ledger
  marks(): Marks
  attributor: Attributor
  now(): number
  /** Hears what records tell of a plan's windows. */
  onPlan?: (plan: SeenPlan) => void
  /** What hooks have told of a session. */
  knownSession(
    client: string,
    session: string,
  ): Pick<Session, 'cwd' | 'runTags' | 'parentTags' | 'environment' | 'covered'> | undefined
}

/**
 * Reads what the clients record of their own calls into the ledger: all there is at first, what is new after that. In slices
 * between which everything else goes on. Calls first, then the mark that says so: a crash in between reads them again.
 */
export class Collector {
  readonly progress: CollectProgress = { running: false, done: 0, of: 0, problems: 0 }
  private newest: Promise<void> = Promise.resolve()
  private stopping = false

  constructor(private readonly deps: Deps) {}

  /** Reads once more, after what is under way. Throws what the disk of the ledger says. */
  run(): Promise<void> {
    this.newest = this.newest.catch(() => {}).then(() => this.walk())
    return this.newest
  }

  /** Ends after the slice under way; what is left is read another time. */
  async stop(): Promise<void> {
    this.stopping = true
    await this.newest.catch(() => {})
  }

  private async walk(): Promise<void> {
    if (this.stopping) return
    const { ledger, now } = this.deps
    const marks = this.deps.marks()
    const { progress } = this
    const startedAt = now()
    Object.assign(progress, { running: true, done: 0, of: 0, problems: 0, since: new Date(startedAt).toISOString() })
    try {
      await ledger.open()
      const changed = await this.find(Math.max(0, Math.min(marks.walkedTo - OVERLAP_MS, startedAt - LOOK_MS)))
      progress.of = changed.length
      for (const { client, session } of changed) {
        if (this.stopping) return
        await this.read(client, session)
        progress.done++
      }
      if (startedAt - marks.walkedTo > OVERLAP_MS / 2) marks.noteWalked(startedAt)
    } finally {
      progress.running = false
    }
  }

  /** Those that changed, the oldest first, so that a copied history belongs to whom it was copied from. */
  private async find(sinceMs: number): Promise<{ client: UsageSource; session: ChangedSession }[]> {
    const found: { client: UsageSource; session: ChangedSession }[] = []
    for (const client of this.deps.sources)
      for (const batch of client.usage.changedSessions(this.deps.clientHome, sinceMs)) {
        for (const session of batch) found.push({ client, session })
        await breathe()
      }
    return found.sort((a, b) => a.session.changedMs - b.session.changedMs)
  }

  private async read(source: UsageSource, { sessionId, transcriptPath }: ChangedSession): Promise<void> {
    const { ledger, attributor, knownSession } = this.deps
    const marks = this.deps.marks()
    const { client, usage } = source
    const known = knownSession(client, sessionId)
    let state: UsageState | undefined = marks.get(client, sessionId)
    for (let more = true; more && !this.stopping; ) {
      const from: UsageState | undefined = state === undefined ? undefined : structuredClone(state)
      const read = this.readOn(source, { sessionId, cwd: known?.cwd || undefined, transcriptPath }, from)
      if (read.records.length > 0) {
        const cwd = known?.cwd || read.records.find(record => record.cwd !== undefined)?.cwd
        const place = attributor.placeOf(client, sessionId, {
          cwd,
          runTags: known?.runTags,
          parentTags: known?.parentTags,
          environment: known?.environment,
          covered: known?.covered,
        })
        ledger.add(read.records, place)
      }
      if (read.plan) this.deps.onPlan?.(read.plan)
      if (!read.fresh && read.problem !== 'no_transcript') this.progress.problems++
      const mark = usage.marksOf(read.state)
      // a session of which nothing could be read yet is nobody's: what telemetry tells of it counts
      const isRead = read.fresh || state !== undefined
      if (isRead && JSON.stringify(mark) !== JSON.stringify(state)) marks.set(client, sessionId, mark)
      state = mark
      more = read.more
      await breathe()
    }
  }

  private readOn(source: UsageSource, where: Parameters<typeof source.usage.readSession>[1], from?: UsageState) {
    const read = (state: UsageState | undefined) =>
      source.usage.readSession(this.deps.clientHome, where, state, UNPRICED, { bytes: SLICE_BYTES })
    if (from === undefined) return read(undefined)
    try {
      return read(from)
    } catch {
      // a mark that cannot be gone on from: from the start, and nothing is counted twice
      return read(undefined)
    }
  }
}
