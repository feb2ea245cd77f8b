/**
 * Reads the few fields that are needed of protocol-buffer messages, into the shape that the same message has as OTLP/JSON
 * (names in lowerCamelCase, 64-bit times as decimal text). Everything else is skipped. Pure and bounded.
 * https://protobuf.dev/programming-guides/encoding/
 */

/** One field: its name and kind; a list where it may come several times. */
export type Field = {
  name: string
  kind: 'string' | 'bytes' | 'bool' | 'int' | 'signed' | 'fixed64' | 'sfixed64' | 'double' | Message
  many?: true
}
export type Message = { readonly fields: Readonly<Record<number, Field>> }

/** A message that is none, or holds more than is ever taken. */
export class ProtobufError extends Error {}

/** Values of all messages together; a batch of the largest size has fewer. */
const VALUES_MAX = 400_000
/** An attribute's value may hold lists and maps; none that is read here does. */
const DEPTH_MAX = 12

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5

/** @throws ProtobufError */
export function readProtobuf(bytes: Uint8Array, message: Message): Record<string, unknown> {
  return new Reader(bytes).message(message, 0, bytes.length, 0)
}

class Reader {
  private at = 0
  private values = 0
  private readonly view: DataView
  private readonly text = new TextDecoder()

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  message({ fields }: Message, start: number, end: number, depth: number): Record<string, unknown> {
    if (depth > DEPTH_MAX) throw new ProtobufError('it is nested too deeply')
    const found: Record<string, unknown> = {}
    this.at = start
    while (this.at < end) {
      const tag = Number(this.varint(end))
      const wire = tag & 7
      const field = fields[tag >>> 3]
      if (field === undefined) {
        this.skip(wire, end)
        continue
      }
      if (++this.values > VALUES_MAX) throw new ProtobufError('it holds too many values')
      const value = this.value(field, wire, end, depth)
      if (value === undefined) continue
      if (field.many) {
        const list = found[field.name] as unknown[] | undefined
        if (list) list.push(value)
        else found[field.name] = [value]
      } else found[field.name] = value
    }
    if (this.at !== end) throw new ProtobufError('it ends in the middle of a field')
    return found
  }

  /** Undefined for a field of another wire type than it has: a later version's, and skipped. */
  private value({ kind }: Field, wire: number, end: number, depth: number): unknown {
    const wanted =
      kind === 'fixed64' || kind === 'sfixed64' || kind === 'double'
        ? FIXED64
        : kind === 'bool' || kind === 'int' || kind === 'signed'
          ? VARINT
          : LENGTH
    if (wire !== wanted) {
      this.skip(wire, end)
      return undefined
    }
    if (wanted === VARINT) {
      const value = this.varint(end)
      return kind === 'bool' ? value !== 0n : Number(kind === 'signed' ? BigInt.asIntN(64, value) : value)
    }
    if (wanted === FIXED64) {
      const at = this.take(8, end)
      if (kind === 'double') return this.view.getFloat64(at, true)
      return kind === 'fixed64' ? String(this.view.getBigUint64(at, true)) : String(this.view.getBigInt64(at, true))
    }
    const size = this.length(end)
    const at = this.take(size, end)
    if (kind === 'string') return this.text.decode(this.bytes.subarray(at, at + size))
    if (kind === 'bytes') return hex(this.bytes.subarray(at, at + size))
    const read = this.message(kind as Message, at, at + size, depth + 1)
    this.at = at + size
    return read
  }

  private take(size: number, end: number): number {
    const { at } = this
    if (size > end - at) throw new ProtobufError('it ends in the middle of a field')
    this.at = at + size
    return at
  }

  private length(end: number): number {
    const size = this.varint(end)
    if (size > BigInt(end - this.at)) throw new ProtobufError('it ends in the middle of a field')
    return Number(size)
  }

  private varint(end: number): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.at >= end) throw new ProtobufError('it ends in the middle of a number')
      const byte = this.bytes[this.at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new ProtobufError('a number in it is too long')
  }

  private skip(wire: number, end: number): void {
    if (wire === VARINT) this.varint(end)
    else if (wire === FIXED64) this.take(8, end)
    else if (wire === LENGTH) this.take(this.length(end), end)
    else if (wire === FIXED32) this.take(4, end)
    else throw new ProtobufError('it holds a field of no known form')
  }
}

const hex = (bytes: Uint8Array) => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** A message of fields 1 and 2 as the answers have them: a number, a text. What is 0 or empty is left out. */
export function writePair(number: number, text: string): Uint8Array {
  const parts: number[] = number === 0 ? [] : [0x08, ...varint(number)]
  const said = new TextEncoder().encode(text)
  if (said.length > 0) parts.push(0x12, ...varint(said.length), ...said)
  return Uint8Array.from(parts)
}

/** A message whose field 1 is another message. */
export const wrapMessage = (inner: Uint8Array): Uint8Array => Uint8Array.from([0x0a, ...varint(inner.length), ...inner])

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 128)
  }
  return [...bytes, rest]
}
