import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { openToAppend, readRegular } from './regular-file.ts'

/** The edge of the file system that the daemon writes through; tests hand in one that fails. */
export type Disk = {
  open(path: string, flags: string, mode: number): number
  write(fd: number, bytes: Uint8Array): number
  fsync(fd: number): void
  close(fd: number): void
  rename(from: string, to: string): void
}

export const DISK: Disk = {
  open: (path, flags, mode) => (flags === 'a' ? openToAppend(path, mode) : openSync(path, flags, mode)),
  write: (fd, bytes) => writeSync(fd, bytes),
  fsync: fd => fsyncSync(fd),
  close: fd => closeSync(fd),
  rename: (from, to) => renameSync(from, to),
}

/** Where everything of this machine lies. Every file is 0600, every folder 0700. */
export type Home = {
  readonly root: string
  readonly disk: Disk
  /** Local rules; the developer's own file. */
  readonly config: string
  readonly localGood: string
  readonly bin: string
  readonly team: string
  readonly machineKey: string
  /** 32 bytes: session references and the daemon's proof. */
  readonly secret: string
  readonly roots: string
  readonly ruleset: string
  /** A rule set that waits for its root to be in force: see agent/trust/store.ts. */
  readonly nextRuleset: string
  readonly fresh: string
  readonly pin: string
  readonly equivocation: string
  readonly tokens: string
  readonly daemon: string
  readonly lock: string
  readonly journal: string
  /** The newest journal line that this machine knows of, kept apart from the journal. */
  readonly journalHigh: string
  readonly spool: string
  readonly sessions: string
  readonly judged: string
  readonly counters: string
  /** What the control plane has acknowledged, and the report on its way. */
  readonly sync: string
  /** Every model call of this machine, what was read of it, and what of it was sent. */
  readonly usage: string
  readonly log: string
}

/** The paths below `HOLDPOINT_HOME`, by default `~/.holdpoint`. Creates nothing. */
export function openHome(root = process.env.HOLDPOINT_HOME || join(homedir(), '.holdpoint'), disk: Disk = DISK): Home {
  const at = (...parts: string[]) => join(root, ...parts)
  return {
    root,
    disk,
    config: at('config.yaml'),
    localGood: at('trust', 'local-good.yaml'),
    bin: at('bin'),
    team: at('team.json'),
    machineKey: at('machine-key.json'),
    secret: at('secret'),
    roots: at('trust', 'roots.json'),
    ruleset: at('trust', 'ruleset.jws'),
    nextRuleset: at('trust', 'ruleset.next.jws'),
    fresh: at('trust', 'fresh.jws'),
    pin: at('trust', 'pin.json'),
    equivocation: at('trust', 'equivocation.json'),
    tokens: at('tokens.json'),
    daemon: at('daemon.json'),
    lock: at('daemon.lock'),
    journal: at('journal'),
    journalHigh: at('journal-high.json'),
    spool: at('spool'),
    sessions: at('sessions'),
    judged: at('judged'),
    counters: at('counters.json'),
    sync: at('sync.json'),
    usage: at('usage'),
    log: at('daemon.log'),
  }
}

/** Makes a folder (0700) and those above it. */
export function ensureDir(path: string): void {
  if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 })
}

/** Larger than anything that lies in a home beside the journal. */
const HOME_FILE_MAX = 16 * 1024 * 1024

/**
 * The bytes of a file of our own; undefined when it is not there or cannot be read. What another program has put in its place
 * (a pipe, a link, a device, another user's file) is not read and blocks nothing.
 */
export function readBytes(path: string, maxBytes = HOME_FILE_MAX): Buffer | undefined {
  const read = readRegular(path, { maxBytes, own: true })
  return 'bytes' in read ? read.bytes : undefined
}

export const readText = (path: string, maxBytes?: number): string | undefined =>
  readBytes(path, maxBytes)?.toString('utf8')

/** A file that a person keeps, config.yaml or a client's settings: it may be a link, into a repository of dotfiles say. */
export function readKeptText(path: string): string | undefined {
  const read = readRegular(path, { maxBytes: HOME_FILE_MAX, links: true })
  return 'bytes' in read ? read.bytes.toString('utf8') : undefined
}

/** A JSON file of our own; undefined when it is absent, unreadable or no JSON. */
export function readJson<T>(path: string): T | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

let temporary = 0

/**
 * Replaces a file whole: temporary file, fsync, rename. Throws what the system says (ENOSPC, EROFS, EACCES); the old
 * content is then still there.
 */
export function writeAtomic(home: Home, path: string, content: string | Uint8Array, mode = 0o600): void {
  ensureDir(dirname(path))
  const temp = `${path}.${process.pid}.${++temporary}.tmp`
  const { disk } = home
  try {
    const fd = disk.open(temp, 'wx', mode)
    try {
      writeAll(disk, fd, typeof content === 'string' ? Buffer.from(content) : content)
      disk.fsync(fd)
    } finally {
      disk.close(fd)
    }
    disk.rename(temp, path)
  } catch (error) {
    remove(temp)
    throw error
  }
}

export const writeJson = (home: Home, path: string, value: unknown): void =>
  writeAtomic(home, path, `${JSON.stringify(value)}\n`)

/** Writes every byte: a single write may take only a part of them. */
export function writeAll(disk: Disk, fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    const wrote = disk.write(fd, at === 0 ? bytes : bytes.subarray(at))
    if (wrote <= 0) throw Object.assign(new Error('nothing was written'), { code: 'ENOSPC' })
    at += wrote
  }
}

/** Deletes a file; that it is not there, or cannot be deleted, is no error. */
export function remove(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch {
    return false
  }
}
