/** Bytes and their spellings. Pure; the hash is a parameter everywhere (see {@link Sha256}). */

/** SHA-256 of some bytes, 32 bytes out. Comes in as an argument: core has no cryptography of its own. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 bytes of a text. */
export const utf8 = (text: string): Uint8Array => encoder.encode(text)

/** The text of UTF-8 bytes; throws a TypeError on bytes that are not UTF-8. */
export const fromUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes)

/** One array of bytes out of several. */
export function concat(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

/** Whether two arrays hold the same bytes. Not for secrets: it returns at the first difference. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

/** Lower-case hexadecimal. */
export const hex = (bytes: Uint8Array): string => Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('')

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** By value its letter's code, and by code its value; -1: none. */
const LETTERS = utf8(ALPHABET)
const VALUES = new Int8Array(128).fill(-1)
for (const [value, code] of LETTERS.entries()) VALUES[code] = value

/** base64url without padding (RFC 4648 §5, as JOSE uses it: RFC 7515 §2). */
export function base64url(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let at = 0
  for (let i = 0; i < bytes.length; i += 3) {
    const n = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    // what does not fit at the end is left out, as typed arrays do
    out[at++] = LETTERS[n >> 18]!
    out[at++] = LETTERS[(n >> 12) & 63]!
    out[at++] = LETTERS[(n >> 6) & 63]!
    out[at++] = LETTERS[n & 63]!
  }
  return decoder.decode(out)
}

/**
 * The bytes of an unpadded base64url text, or undefined when it is not one: padding, foreign letters, an impossible length
 * or stray bits at the end (two spellings of the same bytes must never both be accepted).
 */
export function fromBase64url(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined
  const out = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const value = code < 128 ? VALUES[code]! : -1
    if (value < 0) return undefined
    bits = ((bits << 6) | value) & 0xffff
    held += 6
    if (held >= 8) {
      held -= 8
      out[at++] = (bits >> held) & 0xff
    }
  }
  return (bits & ((1 << held) - 1)) === 0 ? out : undefined
}
