import { hash } from 'node:crypto'
import { ControlPlaneError } from '#agent/control-plane.ts'
import { signJws } from '#agent/crypto.ts'
import type { Membership } from '#agent/daemon/runtime.ts'
import type { Home } from '#agent/home.ts'
import { usageSince } from '#agent/trust/team.ts'
import { DAY_MS, dayStart } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { UPLOAD_DAYS_MAX } from '#core/limits.ts'
import { unlistedByDay } from '#core/usage/attribution.ts'
import { boundTags } from '#core/usage/bound-tags.ts'
import { type Bucket, bucketsByDay } from '#core/usage/bucket.ts'
import { type DayToSend, dayText, readUpload, splitDays, toWire, type UsageAnswer } from '#core/usage/upload.ts'
import { spendOf } from './attribute.ts'
import { dayMark, ledgerDays, readLedgerDay } from './ledger.ts'
import { type Meter, meter, meterKey } from './meter.ts'
import { PastRules } from './past-rules.ts'
import {
  type Kept,
  type Pending,
  readKept,
  type Sent,
  unlistedShares,
  wasSentBefore,
  writeKept,
} from './upload-state.ts'

/** Uploads in a row to catch up; the rest follows a minute later, below what the control plane takes of one machine. */
const IN_A_ROW = 20
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** After what time a day that is not taken is sent again as it is. */
const AGAIN_MS: Partial<Record<Sent['state'], number>> = { quarantined: HOUR_MS, refused: DAY_MS }
/** Numbers of uploads are 32 bits there. */
const SEQ_MAX = 2_000_000_000

/** What became of uploads, for status. `problem`: what kept the newest one from being taken. */
export type UploadState = {
  seq: number
  sentAt?: string
  waiting: number
  quarantined: string[]
  refused: string[]
  unlisted: Record<string, number>
  problem?: { code: string; message: string; at: string }
}

type Deps = {
  home: Home
  now(): number
  membership(): Membership | undefined
  meter(): Meter
}
type Changed = { toSend: DayToSend; sent: Sent }

/**
 * Sends the ledger's days as sums of quarter hours, each day whole and only when it differs from what the control plane has.
 * An upload is kept before it is sent and sent again as it was until it is answered, so that a crash or a lost answer counts
 * nothing twice. What is from before this machine joined is nobody's business and stays here, unless it joined with its history.
 */
export class Uploader {
  private kept: Kept | undefined
  private newest: Promise<unknown> = Promise.resolve()
  /** By day: from what its digest was made, so that what has not changed is not read again. */
  private readonly looked = new Map<string, { mark: string; digest: string }>()
  private waiting = 0
  private problem: UploadState['problem']
  private notBefore = 0

  private readonly pastRules: PastRules

  constructor(private readonly deps: Deps) {
    this.pastRules = new PastRules(deps.home)
  }

  private stateOf({ machine, org, ...joined }: Membership['team']): Kept {
    if (this.kept?.machine === machine) return this.kept
    this.kept = readKept(this.deps.home, { machine, org: org.id, since: usageSince(joined) })
    this.looked.clear()
    this.problem = undefined
    this.notBefore = 0
    return this.kept
  }

  private once<T>(what: () => Promise<T>): Promise<T> {
    const turn = this.newest.catch(() => {}).then(what)
    this.newest = turn
    return turn
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    await this.newest.catch(() => {})
  }

  /** Whether it is time: each hour; each minute where a budget is read, or something waits to be caught up. */
  isDue(everyMinute: boolean): boolean {
    const membership = this.deps.membership()
    if (!membership || this.deps.now() < this.notBefore) return false
    const { sentAt, pending } = this.stateOf(membership.team)
    const age = this.deps.now() - (sentAt ?? 0)
    return everyMinute || pending !== undefined || this.waiting > 0 || age < 0 || age >= HOUR_MS
  }

