/** Lines of JSON that hold something wanted: others are never parsed. Pure: bytes come in with the tools to search them. */

export type Json = Record<string, unknown>
export const isObject = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v)
/** A count as it is used: whole, not negative; anything else counts as none. */
export const count = (v: unknown): number => (Number.isSafeInteger(v) && (v as number) > 0 ? (v as number) : 0)
export const idOf = (v: unknown): string | undefined =>
  typeof v === 'string' && v !== '' && v.length <= 200 ? v : undefined

const PATH_MAX = 8192
/** A folder's path as a client writes it. */
export const pathOf = (v: unknown): string | undefined =>
  typeof v === 'string' && v !== '' && v.length <= PATH_MAX ? v : undefined

/** A moment as clients write it (ISO 8601), in milliseconds since the epoch. */
export function momentOf(v: unknown): number | undefined {
  const parsed = typeof v === 'string' ? Date.parse(v) : Number.NaN
  return Number.isNaN(parsed) ? undefined : parsed
}

/** How to search bytes from an offset (-1 when absent) and to read them as UTF-8; Buffer's own are the fast ones. */
export type ByteTools = {
  find(bytes: Uint8Array, wanted: Uint8Array | number, from: number): number
  decode(bytes: Uint8Array, start: number, end: number): string
}
export const BUFFER_TOOLS: ByteTools = {
  find: (bytes, wanted, from) => (bytes as Buffer).indexOf(wanted, from),
  decode: (bytes, start, end) => (bytes as Buffer).toString('utf8', start, end),
}

const NEWLINE = 10
/** Bytes to look for. Inside a JSON string a quote carries a backslash, so that content cannot fake a marker with quotes. */
export const marker = (text: string) => new TextEncoder().encode(text)

/**
 * Hands over each whole line of `bytes` that holds one of the markers and is a JSON object. Returns how many bytes were read:
 * what follows the last newline is a line still being written and is left for the next call.
 */
export function eachLineWith(
  markers: readonly Uint8Array[],
  bytes: Uint8Array,
  { find, decode }: ByteTools,
  take: (line: Json) => void,
): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1
  const next = markers.map(wanted => ({ wanted, at: -2 }))
  let start = 0
  while (start < end) {
    let hit = end
    for (const one of next) {
      // a marker found once stays found until the reading has passed it
      if (one.at < start && one.at !== -1) one.at = find(bytes, one.wanted, start)
      if (one.at !== -1 && one.at < hit) hit = one.at
    }
    if (hit >= end) break
    const lineStart = bytes.lastIndexOf(NEWLINE, hit) + 1
    const lineEnd = find(bytes, NEWLINE, hit)
    start = lineEnd + 1
    let line: unknown
    try {
      line = JSON.parse(decode(bytes, lineStart, lineEnd))
    } catch {
      continue
    }
    if (isObject(line)) take(line)
  }
  return end
}
