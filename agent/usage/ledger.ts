import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import type { UsageRecord } from '#agent/clients/usage-source.ts'
import { ensureDir, type Home, remove, writeAll } from '#agent/home.ts'
import { DAY_MS, dayStart, utcDay } from '#core/day.ts'
import { areSound, USAGE_CLIENTS, uniqueCalls } from '#core/usage/bucket.ts'
import { CallIndex, type KnownCall, nameOf } from './call-index.ts'
import {
  type CallLine,
  countsOf,
  endsWhole,
  type LedgerCall,
  linesOf,
  readCall,
  readPlace,
  tokensOf,
} from './ledger-lines.ts'
import { joinObservers, type SeenCall } from './observers.ts'
import type { Place } from './place.ts'

export type { LedgerCall }

/** How long a call is kept: the longest budget's window, a year and a day, and a month to look back from there. */
export const RETAIN_DAYS = 400
/** Names of models that are told apart; what is recorded as one is the client's word. */
const MODELS_MAX = 1000
/** Lines between which others get their turn. */
const LINES_AT_ONCE = 200
const FILE = /^(\d{4}-\d\d-\d\d)\.jsonl$/

/** A call as it is added: by a reader of the client's own records, or told by telemetry (`isTold`). */
export type LedgerRecord = UsageRecord & {
  isTold?: true
  /** A sum over calls that nobody tells apart: it is priced at the plain rate, however large it is. */
  isSum?: true
}

/** Names what may change of a call that is seen again: its counts, and that it had broken off. */
const contentName = ({ n, b }: Pick<CallLine, 'n' | 'b'>): number => nameOf(b === 1 ? `${n.join()} b` : n.join())

/**
 * Every model call of this machine, once, in one file a UTC day. Only ever appended to: a call that is seen again, or grew, is
 * a further line under its key, and reading takes the largest counts. So a crash between any two writes, and a reader that
 * reads something again, change nothing. Lines that are no lines of ours (half-written, damaged) are left out.
 */
export class Ledger {
  private index = new CallIndex()
  /** The same by request ids; only where telemetry tells of calls. */
  private requests: CallIndex | undefined
  private opening: Promise<void> | undefined
  private isOpen = false
  /** The newest place line of each session in each day's file that this process has written. */
  private readonly placed = new Map<string, string>()
  /** The newest moment of each model and provider there is. */
  private readonly models = new Map<string, { model: string; provider?: string; atMs: number }>()
  /** Calls that broke off and were not seen whole since. */
  private readonly broken = new Set<string>()
  /** Calls that were not taken, since the start: older than what is kept, and with counts that no call can have. */
  tooOld = 0
  unsound = 0

  constructor(
    private readonly home: Home,
    private readonly now: () => number,
  ) {}

  private pathOf(day: string): string {
    return join(this.home.usage, 'days', `${day}.jsonl`)
  }

  /** The days there are, the oldest first. */
  days(): string[] {
    return ledgerDays(this.home)
  }

  /** Makes the index of what there is; before anything can be added. In slices. */
  open(): Promise<void> {
    this.opening ??= this.load()
    return this.opening
  }

  private async load(): Promise<void> {
    ensureDir(join(this.home.usage, 'days'))
    this.forget()
    for (const day of this.days()) {
      const dayNumber = dayStart(day) / DAY_MS
      let lines = 0
      for (const line of linesOf(this.pathOf(day))) {
        if (++lines % LINES_AT_ONCE === 0) await breathe()
        const call = readCall(line)
        if (call) this.note(call, dayNumber)
      }
      await breathe()
    }
    this.isOpen = true
  }

  /** How many calls broke off; what they had used until then is counted. */
  get brokeOff(): number {
    return this.broken.size
  }

  /** Whether a call stands there with these counts, or with those that telemetry told while its own record is still to be added. */
  has(client: string, record: Pick<UsageRecord, 'key' | 'requestId' | 'tokens' | 'partial'>): boolean {
    const { key, requestId, tokens, partial } = record
    const counts = contentName({ n: countsOf(tokens), ...(partial ? { b: 1 } : {}) })
    const known = [key, `${key}|${requestId}`].map(one => this.index.get(`${client} ${one}`))
    if (known.some(one => one?.counts === counts)) return true
    return known.every(one => one === undefined) && this.toldOf(record) !== undefined
  }

  /** What telemetry has told of a call. */
  private toldOf({ key, requestId }: Pick<UsageRecord, 'key' | 'requestId'>): KnownCall | undefined {
    return this.index.get(`told ${key}`) ?? (requestId === undefined ? undefined : this.index.get(`told ${requestId}`))
  }

