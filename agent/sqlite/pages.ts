/** The pages of a database as they were at one moment: from its file, or from the log where that has a newer one. */
import { corrupt, unsupported } from './failure.ts'
import type { ReadBytes, WalIndex } from './wal.ts'

const MAGIC = 'SQLite format 3\0'
export const HEADER_BYTES = 100

export type DatabaseHeader = {
  pageSize: number
  /** Bytes of a page that content may take. */
  usable: number
  /** Pages by the header; 0 where the header does not say. */
  pageCount: number
  /** Another one where tables were made or changed. */
  schemaCookie: number
  /** Whether writers use a log. */
  usesWal: boolean
}

/** Reads the first hundred bytes. @throws SqliteFailure */
export function readHeader(bytes: Uint8Array): DatabaseHeader {
  if (bytes.length < HEADER_BYTES || String.fromCharCode(...bytes.subarray(0, 16)) !== MAGIC)
    throw corrupt('no database')
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const stored = head.getUint16(16)
  const pageSize = stored === 1 ? 65536 : stored
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) throw corrupt('pages of an impossible size')
  const usable = pageSize - head.getUint8(20)
  if (usable < 480) throw corrupt('pages without room')
  if (head.getUint8(19) > 2) throw unsupported('a format that is newer than this reader')
  const encoding = head.getUint32(56)
  // 0: nothing was ever written
  if (encoding > 1) throw unsupported('text that is not UTF-8')
  // a count is left behind by writers that know of none
  const isCountValid = head.getUint32(92) === head.getUint32(24)
  return {
    pageSize,
    usable,
    pageCount: isCountValid ? head.getUint32(28) : 0,
    schemaCookie: head.getUint32(40),
    usesWal: head.getUint8(19) === 2,
  }
}

/** Pages that were read, the longest unused forgotten first. */
export class PageCache {
  private readonly pages = new Map<string, Uint8Array>()
  constructor(private readonly max: number) {}

  get(place: string): Uint8Array | undefined {
    const page = this.pages.get(place)
    if (page === undefined) return undefined
    this.pages.delete(place)
    this.pages.set(place, page)
    return page
  }

  set(place: string, page: Uint8Array): void {
    this.pages.set(place, page)
    if (this.pages.size <= this.max) return
    for (const oldest of this.pages.keys()) {
      this.pages.delete(oldest)
      return
    }
  }

  clear(): void {
    this.pages.clear()
  }
}

type Source = {
  readFile: ReadBytes
  /** How long the database's own file is, in bytes. */
  fileSize: number
  wal?: { read: ReadBytes; index: WalIndex }
  cache: PageCache
}

export class Pages {
  readonly pageSize: number
  readonly usable: number
  readonly count: number
  readonly schemaCookie: number
  /** Bytes read so far, those that were kept from before not counted. */
  bytesRead = 0

  /** @throws SqliteFailure */
  constructor(private readonly source: Source) {
    const { wal, fileSize } = source
    const first = wal?.index.frameOf(1)
    const bytes =
      first === undefined ? source.readFile(0, HEADER_BYTES) : wal!.read(wal!.index.offsetOf(first), HEADER_BYTES)
    const header = readHeader(bytes)
    if (wal && wal.index.end > 0 && wal.index.round.pageSize !== header.pageSize)
      throw corrupt('a log with other pages than its database')
    this.pageSize = header.pageSize
    this.usable = header.usable
    this.schemaCookie = header.schemaCookie
    // whatever is claimed, there are no more pages than the file and the log have room for
    const room = Math.floor(fileSize / header.pageSize) + (wal?.index.end ?? 0)
    this.count = Math.min(wal?.index.pageCount || header.pageCount || room, room)
  }

  /** A page, from 1 on. @throws SqliteFailure */
  page(number: number): Uint8Array {
    if (number < 1 || number > this.count) throw corrupt(`page ${number} of ${this.count}`)
    const { wal, cache } = this.source
    const frame = wal?.index.frameOf(number)
    const place = frame === undefined ? `${number}` : `w${frame}`
    const known = cache.get(place)
    if (known) return known
    const bytes =
      frame === undefined
        ? this.source.readFile((number - 1) * this.pageSize, this.pageSize)
        : wal!.read(wal!.index.offsetOf(frame), this.pageSize)
    if (bytes.length < this.pageSize) throw corrupt(`page ${number} is not all there`)
    const page = Uint8Array.from(bytes)
    this.bytesRead += page.length
    cache.set(place, page)
    return page
  }
}
