import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { crypto } from '#agent/crypto.ts'
import { type Home, readText } from '#agent/home.ts'
import { lineHash } from '#core/journal.ts'
import type { Entry } from './entry.ts'

/** A file of the journal is closed at this size; the chain goes on in the next. */
export const FILE_MAX = 8 * 1024 * 1024
/** A file is closed with the line that fills it; more than this is none of ours. */
const READ_MAX = 8 * FILE_MAX

const NAME = /^(\d{12})\.jsonl$/
const firstLineOf = (name: string): number => Number(NAME.exec(name)![1])

/** What could be read of a chain. `hash`: of its last line. */
type Chain = { entries: Entry[]; hash: string; broken: boolean; cutBytes: number }

/** The files of a machine's journal, read: each is named for the number of its first line. The journal alone writes them. */
export class JournalFiles {
  constructor(private readonly home: Home) {}

  path(name: string): string {
    return join(this.home.journal, name)
  }

  /** The file that begins with a line. */
  pathFrom(seq: number): string {
    return this.path(`${String(seq).padStart(12, '0')}.jsonl`)
  }

  /** Names of the files, oldest first. */
  names(): string[] {
    try {
      return readdirSync(this.home.journal)
        .filter(name => NAME.test(name))
        .sort()
    } catch {
      return []
    }
  }

  private read(name: string): string | undefined {
    return readText(this.path(name), READ_MAX)
  }

  /** The hash of the line with a number; undefined where the files have none. */
  hashAt(seq: number): string | undefined {
    const file = this.names()
      .filter(name => firstLineOf(name) <= seq)
      .at(-1)
    if (!file) return undefined
    const line = this.read(file)?.split('\n')[seq - firstLineOf(file)]
    return line ? lineHash(line, crypto.sha256) : undefined
  }

  /** Entries that name a handle, oldest first. */
  linesWith(handle: string): Entry[] {
    return this.names().flatMap(name =>
      (this.read(name) ?? '')
        .split('\n')
        .filter(line => line.includes(handle))
        .flatMap(line => parseLine(line) ?? []),
    )
  }

  /** Reads and checks the chain of some files, up to its end or its first break. `cutBytes`: of a last line without its end. */
  readChain(names: readonly string[]): Chain {
    const entries: Entry[] = []
    let hash = ''
    let cutBytes = 0
    for (const [i, name] of names.entries()) {
      const text = this.read(name)
      if (text === undefined) return { entries, hash, broken: true, cutBytes: 0 }
      const lines = text.split('\n')
      // a line without its end is one that was being written when the process died; only the newest file can have one
      const tail = lines.pop()!
      if (tail !== '') {
        if (i < names.length - 1) return { entries, hash, broken: true, cutBytes: 0 }
        cutBytes = Buffer.byteLength(tail)
      }
      const before = entries.at(-1)
      if (lines.length > 0 && before && firstLineOf(name) !== before.seq + 1)
        return { entries, hash, broken: true, cutBytes: 0 }
      for (const line of lines) {
        const entry = parseLine(line)
        const last = entries.at(-1)
        const follows = last ? entry?.seq === last.seq + 1 && entry.prev === hash : entry?.prev === ''
        if (!entry || !follows) return { entries, hash, broken: true, cutBytes: 0 }
        entries.push(entry)
        hash = lineHash(line, crypto.sha256)
      }
    }
    return { entries, hash, broken: false, cutBytes }
  }

  /** Moves a broken journal out of the way, whole; its new name, or undefined where the disk takes no change. */
  setAside(nowMs: number): string | undefined {
    const kept = `journal.broken-${new Date(nowMs).toISOString().replace(/[:.]/g, '-')}`
    try {
      renameSync(this.home.journal, join(this.home.root, kept))
      return kept
    } catch {
      return undefined
    }
  }
}

function parseLine(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line) as Entry
    return typeof entry === 'object' &&
      entry !== null &&
      Number.isSafeInteger(entry.seq) &&
      typeof entry.prev === 'string' &&
      typeof entry.kind === 'string'
      ? entry
      : undefined
  } catch {
    return undefined
  }
}
