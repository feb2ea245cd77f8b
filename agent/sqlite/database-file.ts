/**
 * Reads a database that another program may be writing to. It takes no lock, writes nothing and makes no file: what stands in
 * the log is read from the log, and whether the file was written to meanwhile is looked at afterwards. Then what was read is
 * thrown away and read again.
 */
import * as fs from 'node:fs'
import { Database } from './database.ts'
import { SqliteFailure } from './failure.ts'
import { PageCache, Pages, readHeader } from './pages.ts'
import { type ReadBytes, readWalRound, WalIndex, type WalRound } from './wal.ts'

/** Pages kept between two reads: 4 MB of those of the usual size. */
const CACHE_PAGES = 1024
const ATTEMPTS = 4
const READ_OWN = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0)
/** Where the log's index says how far the log was carried over into the database: how far it is, and how far it is to be. */
const CARRIED_AT = 96
const TO_CARRY_AT = 128

/** Why a file was not opened. */
export class FileRefused extends Error {
  constructor(readonly problem: 'missing' | 'unreadable' | 'not_a_file' | 'not_ours') {
    super(problem)
  }
}

type Open = { fd: number; stat: fs.BigIntStats }

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** Opens a regular file of our own; no link is followed. @throws FileRefused */
function openOwn(path: string): Open {
  let fd: number
  try {
    // where no flag says so, a link is looked for
    if (fs.constants.O_NOFOLLOW === undefined && fs.lstatSync(path).isSymbolicLink())
      throw new FileRefused('not_a_file')
    fd = fs.openSync(path, READ_OWN)
  } catch (error) {
    if (error instanceof FileRefused) throw error
    const code = codeOf(error)
    throw new FileRefused(code === 'ENOENT' ? 'missing' : code === 'ELOOP' ? 'not_a_file' : 'unreadable')
  }
  const stat = fs.fstatSync(fd, { bigint: true })
  const problem = !stat.isFile()
    ? 'not_a_file'
    : process.getuid && Number(stat.uid) !== process.getuid()
      ? 'not_ours'
      : undefined
  if (problem === undefined) return { fd, stat }
  fs.closeSync(fd)
  throw new FileRefused(problem)
}

function openIfThere(path: string): Open | undefined {
  try {
    return openOwn(path)
  } catch (error) {
    if (error instanceof FileRefused && error.problem === 'missing') return undefined
    throw error
  }
}

/** Reads from a descriptor into memory that the next read takes. */
function reader(fd: number): ReadBytes {
  let memory = Buffer.alloc(0)
  return (offset, length) => {
    if (memory.length < length) memory = Buffer.allocUnsafeSlow(length)
    let got = 0
    while (got < length) {
      const more = fs.readSync(fd, memory, got, length - got, offset + got)
      if (more === 0) break
      got += more
    }
    return memory.subarray(0, got)
  }
}

const sizeOf = (path: string) => fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0

/** How far the log was carried over, as its index tells; empty where there is none. */
function carriedOver(path: string): string {
  const open = openIfThere(`${path}-shm`)
  if (open === undefined) return ''
  try {
    const read = reader(open.fd)
    return [CARRIED_AT, TO_CARRY_AT].map(at => Buffer.from(read(at, 4)).toString('hex')).join('.')
  } finally {
    fs.closeSync(open.fd)
  }
}

/** One database. Keeps pages and the log's index from read to read; nothing stays open in between. */
export class DatabaseFile {
  private readonly cache = new PageCache(CACHE_PAGES)
  private index: WalIndex | undefined
  /** What the cached pages are of. */
  private state = ''

  constructor(readonly path: string) {}

  /**
   * Calls `work` with the database as it was at one moment and returns what it returns. `work` may be called again, and what it
   * did before must then be forgotten. @throws SqliteFailure, FileRefused
   */
  read<T>(work: (database: Database) => T): T {
    let failure: unknown
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        return this.attempt(work)
      } catch (error) {
        if (!(error instanceof SqliteFailure)) {
          if (error instanceof FileRefused || codeOf(error) === undefined) throw error
          throw new FileRefused('unreadable')
        }
        failure = error
        if (error.problem !== 'moved') this.forget()
        if (error.problem === 'unsupported') break
      }
    }
    this.forget()
    throw failure
  }

  private forget(): void {
    this.cache.clear()
    this.index = undefined
    this.state = ''
  }

  private attempt<T>(work: (database: Database) => T): T {
    const main = openOwn(this.path)
    try {
      // how far the log is carried over is asked before the log is read: what is carried over later is then seen as a change
      const carried = carriedOver(this.path)
      const wal = openIfThere(`${this.path}-wal`)
      try {
        const readWal = wal && reader(wal.fd)
        const round = readWal && readWalRound(readWal)
        const readFile = reader(main.fd)
        const before = this.stateOf(main, wal, round, carried)
        const header = readHeader(readFile(0, 100))
        if (!header.usesWal && sizeOf(`${this.path}-journal`) > 0)
          throw new SqliteFailure('moved', 'a change is under way')
        this.prepare(before, round, readWal)
        const index = this.index
        const pages = new Pages({
          readFile,
          fileSize: Number(main.stat.size),
          cache: this.cache,
          ...(readWal && index ? { wal: { read: readWal, index } } : {}),
        })
        let result: T | undefined
        let failure: unknown
        try {
          result = work(new Database(pages))
        } catch (error) {
          failure = error
        }
        if (this.stateNow(main) !== before) {
          this.forget()
          throw new SqliteFailure('moved', 'written to while it was read')
        }
        if (failure !== undefined) throw failure
        return result as T
      } finally {
        if (wal) fs.closeSync(wal.fd)
      }
    } finally {
      fs.closeSync(main.fd)
    }
  }

  private prepare(state: string, round: WalRound | undefined, readWal: ReadBytes | undefined): void {
    if (this.state !== state) this.forget()
    this.state = state
    if (round === undefined || readWal === undefined) return
    this.index ??= new WalIndex(round)
    this.index.extend(readWal)
  }

  /** Changes with everything that can change a page which was read: another file, a write to it, a new round of the log. */
  private stateOf(main: Open, wal: Open | undefined, round: WalRound | undefined, carried: string): string {
    const { dev, ino, size, mtimeNs } = main.stat
    const log = wal && round ? `${wal.stat.dev}:${wal.stat.ino} ${round.salts}` : 'none'
    return `${dev}:${ino} ${size} ${mtimeNs} ${log} ${carried}`
  }

  private stateNow(main: Open): string {
    const stat = fs.fstatSync(main.fd, { bigint: true })
    const wal = openIfThere(`${this.path}-wal`)
    try {
      // the log at its path may be another one by now
      const round = wal && readWalRound(reader(wal.fd))
      return this.stateOf({ fd: main.fd, stat }, wal, round, carriedOver(this.path))
    } finally {
      if (wal) fs.closeSync(wal.fd)
    }
  }
}