  /** Sends what there is, after what is being sent. Throws what kept it from being sent; nothing is lost by that. */
  send(): Promise<void> {
    return this.once(async () => {
      try {
        for (let i = 0; i < IN_A_ROW; i++) if (!(await this.sendOne())) break
        this.problem = undefined
      } catch (error) {
        const { now } = this.deps
        const code = error instanceof ControlPlaneError ? error.code : 'failed'
        this.problem = { code, message: (error as Error).message, at: new Date(now()).toISOString() }
        // a control plane that is not there is asked again each minute, one that refuses seldom
        this.notBefore = now() + (code === 'unreachable' ? 0 : code === 'NOT_FOUND' ? HOUR_MS : 5 * MINUTE_MS)
        throw error
      }
    })
  }

  /** The exact bytes of the next upload; undefined when there is nothing to send. They are kept, and are what is sent next. */
  preview(): Promise<string | undefined> {
    return this.once(async () => {
      const pending = await this.prepare()
      return pending && Buffer.from(pending.jws.split('.')[1]!, 'base64url').toString('utf8')
    })
  }

  /** Returns true when there may be more to send. */
  private async sendOne(): Promise<boolean> {
    const membership = this.deps.membership()
    const pending = await this.prepare()
    if (!membership || !pending) {
      if (membership) this.noteSent(this.stateOf(membership.team))
      return false
    }
    const kept = this.stateOf(membership.team)
    try {
      this.take(kept, pending, await membership.controlPlane.usage(pending.jws))
    } catch (error) {
      if (!(error instanceof ControlPlaneError)) throw error
      if (error.code === 'CONFLICT') {
        this.skipAhead(kept, error.seq)
        return true
      }
      if (error.code !== 'BAD_INPUT' && error.code !== 'TOO_LARGE') throw error
      // one that can never be taken is given up, so that the next ones are not kept back
      for (const [name, sent] of Object.entries(pending.days))
        kept.days[name] = { ...sent, state: 'refused', sentAt: this.deps.now() }
      delete kept.pending
      writeKept(this.deps.home, kept)
      throw error
    }
    return true
  }

  private noteSent(kept: Kept): void {
    kept.sentAt = this.deps.now()
    writeKept(this.deps.home, kept)
  }

  private take(kept: Kept, pending: Pending, answer: UsageAnswer): void {
    for (const { day, state } of answer.days) {
      const sent = pending.days[day]
      if (!sent) continue
      if (state === 'stale') {
        // this home's count is behind what it once was: a copy was put back
        this.skipAhead(kept)
        continue
      }
      kept.days[day] = { ...sent, state: state === 'quarantined' ? 'quarantined' : 'taken', sentAt: this.deps.now() }
    }
    delete kept.pending
    this.noteSent(kept)
  }

  /** Goes on above the numbers that were used; where those are not told, twice as far at each try. */
  private skipAhead(kept: Kept, used?: number): void {
    const next = used ?? kept.seq + Math.max(16, kept.seq)
    kept.seq = Math.min(SEQ_MAX, Math.max(kept.seq, next))
    delete kept.pending
    writeKept(this.deps.home, kept)
  }

  private async prepare(): Promise<Pending | undefined> {
    const membership = this.deps.membership()
    if (!membership) return undefined
    const kept = this.stateOf(membership.team)
    if (kept.pending) return kept.pending
    const { changed, more } = await this.changedDays(kept, membership)
    this.waiting = changed.length + more
    const [days] = splitDays(changed.map(({ toSend }) => toSend))
    if (!days) return undefined
    if (!membership.key) throw new Error('the machine’s key is gone; join again')
    const { now, home } = this.deps
    const { org, machine } = membership.team
    const at = new Date(now()).toISOString()
    const upload = readUpload({ v: 1, org: org.id, machine, seq: kept.seq + 1, at, days })
    const going = new Set(days.map(({ day }) => day))
    kept.pending = {
      jws: signJws('holdpoint-usage+jws', membership.key, upload),
      seq: upload.seq,
      days: Object.fromEntries(
        changed.filter(({ toSend }) => going.has(toSend.day)).map(({ toSend, sent }) => [toSend.day, sent]),
      ),
    }
    kept.seq = upload.seq
    writeKept(home, kept)
    this.waiting -= days.length
    return kept.pending
  }