  /** What the records of any client have of a call that telemetry tells of. */
  private ownOf(ids: readonly string[]): KnownCall | undefined {
    for (const id of ids)
      for (const client of USAGE_CLIENTS) {
        const known = this.index.get(`${client} ${id}`) ?? this.requests?.get(`${client} ${id}`)
        if (known) return known
      }
    return undefined
  }

  /** Makes calls known by their request ids as well, for {@link knowsAny}: from the first time on that telemetry tells of a call. */
  async knowRequests(): Promise<void> {
    await this.open()
    if (this.requests) return
    // before the first turn is given: what is added meanwhile is noted there as well
    const requests = new CallIndex()
    this.requests = requests
    for (const day of this.days()) {
      let lines = 0
      for (const line of linesOf(this.pathOf(day))) {
        if (++lines % LINES_AT_ONCE === 0) await breathe()
        const call = readCall(line)
        if (call) this.noteRequest(call, dayStart(day) / DAY_MS)
      }
    }
  }

  /** Whether a call is known by one of its ids, whichever client it was that had it and whoever told of it. */
  knowsAny(ids: readonly string[]): boolean {
    return ids.some(id => this.index.get(`told ${id}`) !== undefined) || this.ownOf(ids) !== undefined
  }

  /** Models that were called since a moment, each with its provider where that is recorded. */
  modelsSince(atMs: number): { model: string; provider?: string }[] {
    return [...this.models.values()].filter(one => one.atMs >= atMs)
  }

  private noteModel({ m: model, p: provider, at: atMs }: CallLine): void {
    const name = `${model}\n${provider ?? ''}`
    const before = this.models.get(name)
    if (before) before.atMs = Math.max(before.atMs, atMs)
    else if (this.models.size < MODELS_MAX)
      this.models.set(name, { model, ...(provider === undefined ? {} : { provider }), atMs })
  }

  private note(line: CallLine, day: number): void {
    const { k, c, q = '' } = line
    this.noteModel(line)
    if (line.x === 'call') {
      const known = { day, request: 0, counts: contentName(line) }
      for (const id of [k, q]) if (id !== '') this.index.set(`told ${id}`, known)
      if (line.b === 1 && this.ownOf([k, q]) === undefined) this.broken.add(`told ${k}`)
      return
    }
    const key = `${c} ${k}`
    const before = this.index.get(key)
    const request = before?.request || (q === '' ? 0 : nameOf(q))
    this.index.set(key, { day: before?.day ?? day, request, counts: contentName(line) })
    this.noteRequest(line, day)
    if (this.broken.size > 0) for (const name of [key, `told ${k}`, `told ${q}`]) this.broken.delete(name)
    if (line.b === 1) this.broken.add(key)
  }

  /** Of a response of several records the one that has its id alone stands for it. */
  private noteRequest(line: CallLine, day: number): void {
    const { k, c, q, x } = line
    if (x !== undefined || q === undefined || k.includes('#')) return
    this.requests?.set(`${c} ${q}`, { day, request: 0, counts: contentName(line) })
  }

  /**
   * Adds calls of one session. What stands there already is not written again; what its client's records and telemetry tell of
   * one call stands in one day's file, whichever came first, and is one call when it is read. Throws what the disk says; what was
   * written by then stays, and adding all of them again is right.
   */
  add(records: readonly LedgerRecord[], place: Place): void {
    if (!this.isOpen) throw new Error('the ledger is not open')
    const oldest = Math.floor(this.now() / DAY_MS) - RETAIN_DAYS
    const byDay = new Map<number, CallLine[]>()
    for (const record of records) {
      if (!areSound(record.tokens)) {
        this.unsound++
        continue
      }
      const line = this.lineOf(record, place)
      const told = this.toldOf(record)
      const own = line.x === 'call' ? this.ownOf([line.k, line.q ?? '']) : this.index.get(`${line.c} ${line.k}`)
      const counts = contentName(line)
      const isThere = own?.counts === counts || (line.x === 'call' && told?.counts === counts)
      const day = (own ?? (line.x === 'sum' ? undefined : told))?.day ?? Math.floor(line.at / DAY_MS)
      if (day < oldest) this.tooOld++
      else if (!isThere) byDay.set(day, [...(byDay.get(day) ?? []), line])
    }
    for (const [day, lines] of byDay) {
      this.append(utcDay(day * DAY_MS), lines, place)
      for (const line of lines) this.note(line, day)
    }
  }

