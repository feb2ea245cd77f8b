/**
 * The write-ahead log of a database that is being written to (https://www.sqlite.org/fileformat2.html#walformat): which page
 * stands in which frame, up to the last commit that is wholly there. Frames of an earlier round have other salts, a frame that
 * is still being written has a wrong checksum: reading ends before either.
 */
import { unsupported } from './failure.ts'

/** Bytes of a file from an offset; fewer than asked for at its end. What is returned may be used until the next read. */
export type ReadBytes = (offset: number, length: number) => Uint8Array

const HEADER = 32
const FRAME_HEADER = 24
/** Magic numbers, whose last bit says in which byte order the checksums are made. */
const MAGIC = 0x377f0682
const VERSION = 3007000
/** Far more than any client lets stand: 8 GB of pages. */
const FRAMES_MAX = 2_000_000
/** Frames in one read. */
const AT_ONCE = 64

type Sums = [number, number]

const IS_LITTLE_HOST = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1

/** The log's checksum goes on over each pair of 32-bit words. `bytes` is a multiple of eight long. */
function addUp([s0, s1]: Sums, bytes: Uint8Array, bigEndian: boolean): Sums {
  let [a, b] = [s0, s1]
  if (IS_LITTLE_HOST && !bigEndian && bytes.byteOffset % 4 === 0) {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    for (let i = 0; i < words.length; i += 2) {
      a = (a + words[i]! + b) >>> 0
      b = (b + words[i + 1]! + a) >>> 0
    }
    return [a, b]
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let i = 0; i < bytes.length; i += 8) {
    a = (a + view.getUint32(i, !bigEndian) + b) >>> 0
    b = (b + view.getUint32(i + 4, !bigEndian) + a) >>> 0
  }
  return [a, b]
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** What names one round of the log: it begins anew under other salts. Undefined where there is no log that is in force. */
export type WalRound = { salts: string; pageSize: number; bigEndian: boolean; sums: Sums }

/** Reads the head of a log. @throws SqliteFailure */
export function readWalRound(read: ReadBytes): WalRound | undefined {
  const bytes = read(0, HEADER)
  if (bytes.length < HEADER) return undefined
  const head = viewOf(bytes)
  const magic = head.getUint32(0)
  if (magic !== MAGIC && magic !== MAGIC + 1) return undefined
  const bigEndian = magic === MAGIC + 1
  const sums = addUp([0, 0], Uint8Array.from(bytes.subarray(0, 24)), bigEndian)
  if (sums[0] !== head.getUint32(24) || sums[1] !== head.getUint32(28)) return undefined
  if (head.getUint32(4) !== VERSION) throw unsupported('a log of another version')
  const pageSize = head.getUint32(8)
  // SQLite itself passes over a log with other sizes
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0) return undefined
  return { salts: `${head.getUint32(16)}.${head.getUint32(20)}`, pageSize, bigEndian, sums }
}

/** The pages that one round of the log holds. Goes on from where it was when there is more. */
export class WalIndex {
  /** Page → the newest committed frame that holds it, counted from 1. */
  private readonly frames = new Map<number, number>()
  private committed = 0
  private sums: Sums
  /** How many pages the database has after the last commit; 0 before the first. */
  pageCount = 0

  constructor(readonly round: WalRound) {
    this.sums = round.sums
  }

  /** The last committed frame. */
  get end(): number {
    return this.committed
  }

  /** The frame of a page; undefined: the page is in the database's own file. */
  frameOf(page: number): number | undefined {
    return this.frames.get(page)
  }

  /** Where a frame's page begins in the log. */
  offsetOf(frame: number): number {
    return HEADER + (frame - 1) * (FRAME_HEADER + this.round.pageSize) + FRAME_HEADER
  }

  /** Reads what was committed since. @throws SqliteFailure */
  extend(read: ReadBytes): void {
    const { pageSize, bigEndian, salts } = this.round
    const size = FRAME_HEADER + pageSize
    let sums = this.sums
    let frame = this.committed
    const waiting = new Map<number, number>()
    for (;;) {
      const bytes = read(HEADER + frame * size, size * AT_ONCE)
      for (let at = 0; at + size <= bytes.length; at += size) {
        const head = viewOf(bytes.subarray(at, at + FRAME_HEADER))
        if (`${head.getUint32(8)}.${head.getUint32(12)}` !== salts) return
        sums = addUp(sums, bytes.subarray(at, at + 8), bigEndian)
        sums = addUp(sums, bytes.subarray(at + FRAME_HEADER, at + size), bigEndian)
        if (sums[0] !== head.getUint32(16) || sums[1] !== head.getUint32(20)) return
        if (++frame > FRAMES_MAX) throw unsupported('a log that is too long')
        waiting.set(head.getUint32(0), frame)
        const pageCount = head.getUint32(4)
        if (pageCount === 0) continue
        for (const [page, newest] of waiting) this.frames.set(page, newest)
        waiting.clear()
        this.committed = frame
        this.sums = sums
        this.pageCount = pageCount
      }
      if (bytes.length < size * AT_ONCE) return
    }
  }
}
