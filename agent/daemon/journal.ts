import { ftruncateSync, statSync } from 'node:fs'
import { crypto } from '#agent/crypto.ts'
import { ensureDir, type Home, writeAll, writeJson } from '#agent/home.ts'
import { type JournalHead, lineHash, type ReportedHead } from '#core/journal.ts'
import type { Entry, EntryBody } from './entry.ts'
import { FILE_MAX, JournalFiles } from './journal-files.ts'
import { keptHead } from './kept.ts'

/** Lines kept in memory while the disk takes none; beyond it the oldest cannot be kept and the loss is told. */
const UNWRITTEN_MAX = 5000

/** What the start found that somebody should know. */
export type JournalTrouble = 'journal_reset' | 'journal_rolled_back' | 'disk_full'

/**
 * The machine's journal: an append-only chain of JSON lines, the only source of truth for decisions, requests, answers and
 * spends. One writer. Plain writes survive kill -9; {@link append} with `durable` also survives power loss.
 *
 * While the disk is full or read-only, lines wait in memory, chained, and go out when it takes them again.
 */
export class Journal {
  private fd: number | undefined
  private size = 0
  private lastSeq = -1
  private lastHash = ''
  /** The newest line that the disk has. */
  private onDisk: JournalHead = { seq: -1, head: '' }
  private firstSeq = 0
  private unwritten: string[] = []
  private highDirty = false
  private closed = false
  private readonly files: JournalFiles
  /** What opening found. */
  readonly troubles: JournalTrouble[] = []
  /** Whether the newest write reached the disk. */
  writable = true

  /** Every entry that was read, for the replay; emptied by whoever has read it. */
  entries: Entry[] = []
  /** What opening itself has chained. */
  readonly opened: Entry[] = []

  constructor(
    private readonly home: Home,
    private readonly now: () => number,
    private readonly connector: string,
    private readonly fileMax = FILE_MAX,
  ) {
    this.files = new JournalFiles(home)
    this.open()
  }

  /**
   * Chains one entry. With `durable` it is flushed to the disk before this returns; `false` means that it is not there (and
   * that nothing may be released on its strength).
   */
  append(body: EntryBody, { durable = false }: { durable?: boolean } = {}): { entry: Entry; written: boolean } {
    const entry = {
      ...body,
      seq: this.lastSeq + 1,
      prev: this.lastHash,
      at: new Date(this.now()).toISOString(),
    } as Entry
    const line = JSON.stringify(entry)
    this.lastSeq = entry.seq
    this.lastHash = lineHash(line, crypto.sha256)
    this.highDirty = true
    this.unwritten.push(`${line}\n`)
    return { entry, written: this.flush(durable) }
  }

  /** Writes what waits in memory. Called with each entry and each minute. */
  flush(durable = false): boolean {
    const { disk } = this.home
    // another daemon may have begun to write: what comes late is fetched again by that one
    if (this.closed) return false
    try {
      while (this.unwritten.length > 0) {
        if (this.fd === undefined || this.size >= this.fileMax) this.nextFile()
        const bytes = Buffer.from(this.unwritten[0]!)
        try {
          writeAll(disk, this.fd!, bytes)
        } catch (error) {
          // a part of the line may be there: take it back, so that the file stays whole lines
          ftruncateSync(this.fd!, this.size)
          throw error
        }
        this.size += bytes.length
        this.unwritten.shift()
        this.onDisk = {
          seq: this.onDisk.seq + 1,
          head: lineHash(bytes.subarray(0, -1).toString('utf8'), crypto.sha256),
        }
      }
      if (durable) disk.fsync(this.fd!)
      this.writable = true
      return true
    } catch {
      this.writable = false
      if (this.unwritten.length > UNWRITTEN_MAX) this.loseOldest()
      return false
    }
  }

  /** Half of what waits in memory goes; the rest is chained anew behind a line that says how many were lost. */
  private loseOldest(): void {
    const kept = this.unwritten.slice(UNWRITTEN_MAX / 2).map(line => JSON.parse(line) as Entry)
    const lines = this.unwritten.length - kept.length
    this.unwritten = []
    this.lastSeq = this.onDisk.seq
    this.lastHash = this.onDisk.head
    for (const body of [{ kind: 'lines_lost' as const, lines, at: kept[0]!.at }, ...kept]) {
      const line = JSON.stringify({ ...body, seq: this.lastSeq + 1, prev: this.lastHash })
      this.lastSeq++
      this.lastHash = lineHash(line, crypto.sha256)
      this.unwritten.push(`${line}\n`)
    }
  }

