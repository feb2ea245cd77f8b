import { hash } from 'node:crypto'
import { lstatSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { ensureDir, type Home, readBytes, remove, writeAll } from '#agent/home.ts'

/** A file per day, the newest kept: a session older than that is not looked at again. */
const DAYS_KEPT = 3
/** A day of this many judged calls is no person's day; beyond it the oldest are forgotten. */
const IDS_MAX = 200_000
const LINE = 25

/**
 * Which tool uses a hook has judged, to be compared with those that transcripts show: the rest ran unguarded.
 *
 * One append-only file per UTC day, 24 letters a call: a 96-bit mark of session and tool use and nothing else. A file per
 * session would cost an open per call, the journal a chained line; this is one small write (some 5 µs), survives kill -9,
 * and a day of ten thousand calls is a quarter of a megabyte.
 */
export class Judged {
  private readonly marks = new Set<string>()
  private fd: number | undefined
  private day = ''
  private closed = false

  constructor(
    private readonly home: Home,
    private readonly now: () => number,
  ) {
    for (const name of this.files().slice(-DAYS_KEPT)) this.load(join(home.judged, name))
    for (const name of this.files().slice(0, -DAYS_KEPT)) remove(join(home.judged, name))
  }

  has(session: string, toolUse: string): boolean {
    return this.marks.has(markOf(session, toolUse))
  }

  add(session: string, toolUse: string): void {
    const mark = markOf(session, toolUse)
    if (this.marks.has(mark)) return
    if (this.marks.size >= IDS_MAX)
      for (const oldest of [...this.marks].slice(0, IDS_MAX / 10)) this.marks.delete(oldest)
    this.marks.add(mark)
    if (this.closed) return
    try {
      this.openToday()
      writeAll(this.home.disk, this.fd!, Buffer.from(`${mark}\n`))
    } catch {
      // kept in memory: after a restart such a call may count as unguarded, which says too much rather than too little
    }
  }

  close(): void {
    this.closeFile()
    this.closed = true
  }

  private closeFile(): void {
    if (this.fd !== undefined) this.home.disk.close(this.fd)
    this.fd = undefined
  }

  private openToday(): void {
    const day = new Date(this.now()).toISOString().slice(0, 10)
    if (this.fd !== undefined && day === this.day) return
    this.closeFile()
    ensureDir(this.home.judged)
    const path = join(this.home.judged, `${day}.ids`)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    const size = stat?.size ?? 0
    // a mark that was half written when the process died
    if (stat?.isFile() && size % LINE !== 0) truncateSync(path, size - (size % LINE))
    this.fd = this.home.disk.open(path, 'a', 0o600)
    this.day = day
    for (const name of this.files().slice(0, -DAYS_KEPT)) remove(join(this.home.judged, name))
  }

  private files(): string[] {
    try {
      return readdirSync(this.home.judged)
        .filter(name => /^\d{4}-\d\d-\d\d\.ids$/.test(name))
        .sort()
    } catch {
      return []
    }
  }

  private load(path: string): void {
    // unreadable: as if nothing had been judged that day
    const marks = readBytes(path)?.toString('latin1').split('\n') ?? []
    for (const mark of marks) if (mark.length === LINE - 1) this.marks.add(mark)
  }
}

const markOf = (session: string, toolUse: string): string =>
  hash('sha256', `${session}\n${toolUse}`, 'hex').slice(0, LINE - 1)
