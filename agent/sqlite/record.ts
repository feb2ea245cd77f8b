/** Values of a row or an index entry: SQLite's record format (https://www.sqlite.org/fileformat2.html#record_format). */
import { corrupt } from './failure.ts'

/** A whole number that a double does not hold exactly is a bigint. */
export type SqliteValue = null | number | bigint | string | Uint8Array

/** A number of one to nine bytes, and where it ends. */
export function readVarint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0
  for (let i = 0; i < 9; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) throw corrupt('a number ends outside its page')
    if (i === 8) return { value: value * 256 + byte, end: at + 9 }
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + i + 1 }
  }
  throw corrupt('a number without an end')
}

/** A row's number: of 64 bits with a sign, of which those are read that a double holds. */
export function readRowid(bytes: Uint8Array, at: number): { value: number; end: number } {
  const read = readVarint(bytes, at)
  if (!Number.isSafeInteger(read.value)) throw corrupt('a row number that is negative or too large to be one of ours')
  return read
}

const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
const sizeOf = (type: number): number => {
  if (type >= 12) return Math.floor((type - 12) / 2)
  const size = SIZES[type]
  if (size === undefined) throw corrupt(`a value of the reserved type ${type}`)
  return size
}

const UTF8 = new TextDecoder()

function readWhole(bytes: DataView, size: number): number | bigint {
  if (size === 1) return bytes.getInt8(0)
  if (size === 2) return bytes.getInt16(0)
  if (size === 3) return bytes.getInt8(0) * 65536 + bytes.getUint16(1)
  if (size === 4) return bytes.getInt32(0)
  if (size === 6) return bytes.getInt16(0) * 2 ** 32 + bytes.getUint32(2)
  const whole = bytes.getBigInt64(0)
  const near = Number(whole)
  return Number.isSafeInteger(near) ? near : whole
}

function readValue(type: number, bytes: Uint8Array): SqliteValue {
  if (type === 0) return null
  if (type === 8) return 0
  if (type === 9) return 1
  if (type >= 12) return type % 2 === 0 ? bytes : UTF8.decode(bytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return type === 7 ? view.getFloat64(0) : readWhole(view, bytes.length)
}

/** A record's bytes: those on its own page, and as many from its start on as are asked for. */
export type Payload = { size: number; local: Uint8Array; first(bytes: number): Uint8Array }

/** Longer than the head of a row with as many columns as SQLite lets a table have. */
const HEAD_MAX = 32 * 1024

/** The values of a record, each read when it is asked for, so that long ones that nobody wants cost nothing. */
export class SqliteRecord {
  private readonly types: number[] = []
  private readonly starts: number[] = []

  constructor(private readonly payload: Payload) {
    const head = readVarint(payload.local, 0)
    if (head.value > Math.min(payload.size, HEAD_MAX) || head.value < head.end)
      throw corrupt('a record whose head is longer than it')
    const bytes = head.value <= payload.local.length ? payload.local : payload.first(head.value)
    let start = head.value
    for (let at = head.end; at < head.value; ) {
      const { value: type, end } = readVarint(bytes, at)
      this.types.push(type)
      this.starts.push(start)
      start += sizeOf(type)
      at = end
    }
    if (start > payload.size) throw corrupt('a record whose values are longer than it')
  }

  /** How many values there are: fewer than columns where columns were added later. */
  get length(): number {
    return this.types.length
  }

  /** How many bytes the whole record has. */
  get size(): number {
    return this.payload.size
  }

  /** The n-th value; null beyond the last. */
  at(n: number): SqliteValue {
    const type = this.types[n]
    if (type === undefined) return null
    const start = this.starts[n]!
    const end = start + sizeOf(type)
    const { local } = this.payload
    return readValue(type, (end <= local.length ? local : this.payload.first(end)).subarray(start, end))
  }

  /** The beginning of a text, as far as it stands on the row's own page; its last character may be cut. */
  textHead(n: number): string | undefined {
    const type = this.types[n]
    if (type === undefined || type < 13 || type % 2 === 0) return undefined
    const start = this.starts[n]!
    return UTF8.decode(this.payload.local.subarray(start, start + sizeOf(type)))
  }

  text(n: number): string | undefined {
    const value = this.at(n)
    return typeof value === 'string' ? value : undefined
  }

  number(n: number): number | undefined {
    const value = this.at(n)
    return typeof value === 'number' ? value : undefined
  }
}

const rankOf = (value: SqliteValue): number =>
  value === null ? 0 : typeof value === 'string' ? 2 : typeof value === 'object' ? 3 : 1
const TO_UTF8 = new TextEncoder()

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

const SURROGATES = 0xd800

/** By the bytes of UTF-8, which is the order of JavaScript's own units up to the surrogates. */
function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return x < SURROGATES && y < SURROGATES ? x - y : compareBytes(TO_UTF8.encode(a), TO_UTF8.encode(b))
  }
  return a.length - b.length
}

/** SQLite's order of values in an index of the plain (binary) collation: below 0, 0 or above 0. */
export function compareValues(a: SqliteValue, b: SqliteValue): number {
  const byRank = rankOf(a) - rankOf(b)
  if (byRank !== 0 || a === null || b === null) return byRank
  if (typeof a === 'string') return compareText(a, b as string)
  if (typeof a === 'object') return compareBytes(a, b as Uint8Array)
  return a < (b as number) ? -1 : a > (b as number) ? 1 : 0
}
