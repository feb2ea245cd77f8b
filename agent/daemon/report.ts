import { ControlPlaneError } from '#agent/control-plane.ts'
import { signJws } from '#agent/crypto.ts'
import { writeJson } from '#agent/home.ts'
import { CLIENTS, type Client } from '#core/client.ts'
import {
  type AlarmKind,
  type HourlyCount,
  REPORTED_REFUSALS,
  type Report,
  type ReportAnswer,
  type ReportedRefusal,
  type UnguardedRow,
} from '#core/protocol.ts'
import type { DecisionEntry, Entry } from './entry.ts'
import { keptSync, type Sync } from './kept.ts'
import { reportedHooks } from './rule-levels.ts'
import type { Runtime } from './runtime.ts'

/** What fits into one report of 256 KiB with room to spare; the rest goes with the next one. */
const OUTCOMES_MAX = 120
const COUNTS_MAX = 200
const GRANTS_MAX = 100
const UNGUARDED_MAX = 200
/** Reports sent in a row to catch up. */
const IN_A_ROW = 50

/** Builds, signs and sends reports (core/protocol.ts `Report`). */
export class Reporter {
  private readonly sync: Sync
  private known = false
  private newest: Promise<void> = Promise.resolve()
  /** Totals that the control plane has acknowledged since the start. */
  private readonly told = new Map<string, number>()

  constructor(private readonly runtime: Runtime) {
    this.sync = keptSync(runtime.home) ?? { seq: 0, journalTo: -1 }
    this.known = this.sync.recorded !== undefined
  }

  get journalTo(): number {
    return this.sync.journalTo
  }

  /** Sends what there is, after what is being sent. Throws what kept it from being sent; nothing is lost by that. */
  send(): Promise<void> {
    this.newest = this.newest.catch(() => {}).then(() => this.sendAll())
    return this.newest
  }

  private async sendAll(): Promise<void> {
    for (let i = 0; i < IN_A_ROW; i++) if (!(await this.sendOne())) return
  }

  /** Returns true when there is more to send. */
  private async sendOne(): Promise<boolean> {
    const { membership } = this.runtime
    if (!membership) return false
    if (!membership.key) throw new Error('the machine’s key is gone; join again')
    this.beginFor(membership.team.machine)
    this.sync.pending ??= this.make()
    const { pending } = this.sync
    this.keep()
    const answer = await this.deliver(pending)
    this.runtime.counters.reported(pending.counts)
    delete this.sync.pending
    this.sync.journalTo = Math.max(this.sync.journalTo, pending.journalTo)
    this.sync.seq = Math.max(this.sync.seq, answer.seq)
    if (answer.journal) this.sync.recorded = answer.journal
    this.known = true
    for (const { sessionRef, day, calls } of pending.unguarded ?? []) this.told.set(`${sessionRef} ${day}`, calls)
    this.keep()
    return (
      this.next().length > 0 ||
      this.runtime.counters.pending(COUNTS_MAX + 1).length > COUNTS_MAX ||
      this.unguardedRows().some(row => !this.isTold(row))
    )
  }

  /** One that the control plane can never take is given up, so that the next ones are not kept back. */
  private async deliver(pending: NonNullable<Sync['pending']>): Promise<ReportAnswer> {
    try {
      return await this.runtime.membership!.controlPlane.report(pending.report)
    } catch (error) {
      const isUnfit = error instanceof ControlPlaneError && (error.code === 'BAD_INPUT' || error.code === 'TOO_LARGE')
      if (!isUnfit) throw error
      this.runtime.log(`a report was refused and is given up: ${error.message}`)
      this.runtime.counters.reported(pending.counts)
      this.sync.journalTo = Math.max(this.sync.journalTo, pending.journalTo)
      delete this.sync.pending
      this.keep()
      // one refusal after another would give up everything at once: the next is tried in a minute
      throw error
    }
  }

  private beginFor(machine: string): void {
    if (this.sync.machine === machine) return
    Object.assign(this.sync, { machine, seq: 0, journalTo: this.runtime.state.joined?.seq ?? -1 })
    delete this.sync.recorded
    delete this.sync.pending
    this.known = false
    this.told.clear()
  }

  private next(): Entry[] {
    return this.runtime.state.unreported.after(this.sync.journalTo)
  }

  private make(): NonNullable<Sync['pending']> {
    const counts = this.runtime.counters.pending(COUNTS_MAX).map(row => ({ ...row, figures: [...row.figures] }))
    const { taken, journalTo } = take(this.next(), this.runtime.journal.head.seq)
    const report = this.build(taken, counts)
    this.sync.seq = report.seq
    const { unguarded } = report
    return {
      report: signJws('holdpoint-report+jws', this.runtime.membership!.key!, report),
      journalTo,
      counts,
      unguarded,
    }
  }

  /** The exact document that the next report would carry; `team preview` prints it. */
  preview(): Report {
    const { taken } = take(this.next(), this.runtime.journal.head.seq)
    return this.build(taken, this.runtime.counters.pending(COUNTS_MAX))
  }

