/**
 * Reading on in the files that clients write: regular files of one's own, in bounded pieces, from where the last reading
 * ended; a file that was replaced, cut short or rewritten is read from its start.
 */
import { hash } from 'node:crypto'
import * as fs from 'node:fs'
import type { SessionUsage } from '#agent/clients/usage-source.ts'

const CHUNK = 1024 * 1024
/** A file grows by a few lines between two calls: memory of their own would cost more than reading them. */
const SMALL = Buffer.allocUnsafeSlow(64 * 1024)
/** A longer line is dropped unread: no response is that long, and memory stays flat. */
const LINE_MAX = 32 * 1024 * 1024
/** One call reads at most so much, so that a daemon stays responsive; the caller asks again. */
const READ_MAX = 64 * 1024 * 1024
/** Enough to hold the ids and times of the last line, which differ in any other content. */
const TAIL = 1024
const OPEN_FLAGS = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK

export type FileMark = {
  /** `dev:ino` of the file that was read. */
  id: string
  /** Bytes read, up to and with the last whole line. */
  offset: number
  /** Digest of the last bytes before `offset`: another one means that the file was rewritten. */
  tail: string
  /** Set inside a line that is longer than is ever read: bytes are dropped up to its end. */
  skipping?: boolean
}

export type ReadProblem = NonNullable<SessionUsage['problem']>
export class Unreadable extends Error {
  constructor(readonly problem: ReadProblem) {
    super(problem)
  }
}

/** Whether one may read on after this error of the file system, and as what problem; others are thrown on. */
export function problemOf(error: unknown): ReadProblem {
  if (error instanceof Unreadable) return error.problem
  const code = codeOf(error)
  if (code === undefined) throw error
  return code === 'ENOENT' ? 'no_transcript' : 'unreadable'
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** What one call may still read. */
export type ReadBudget = { left: number; chunk: number }
export const readBudget = (bytes?: number): ReadBudget => ({
  left: bytes ?? READ_MAX,
  chunk: Math.min(CHUNK, bytes ?? CHUNK),
})

export const isFolder = (path: string) => fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** What is not there or cannot be read holds no names. */
export function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

/** When a regular file of one's own last changed, in milliseconds since the epoch; undefined for anything else. */
export function changedAt(path: string): number | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile() || (process.getuid && stat.uid !== process.getuid())) return undefined
  // a program can set the time of the content back, that of the change it cannot
  return Math.max(stat.mtimeMs, stat.ctimeMs)
}

/** Opens a regular file of one's own. @throws Unreadable */
export function openOwn(file: string): { fd: number; stat: fs.Stats } {
  let fd: number
  try {
    fd = fs.openSync(file, OPEN_FLAGS)
  } catch (error) {
    const code = codeOf(error)
    throw new Unreadable(code === 'ENOENT' ? 'no_transcript' : code === 'ELOOP' ? 'not_a_file' : 'unreadable')
  }
  const stat = fs.fstatSync(fd)
  const problem: ReadProblem | undefined = !stat.isFile()
    ? 'not_a_file'
    : process.getuid && stat.uid !== process.getuid()
      ? 'not_ours'
      : undefined
  if (problem === undefined) return { fd, stat }
  fs.closeSync(fd)
  throw new Unreadable(problem)
}

const digestOf = (tail: Uint8Array) => hash('sha256', tail, 'base64').slice(0, 22)
const tailLength = (offset: number) => Math.min(TAIL, offset)

/** Bytes of a file from `start` on, in memory that the next read takes. */
type Piece = { start: number; bytes: Buffer; memory: Buffer; isFull: boolean }

function readPiece(fd: number, start: number, size: number, used?: Buffer): Piece {
  const memory = used && used.length >= size ? used : size <= SMALL.length ? SMALL : Buffer.allocUnsafe(size)
  const got = fs.readSync(fd, memory, 0, size, start)
  return { start, bytes: memory.subarray(0, got), memory, isFull: got === size }
}

/** A mark's tail and what follows it, in one read. */
function readFrom(fd: number, { offset }: FileMark, fileSize: number, chunk: number): Piece {
  const start = offset - tailLength(offset)
  return readPiece(fd, start, fileSize - start < SMALL.length ? SMALL.length : chunk)
}

/** The digest of the bytes before `offset`, from the piece where it holds them. */
function tailBefore(fd: number, offset: number, held: Piece): string {
  const length = tailLength(offset)
  const { start, bytes } = held
  const isHeld = offset - length >= start && offset <= start + bytes.length
  const from = isHeld ? offset - length - start : 0
  return digestOf((isHeld ? bytes : readPiece(fd, offset - length, length).bytes).subarray(from, from + length))
}

const NO_MARK: FileMark = { id: '', offset: 0, tail: '' }

