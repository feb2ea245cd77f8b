/**
 * Reads a database that another program may be writing to. It takes no lock, writes nothing and makes no file: what stands in
 * the log is read from the log, and whether the file was written to meanwhile is looked at afterwards. Then what was read is
 * thrown away and read again.
 */
import * as fs from 'node:fs'
import { Database, readTables, type Tables } from './database.ts'
import { SqliteFailure } from './failure.ts'
import { HEADER_BYTES, PageCache, Pages, readHeader } from './pages.ts'
import { type ReadBytes, readWalRound, WalIndex, type WalRound } from './wal.ts'

/** Pages kept between two reads: 4 MB of those of the usual size. */
const CACHE_PAGES = 1024
const ATTEMPTS = 4
/** Where the log's index says how far the log was carried over into the database: how far it is, and how far it is to be. */
const CARRIED_AT = 96
const TO_CARRY_AT = 128

/** Opens a file for reading; undefined where there is none. What it throws, whoever reads gets. */
export type OpenFile = (path: string) => number | undefined

type Opened = { fd: number; stat: fs.BigIntStats }

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

/** Changes with everything that can change a page which was read: another file, a write to it, a new round of the log. */
function stateOf(main: Opened, wal: Opened | undefined, round: WalRound | undefined, carried: string): string {
  const { dev, ino, size, mtimeNs } = main.stat
  const log = wal && round ? `${wal.stat.dev}:${wal.stat.ino} ${round.salts}` : 'none'
  return `${dev}:${ino} ${size} ${mtimeNs} ${log} ${carried}`
}

/** One database. Keeps pages and the log's index from read to read; nothing stays open in between. */
export class DatabaseFile {
  private readonly cache = new PageCache(CACHE_PAGES)
  private index: WalIndex | undefined
  /** What the cached pages are of. */
  private state = ''

  private schema: { cookie: number; tables: Tables } | undefined

  constructor(
    readonly path: string,
    private readonly open: OpenFile,
  ) {}

  /**
   * Calls `work` with the database as it was at one moment and returns what it returns; undefined where there is none.
   * `work` may be called again, and what it did before must then be forgotten. @throws SqliteFailure, and what opening throws
   */
  read<T>(work: (database: Database) => T): T | undefined {
    let failure: unknown
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        return this.attempt(work)
      } catch (error) {
        if (!(error instanceof SqliteFailure)) throw error
        failure = error
        this.forget()
        if (error.problem === 'unsupported') break
      }
    }
    throw failure
  }

  private forget(): void {
    this.cache.clear()
    this.index = undefined
    this.schema = undefined
    this.state = ''
  }

  private opened(path: string): Opened | undefined {
    const fd = this.open(path)
    return fd === undefined ? undefined : { fd, stat: fs.fstatSync(fd, { bigint: true }) }
  }

  private attempt<T>(work: (database: Database) => T): T | undefined {
    const main = this.opened(this.path)
    if (main === undefined) return undefined
    try {
      // just made: nothing was ever written to it
      if (main.stat.size === 0n) return undefined
      // how far the log is carried over is asked before the log is read: what is carried over later is then seen as a change
      const carried = this.carriedOver()
      const wal = this.opened(`${this.path}-wal`)
      try {
        return this.readOpened(main, wal, carried, work)
      } finally {
        if (wal) fs.closeSync(wal.fd)
      }
    } finally {
      fs.closeSync(main.fd)
    }
  }

  private readOpened<T>(main: Opened, wal: Opened | undefined, carried: string, work: (database: Database) => T): T {
    const readWal = wal && reader(wal.fd)
    const round = readWal && readWalRound(readWal)
    const readFile = reader(main.fd)
    const before = stateOf(main, wal, round, carried)
    if (!readHeader(readFile(0, HEADER_BYTES)).usesWal && sizeOf(`${this.path}-journal`) > 0)
      throw new SqliteFailure('moved', 'a change is under way')
    this.prepare(before, round, readWal)
    const { cache, index } = this
    const log = readWal && index ? { wal: { read: readWal, index } } : {}
    const pages = new Pages({ readFile, fileSize: Number(main.stat.size), cache, ...log })
    let result: T | undefined
    let failure: unknown
    try {
      result = work(this.databaseOf(pages))
    } catch (error) {
      failure = error
    }
    if (this.stateNow(main) !== before) throw new SqliteFailure('moved', 'written to while it was read')
    if (failure !== undefined) throw failure
    return result as T
  }

  private databaseOf(pages: Pages): Database {
    if (this.schema?.cookie !== pages.schemaCookie)
      this.schema = { cookie: pages.schemaCookie, tables: readTables(pages) }
    return new Database(pages, this.schema.tables)
  }

  /** How far the log was carried over into the database, as its index tells; empty where there is none. */
  private carriedOver(): string {
    const opened = this.opened(`${this.path}-shm`)
    if (opened === undefined) return ''
    try {
      const read = reader(opened.fd)
      return [CARRIED_AT, TO_CARRY_AT].map(at => Buffer.from(read(at, 4)).toString('hex')).join('.')
    } finally {
      fs.closeSync(opened.fd)
    }
  }

  private prepare(state: string, round: WalRound | undefined, readWal: ReadBytes | undefined): void {
    if (this.state !== state) this.forget()
    this.state = state
    if (round === undefined || readWal === undefined) return
    this.index ??= new WalIndex(round)
    this.index.extend(readWal)
  }

  private stateNow(main: Opened): string {
    const stat = fs.fstatSync(main.fd, { bigint: true })
    // the log at its path may be another one by now
    const wal = this.opened(`${this.path}-wal`)
    try {
      return stateOf({ fd: main.fd, stat }, wal, wal && readWalRound(reader(wal.fd)), this.carriedOver())
    } finally {
      if (wal) fs.closeSync(wal.fd)
    }
  }
}