  private build(taken: Entry[], counts: HourlyCount[]): Report {
    const { team, trust } = this.runtime.membership!
    const { set, unsupported } = this.runtime.rules.inForce()
    const root = trust.root
    const lastError = trust.trouble
    const { recorded } = this.sync
    return {
      v: 1,
      org: team.org.id,
      machine: team.machine,
      seq: this.sync.seq + 1,
      at: new Date(this.runtime.now()).toISOString(),
      connector: this.runtime.version,
      rules: {
        version: set?.set.version ?? 0,
        ...(set ? { digest: set.digest } : {}),
        // a control plane that calls a lower version the newest believes the signature, not us
        ...(set && lastError?.code === 'lower_version' ? { proof: set.jws.trim() } : {}),
        rootSeq: root?.root.seq ?? 0,
        rootDigest: root?.digest ?? 'A'.repeat(43),
        ...(trust.fresh ? { freshAt: trust.fresh.at } : {}),
        ...(lastError ? { lastError: { code: errorCode(lastError.code), at: lastError.at } } : {}),
        unsupported: unsupported.filter(name => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)).slice(0, 256),
        unknownSections: Math.min(64, set?.unknownSections.length ?? 0),
      },
      hooks: reportedHooks(this.runtime),
      // before the control plane has told what it has on record, saying anything here could only look like a reset
      ...(this.known
        ? { journal: recorded ? this.runtime.journal.headBeside(recorded) : this.runtime.journal.head }
        : {}),
      unguarded: this.unguardedRows().slice(0, UNGUARDED_MAX),
      outcomes: taken.flatMap(outcomesOf),
      counts,
      grants: taken.flatMap(entry =>
        entry.kind === 'spend' || entry.kind === 'lapsed'
          ? [
              {
                handle: entry.handle,
                answerId: entry.answerId,
                what: entry.kind === 'spend' ? ('used' as const) : ('lapsed' as const),
                at: entry.at,
              },
            ]
          : [],
      ),
      alarms: alarmsOf(taken),
    }
  }

  /** Running totals by session and day: what is not known there yet first, then the newest. */
  private unguardedRows(): UnguardedRow[] {
    return this.runtime.sessions
      .all()
      .filter(session => isClient(session.client))
      .flatMap(({ client, ref, unguarded }) =>
        Object.entries(unguarded).map(([day, calls]) => ({ client: client as Client, sessionRef: ref, calls, day })),
      )
      .sort((a, b) => Number(this.isTold(a)) - Number(this.isTold(b)) || b.day.localeCompare(a.day))
  }

  private isTold({ sessionRef, day, calls }: UnguardedRow): boolean {
    return this.told.get(`${sessionRef} ${day}`) === calls
  }

  private keep(): void {
    try {
      writeJson(this.runtime.home, this.runtime.home.sync, this.sync)
    } catch {
      // in memory it still holds; a crash now would send one report again under the same number
    }
  }
}

/** As many entries as fit, oldest first, and up to where the journal is then known. */
function take(entries: Entry[], head: number): { taken: Entry[]; journalTo: number } {
  const taken: Entry[] = []
  let outcomes = 0
  let grants = 0
  for (const entry of entries) {
    if (entry.kind === 'decision') outcomes += organisationRules(entry).length
    if (entry.kind === 'spend' || entry.kind === 'lapsed') grants++
    if (outcomes > OUTCOMES_MAX || grants > GRANTS_MAX) return { taken, journalTo: entry.seq - 1 }
    taken.push(entry)
  }
  return { taken, journalTo: head }
}

const isClient = (client: string): client is Client => (CLIENTS as readonly string[]).includes(client)
const organisationRules = (entry: DecisionEntry) => entry.rules.filter(rule => rule.key.startsWith('org:'))

function outcomesOf(entry: Entry): Report['outcomes'] {
  if (entry.kind !== 'decision' || !isClient(entry.client)) return []
  const { handle, client, action, sessionRef, stage, did, at } = entry
  const organisation = organisationRules(entry)
  // what a local rule alone has crossed stays at home
  const names = new Set(organisation.flatMap(rule => rule.key.slice('org:'.length)))
  return [...names]
    .filter(name => /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
    .map(rule => {
      const required = organisation.find(r => r.key === `org:${rule}`)!.require
      const outcome = required.startsWith('approver') ? ('approver' as const) : (required as 'allow' | 'ask' | 'deny')
      const figures = organisation.length === entry.rules.length ? entry.wire.slice(0, 16) : []
      return { handle, rule, client: client as Client, action, sessionRef, stage, outcome, did, at, figures }
    })
}

function alarmsOf(entries: Entry[]): Report['alarms'] {
  const byKind = new Map<AlarmKind, { count: number; at: string }>()
  for (const entry of entries) {
    const what =
      entry.kind === 'alarm'
        ? entry.what
        : entry.kind === 'journal_reset' || entry.kind === 'journal_rolled_back' || entry.kind === 'guard_refused'
          ? entry.kind
          : entry.kind === 'second_use'
            ? 'second_use_of_answer'
            : undefined
    if (what) byKind.set(what, { count: (byKind.get(what)?.count ?? 0) + 1, at: entry.at })
  }
  return [...byKind].map(([what, { count, at }]) => ({ what, at, count }))
}

const errorCode = (code: string): ReportedRefusal =>
  (REPORTED_REFUSALS as readonly string[]).includes(code) ? (code as ReportedRefusal) : 'malformed'
