import { setImmediate as breathe } from 'node:timers/promises'
import type { Home } from '#agent/home.ts'
import type { Ledger, LedgerRecord } from '#agent/usage/ledger.ts'
import type { Place } from '#agent/usage/place.ts'
import { DAY_MS } from '#core/day.ts'
import { CALL_TOKENS_MAX } from '#core/limits.ts'
import { PRICE_AXES, type UsageTokens } from '#core/pricing.ts'
import type { Tags } from '#core/usage/tags.ts'
import { Inbox, type Waiting } from './inbox.ts'
import { type Kept, readKept, type Tally, writeKept } from './known.ts'
import { leftOut, noteSum } from './left-out.ts'
import type { Observed, ObservedCall, ObservedSum } from './observed.ts'

/** A client whose records are read here may write them a moment after it has told of them. */
const OWN_RECORDS_MS = 60_000
/** Events of a session are exported before its sums are, or soon after. */
const SUMS_MS = 120_000
const AT_ONCE = 500

export type TelemetryState = Tally & { waiting: number; lastAt?: string; problem?: string }

type Deps = {
  home: Home
  now(): number
  ledger: Ledger
  /** Whether the client's own records of a session are read on this machine; without a session, of any. */
  readsOwn(client: string, session: string | undefined): boolean
  /** Whether this machine reads records of the client at all. */
  isSource(client: string): boolean
  placeOf(client: string, session: string | undefined, tags: Tags | undefined): Place
}

/**
 * Usage that clients tell of by OpenTelemetry. No call is counted twice: one that the ledger has under one of its ids is the same
 * call, what has no id that could be compared is left out where the client's own records are read, and a session is counted either
 * by its calls or by its sums.
 */
export class Telemetry {
  private readonly inbox: Inbox
  private kept: Kept | undefined
  private problem: string | undefined
  /** How much waits; undefined until it was looked at. */
  private waits: number | undefined

  constructor(private readonly deps: Deps) {
    this.inbox = new Inbox(deps.home)
  }

  private get known(): Kept {
    this.kept ??= readKept(this.deps.home, this.deps.now())
    return this.kept
  }

  /** Takes a batch in. @throws what the disk says: it is then not taken */
  take(seen: readonly Observed[], left: { rejected: number; outer?: number }): void {
    this.inbox.add(seen, this.deps.now())
    if (this.waits !== undefined) this.waits += seen.length
    this.known.lastAt = this.deps.now()
    this.known.tally.rejected += left.rejected
    this.known.tally.outer += left.outer ?? 0
  }

  /**
   * Counts what has waited long enough; after the clients' own records were read. Calls first, then how far sums were counted,
   * then they stop waiting: after a crash in between all is looked at again and meets its own keys.
   */
  async settle(): Promise<void> {
    const waiting = this.inbox.read()
    this.waits = waiting.length
    if (waiting.length === 0) {
      await this.countLeftOut()
      return
    }
    if (waiting.some(({ seen }) => seen.kind === 'call')) await this.deps.ledger.knowRequests()
    const later = new Set<Waiting>()
    for (const [i, one] of waiting.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await breathe()
      if (this.mustWait(one)) later.add(one)
      else this.count(one.seen)
    }
    writeKept(this.deps.home, this.known)
    // what came while this one gave way stands behind what was read
    const all = this.inbox.read()
    const left = [...later, ...all.slice(waiting.length)]
    this.inbox.keep(left)
    this.waits = left.length
    await this.countLeftOut()
  }

  /** Attempts that only the sums of a session have, one record for all of them. */
  private async countLeftOut(): Promise<void> {
    const { sums } = this.known
    if (sums === undefined) return
    const { home, ledger, placeOf, now } = this.deps
    const found = await leftOut(home, sums, now())
    for (const { session, tags, ...record } of found)
      ledger.add([{ ...record, partial: true, isTold: true, isSum: true }], placeOf('claude-code', session, tags))
    if (found.length > 0) writeKept(home, this.known)
  }

  private mustWait({ at, seen }: Waiting): boolean {
    const age = this.deps.now() - at
    const wait = seen.kind === 'sum' ? SUMS_MS : this.deps.isSource(seen.client) ? OWN_RECORDS_MS : 0
    // a clock that was set back keeps nothing waiting for ever
    return age >= 0 && age < wait
  }

  private count(seen: Observed): void {
    if (seen.kind === 'call') {
      this.countCall(seen)
      return
    }
    const { tally } = this.known
    const added = this.addedBy(seen)
    const isRead = this.deps.readsOwn(seen.client, seen.session)
    if (!isRead && this.isCountedBy(seen)) {
      if (added) this.countSum(seen, added)
      return
    }
    tally[isRead ? 'own' : 'otherwise']++
    this.known.sums ??= {}
    if (added) noteSum(this.known.sums, seen, added, this.deps.now())
  }