/**
 * Reads the lines of one file on from a mark. `take` gets bytes and returns how many of them were whole lines, which it has
 * read; the rest comes again. `startOver` is called before a file that was read is read from its start again. Returns the new
 * mark, and whether more is left than the budget allowed.
 * @throws Unreadable
 */
export function readOn(
  file: string,
  known: FileMark | undefined,
  budget: ReadBudget,
  take: (bytes: Buffer) => number,
  startOver: () => void = () => {},
): { mark: FileMark; more: boolean } {
  const { fd, stat } = openOwn(file)
  try {
    const id = `${stat.dev}:${stat.ino}`
    const isSame = known?.id === id && stat.size >= known.offset
    let piece = readFrom(fd, isSame ? known : NO_MARK, stat.size, budget.chunk)
    let mark = isSame ? known : NO_MARK
    // replaced, cut short or rewritten: from the start again; what was counted is not counted twice
    if (isSame && tailBefore(fd, known.offset, piece) !== known.tail) {
      mark = NO_MARK
      piece = readFrom(fd, mark, stat.size, budget.chunk)
    }
    if (stat.size === mark.offset && known === mark) return { mark, more: false }
    if (known !== undefined && known !== mark) startOver()
    let { offset } = mark
    let skipping = mark.skipping ?? false
    let size = budget.chunk
    let more = false
    for (;;) {
      const chunk = piece.bytes.subarray(offset - piece.start)
      if (chunk.length === 0) break
      if (skipping) {
        const newline = chunk.indexOf(10)
        offset += newline === -1 ? chunk.length : newline + 1
        skipping = newline === -1
        budget.left -= newline === -1 ? chunk.length : newline + 1
        // what follows the long line stands in this piece already
        if (!skipping && budget.left > 0 && newline + 1 < chunk.length) continue
      } else {
        const read = take(chunk)
        offset += read
        budget.left -= read
        if (read === 0) {
          if (!piece.isFull) break
          if (chunk.length >= LINE_MAX) skipping = true
          else if (chunk.length >= size) size *= 2
        }
      }
      if (budget.left <= 0) {
        more = skipping || offset < stat.size
        break
      }
      // the file ends in this piece
      if (!piece.isFull && !skipping) break
      piece = readPiece(fd, offset, size, piece.memory)
    }
    return { mark: { id, offset, tail: tailBefore(fd, offset, piece), ...(skipping ? { skipping } : {}) }, more }
  } catch (error) {
    if (error instanceof Unreadable || codeOf(error) === undefined) throw error
    throw new Unreadable('unreadable')
  } finally {
    fs.closeSync(fd)
  }
}

/** A file that its client writes anew each time, as it was when it was read. */
export type WholeMark = { id: string; size: number; changedMs: number }

/**
 * A file that is written anew as a whole, where it changed since the mark; undefined where it did not. The new mark is of the
 * moment before it was read: one that changes while it is read has changed again, and is read another time.
 * @throws Unreadable, `too_large` above `maxBytes`
 */
export function readChanged(
  file: string,
  known: WholeMark | undefined,
  maxBytes: number,
): { mark: WholeMark; bytes: Buffer } | undefined {
  const { fd, stat } = openOwn(file)
  try {
    const mark = wholeMark(stat)
    if (known && isSameWhole(known, mark)) return undefined
    if (stat.size > maxBytes) throw new Unreadable('too_large')
    const bytes = Buffer.allocUnsafe(stat.size)
    return { mark, bytes: bytes.subarray(0, fs.readSync(fd, bytes, 0, stat.size, 0)) }
  } catch (error) {
    if (error instanceof Unreadable || codeOf(error) === undefined) throw error
    throw new Unreadable('unreadable')
  } finally {
    fs.closeSync(fd)
  }
}

const wholeMark = ({ dev, ino, size, mtimeMs, ctimeMs }: fs.Stats): WholeMark => ({
  id: `${dev}:${ino}`,
  size,
  changedMs: Math.max(mtimeMs, ctimeMs),
})
const isSameWhole = (a: WholeMark, b: WholeMark) => a.id === b.id && a.size === b.size && a.changedMs === b.changedMs

/** The beginning of a file of one's own, as text. @throws Unreadable */
export function readHead(file: string, bytes: number): string {
  const { fd } = openOwn(file)
  try {
    const head = Buffer.alloc(bytes)
    return head.toString('utf8', 0, fs.readSync(fd, head, 0, bytes, 0))
  } finally {
    fs.closeSync(fd)
  }
}

/** Opens a regular file of one's own where there is one. @throws Unreadable */
export function openIfThere(file: string): number | undefined {
  try {
    return openOwn(file).fd
  } catch (error) {
    if (error instanceof Unreadable && error.problem === 'no_transcript') return undefined
    throw error
  }
}

/** When names in a folder of one's own last changed, in milliseconds since the epoch; undefined for anything else. */
export function folderChangedAt(path: string): number | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false })
  return stat?.isDirectory() ? Math.max(stat.mtimeMs, stat.ctimeMs) : undefined
}