  /** One id under two request ids is two calls: a gateway that uses ids again. */
  private lineOf(record: LedgerRecord, place: Place): CallLine {
    const { key, requestId, model, atMs, tokens, agentId, provider, covered, partial, isTold, isSum } = record
    const known = this.index.get(`${place.client} ${key}`)
    const isOther =
      !isTold &&
      known !== undefined &&
      known.request !== 0 &&
      requestId !== undefined &&
      known.request !== nameOf(requestId)
    return {
      k: isOther ? `${key}|${requestId}` : key,
      ...(requestId === undefined ? {} : { q: requestId }),
      c: place.client,
      s: place.session,
      m: model,
      at: atMs > 0 ? Math.floor(atMs) : this.now(),
      n: countsOf(tokens),
      ...(agentId === undefined ? {} : { a: 1 as const }),
      ...(provider === undefined ? {} : { p: provider }),
      ...(covered === undefined ? {} : { v: covered }),
      ...(partial ? { b: 1 as const } : {}),
      ...(isTold ? { x: isSum ? ('sum' as const) : ('call' as const) } : {}),
    }
  }

  private append(day: string, lines: CallLine[], place: Place): void {
    const { client: c, session: s, directory: d, repository: r, tags: t, from: f, environment: e, covered: v } = place
    const where = JSON.stringify({ c, s, d, r, t, f, e, v })
    const at = `${day} ${c} ${s}`
    const isNew = this.placed.get(at) !== where
    const text = `${isNew ? `${where}\n` : ''}${lines.map(line => JSON.stringify(line)).join('\n')}\n`
    const { disk } = this.home
    const fd = disk.open(this.pathOf(day), 'a', 0o600)
    try {
      // what a crash left half-written ends here, or it would swallow the next line
      writeAll(disk, fd, Buffer.from(endsWhole(this.pathOf(day)) ? text : `\n${text}`))
    } catch (error) {
      this.placed.delete(at)
      throw error
    } finally {
      disk.close(fd)
    }
    this.placed.set(at, where)
  }

  /** Deletes what is older than is kept. */
  forget(): void {
    const oldest = utcDay(this.now() - RETAIN_DAYS * DAY_MS)
    for (const day of this.days()) if (day < oldest) remove(this.pathOf(day))
    if (this.placed.size > 10_000) this.placed.clear()
  }
}

/** The days of a home's ledger, the oldest first. */
export function ledgerDays(home: Home): string[] {
  try {
    return readdirSync(join(home.usage, 'days'))
      .flatMap(name => FILE.exec(name)?.[1] ?? [])
      .sort()
  } catch {
    return []
  }
}

/** A mark that changes whenever a day's file does; undefined when there is none. */
export function dayMark(home: Home, day: string): string | undefined {
  const stat = statSync(join(home.usage, 'days', `${day}.jsonl`), { throwIfNoEntry: false })
  return stat && `${stat.ino}.${stat.size}.${stat.mtimeMs}`
}

/** A day's calls, each once, in the order in which they were first seen. Reads what is there: the writer may be another process. */
export async function readLedgerDay(home: Home, day: string): Promise<LedgerCall[]> {
  const places = new Map<string, Place>()
  const calls: LedgerCall[] = []
  const ids = new Map<string, readonly string[]>()
  const told = new Set<string>()
  let lines = 0
  for (const line of linesOf(join(home.usage, 'days', `${day}.jsonl`))) {
    if (++lines % LINES_AT_ONCE === 0) await breathe()
    const call = readCall(line)
    if (call) {
      const { k, q, c, s, m: model, at: atMs, n, a, p: provider, v: covered, b, x } = call
      const nowhere = { client: c, session: s, repository: [], tags: {}, from: {} }
      const place = places.get(`${c} ${s}`) ?? nowhere
      const key = x === 'call' ? `told ${c} ${k}` : `${c} ${k}`
      calls.push({
        key,
        model,
        atMs,
        tokens: tokensOf(n),
        subagent: a === 1,
        place,
        ...(provider === undefined ? {} : { provider }),
        ...(covered === undefined ? {} : { covered }),
        ...(b === 1 ? { partial: true } : {}),
        ...(x === 'sum' ? { isSum: true } : {}),
      })
      if (x === 'call') told.add(key)
      if (x !== 'sum') ids.set(key, q === undefined ? [k] : [k, q])
      continue
    }
    const place = readPlace(line)
    if (place) places.set(`${place.client} ${place.session}`, place)
  }
  const once = uniqueCalls(calls)
  if (told.size === 0) return once
  const seen = once.map((call): SeenCall => ({ call, ids: ids.get(call.key) ?? [], told: told.has(call.key) }))
  const start = dayStart(day)
  return joinObservers(seen, atMs => atMs >= start && atMs < start + DAY_MS)
}