  /**
   * Whether a session is counted by what this is: what was counted of it first decides, until it has been quiet for a day. Sums
   * need not say of which session they are; those of a program that tells of calls are then of the same calls.
   */
  private isCountedBy({ kind, client, session, source }: Observed): boolean {
    const by = kind === 'call' ? 'calls' : 'sums'
    const { modes } = this.known
    const now = this.deps.now()
    const ofSession = session === undefined ? [] : [`${client} ${session}`]
    const ofSource = kind === 'call' || session === undefined ? [`${client} @${source}`] : []
    const keys = [...ofSession, ...ofSource]
    if (keys.some(key => modes[key] !== undefined && modes[key].by !== by && now - modes[key].at < DAY_MS)) return false
    for (const key of keys) modes[key] = { by, at: now }
    return true
  }

  /**
   * A call that is known by one of its ids is the same call: the ledger takes what this one tells beyond it. One that is not, of
   * a session whose own records are read, counts only where its id would stand in them: they have left it out.
   */
  private countCall(call: ObservedCall): void {
    const { client, session, tags, ids, model, provider, atMs, tokens, partial, isRecordsId } = call
    const { ledger, placeOf, readsOwn } = this.deps
    const { tally } = this.known
    const isKnown = ledger.knowsAny(ids)
    const isRead = readsOwn(client, session)
    const isCounted = isRead ? isRecordsId === true : this.isCountedBy(call)
    if (isKnown) tally[isRead ? 'own' : 'repeated']++
    else if (isCounted) tally.calls++
    else {
      tally[isRead ? 'own' : 'otherwise']++
      return
    }
    const [key, requestId] = ids
    const record: LedgerRecord = {
      key: key!,
      ...(requestId === undefined ? {} : { requestId }),
      model,
      atMs,
      tokens,
      ...(provider === undefined ? {} : { provider }),
      ...(partial ? { partial } : {}),
      isTold: true,
    }
    ledger.add([record], placeOf(client, session, tags))
  }

  private countSum(sum: ObservedSum, added: UsageTokens): void {
    const { client, session, tags, model, provider, atMs, series, start, time } = sum
    const records = pieces(added).map(
      (tokens, i): LedgerRecord => ({
        key: `${series}:${start}:${time}${i === 0 ? '' : `#${i}`}`,
        model,
        atMs,
        tokens,
        ...(provider === undefined ? {} : { provider }),
        isTold: true,
        isSum: true,
      }),
    )
    this.deps.ledger.add(records, this.deps.placeOf(client, session, tags))
    this.known.tally.sums++
  }

  /** What a point adds to what was counted of its series; undefined for nothing. A restart has a start of its own. */
  private addedBy({ series, start, time, running, tokens, atMs }: ObservedSum): UsageTokens | undefined {
    if (!running) return isNothing(tokens) ? undefined : tokens
    const { series: all, uncountedBefore } = this.known
    const key = `${series} ${start}`
    const before = all[key]
    if (before && BigInt(time) <= BigInt(before.time)) return undefined
    all[key] = { time, tokens, at: atMs }
    if (!before && uncountedBefore !== undefined && Number(BigInt(start) / 1_000_000n) < uncountedBefore)
      return undefined
    const added = { ...tokens }
    // one that falls under an unchanged start has begun anew without saying so
    const fell = before !== undefined && PRICE_AXES.some(axis => tokens[axis] < (before.tokens[axis] ?? 0))
    if (before && !fell) for (const axis of PRICE_AXES) added[axis] -= before.tokens[axis] ?? 0
    return isNothing(added) ? undefined : added
  }

  note(problem: string | undefined): void {
    this.problem = problem
  }

  /** Undefined while nothing was ever told. */
  state(): TelemetryState | undefined {
    const { tally, lastAt } = this.known
    if (lastAt === undefined && this.problem === undefined) return undefined
    this.waits ??= this.inbox.read().length
    return {
      ...tally,
      waiting: this.waits,
      ...(lastAt === undefined ? {} : { lastAt: new Date(lastAt).toISOString() }),
      ...(this.problem === undefined ? {} : { problem: this.problem }),
    }
  }
}

const isNothing = (tokens: UsageTokens) => PRICE_AXES.every(axis => tokens[axis] === 0)

/** A sum over many calls may be more than any one can have. */
function pieces(tokens: UsageTokens): UsageTokens[] {
  const found: UsageTokens[] = []
  const rest = { ...tokens }
  while (!isNothing(rest)) {
    const piece = { ...rest }
    for (const axis of PRICE_AXES) {
      piece[axis] = Math.min(rest[axis], CALL_TOKENS_MAX)
      rest[axis] -= piece[axis]
    }
    found.push(piece)
  }
  return found
}