  /** Days whose content is another than the control plane has, as many as one upload holds; `more`: how many may be left. */
  private async changedDays(kept: Kept, { team }: Membership): Promise<{ changed: Changed[]; more: number }> {
    const { home, now } = this.deps
    const since = usageSince(team)
    const by = this.deps.meter()
    const madeBy = meterKey(by)
    this.pastRules.note(team.org.id, by.set, now())
    const changed: Changed[] = []
    let more = 0
    let hasMoved = false
    // today first: budgets wait for it
    for (const name of ledgerDays(home).reverse()) {
      if (dayStart(name) + DAY_MS <= since) continue
      const mark = `${dayMark(home, name)} ${madeBy}`
      const known = kept.days[name]
      // kept apart because a clock was ahead: said again by a clock that may be right now
      // and one that was refused is tried again each day: what reads it may have learned more
      const isSettled =
        known !== undefined && now() - known.sentAt < (AGAIN_MS[known.state] ?? Number.POSITIVE_INFINITY)
      if (isSettled && known.mark === mark) continue
      const looked = this.looked.get(name)
      if (isSettled && looked?.mark === mark && looked.digest === known.digest) continue
      // what no upload has room for is looked at when its turn comes
      if (changed.length === UPLOAD_DAYS_MAX) {
        more++
        continue
      }
      const toSend = await dayToSend(home, name, { since, by, past: this.pastRules, kept, now: now() })
      if (!toSend) continue
      const digest = digestOf(toSend)
      this.looked.set(name, { mark, digest })
      if (isSettled && known.digest === digest) {
        known.mark = mark
        hasMoved = true
        continue
      }
      const cost = formatDecimal(toSend.buckets.reduce((sum, { picoUsd }) => sum + picoUsd, 0n))
      const sent: Sent = { state: 'taken', digest, mark, sentAt: 0, cost, unlisted: boundTags(toSend).unlisted ?? {} }
      changed.push({ toSend, sent })
    }
    if (hasMoved) writeKept(home, kept)
    return { changed, more }
  }

  state(): UploadState | undefined {
    const membership = this.deps.membership()
    if (!membership) return undefined
    const kept = this.stateOf(membership.team)
    const daysIn = (state: Sent['state']) => Object.keys(kept.days).filter(name => kept.days[name]!.state === state)
    return {
      seq: kept.seq,
      ...(kept.sentAt === undefined ? {} : { sentAt: new Date(kept.sentAt).toISOString() }),
      waiting: this.waiting + Object.keys(kept.pending?.days ?? {}).length,
      quarantined: daysIn('quarantined').sort(),
      refused: daysIn('refused').sort(),
      unlisted: unlistedShares(kept),
      ...(this.problem ? { problem: this.problem } : {}),
    }
  }
}

const digestOf = ({ day, computedAt, buckets, unlisted }: DayToSend): string =>
  hash(
    'sha256',
    dayText({ day, computedAt, buckets: buckets.map(toWire), ...(unlisted ? { unlisted } : {}) }),
    'base64url',
  ).slice(0, 22)

/** A day of the ledger as it may leave this machine; undefined when nothing of it may. */
async function dayToSend(
  home: Home,
  day: string,
  { since, by, past, kept, now }: { since: number; by: Meter; past: PastRules; kept: Kept; now: number },
): Promise<DayToSend | undefined> {
  const lists = spendOf(by.set)?.tags ?? {}
  const calls = (await readLedgerDay(home, day)).filter(({ atMs }) => atMs >= since && !wasSentBefore(kept, day, atMs))
  const metered = past.fill(await meter(calls, by, lists), by)
  const buckets: Bucket[] | undefined = bucketsByDay(metered).get(day)
  if (!buckets) return undefined
  const unlisted = unlistedByDay(metered).get(day)
  return { day, computedAt: new Date(now).toISOString(), buckets, ...(unlisted ? { unlisted } : {}) }
}