  get head(): JournalHead {
    return { seq: this.lastSeq, head: this.lastHash }
  }

  /**
   * The head with the line that stands now where the control plane last recorded one. Left out only when this journal began
   * anew after that line; when it is merely shorter, its own end stands there and shows it.
   */
  headBeside(recorded: JournalHead): ReportedHead {
    if (recorded.seq < this.firstSeq) return this.head
    if (recorded.seq > this.lastSeq) return { ...this.head, anchor: this.head }
    const hash = recorded.seq === this.lastSeq ? this.lastHash : this.files.hashAt(recorded.seq)
    return { ...this.head, anchor: { seq: recorded.seq, head: hash ?? this.lastHash } }
  }

  /** Keeps the newest line's number and hash apart from the journal, so that a shortened journal is seen. */
  keepHigh(): void {
    // the lines must be down before their number is: or a power cut would read as a journal that was shortened
    if (!this.highDirty || !this.flush(true)) return
    try {
      writeJson(this.home, this.home.journalHigh, this.head)
      this.highDirty = false
    } catch {
      // tried again with the next one; the disk's trouble is told by the writes themselves
    }
  }

  /** Entries that name a handle, oldest first: for `explain`, where memory no longer has them. */
  find(handle: string): Entry[] {
    return this.files.linesWith(handle)
  }

  close(): void {
    this.flush()
    this.keepHigh()
    if (this.fd !== undefined) this.home.disk.close(this.fd)
    this.fd = undefined
    this.closed = true
  }

  private nextFile(): void {
    const { disk, journal } = this.home
    if (this.fd !== undefined) {
      disk.fsync(this.fd)
      disk.close(this.fd)
      this.fd = undefined
    }
    ensureDir(journal)
    const first = (JSON.parse(this.unwritten[0]!) as Entry).seq
    const path = this.files.pathFrom(first)
    this.fd = disk.open(path, 'a', 0o600)
    this.size = statSync(path).size
  }

  /** Reads and checks the whole chain. */
  private open(): void {
    const high = keptHead(this.home)
    const names = this.files.names()
    const read = this.files.readChain(names)
    if (read.broken || (read.entries.length === 0 && high)) {
      const kept = names.length > 0 ? this.files.setAside(this.now()) : undefined
      const after = Math.max(high?.seq ?? -1, read.entries.at(-1)?.seq ?? -1)
      this.lastSeq = after
      this.onDisk = { seq: after, head: '' }
      this.firstSeq = after + 1
      this.troubles.push('journal_reset')
      // what could be read up to the break still counts: an answer that was spent stays spent
      this.entries = read.entries
      this.opening({
        kind: 'journal_reset',
        after,
        why: names.length > 0 ? 'broken' : 'absent',
        ...(kept ? { kept } : {}),
      })
    } else if (read.entries.length === 0) {
      this.opening({ kind: 'begun', connector: this.connector })
    } else {
      this.entries = read.entries
      this.lastSeq = read.entries.at(-1)!.seq
      this.lastHash = read.hash
      this.onDisk = this.head
      this.firstSeq = read.entries[0]!.seq
      this.openLast(names.at(-1)!, read.cutBytes)
      if (read.cutBytes > 0) this.opening({ kind: 'tail_cut', bytes: read.cutBytes })
      if (
        high &&
        (high.seq > read.entries.at(-1)!.seq || (high.seq >= this.firstSeq && high.head !== this.knownHash(high.seq)))
      ) {
        this.troubles.push('journal_rolled_back')
        this.opening({ kind: 'journal_rolled_back', had: high.seq, head: high.head })
      }
    }
    if (!this.writable) this.troubles.push('disk_full')
    this.keepHigh()
  }

  private opening(body: EntryBody): void {
    this.opened.push(this.append(body).entry)
  }

  private knownHash(seq: number): string | undefined {
    return seq === this.lastSeq ? this.lastHash : this.files.hashAt(seq)
  }

  private openLast(name: string, cutBytes: number): void {
    try {
      const path = this.files.path(name)
      const fd = this.home.disk.open(path, 'a', 0o600)
      this.size = statSync(path).size - cutBytes
      if (cutBytes > 0) ftruncateSync(fd, this.size)
      this.fd = fd
    } catch {
      this.writable = false
    }
  }
}
