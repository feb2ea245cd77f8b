/** How the ledger's lines look, and how a file's are read: a piece at a time, and with distrust. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import * as z from 'zod/mini'
import type { UsageTokens } from '#core/pricing.ts'
import { COVERED, type Covered } from '#core/usage/bucket.ts'
import { TagsShape } from '#core/usage/tags.ts'
import type { Place } from './place.ts'

/** One call of the ledger. */
export type LedgerCall = {
  key: string
  model: string
  atMs: number
  tokens: UsageTokens
  /** Of a subagent. */
  subagent: boolean
  place: Place
  /** As the record itself says; absent where it does not. */
  provider?: string
  covered?: Covered
  /** It failed or broke off; what it used until then stands. */
  partial?: boolean
  /** A sum over calls that nobody tells apart. */
  isSum?: boolean
}

/** Far more than a machine writes in a day; what stands beyond it is another program's. */
const DAY_FILE_MAX = 256 * 1024 * 1024
/** No link, and nothing that blocks. Absent on Windows, where neither lies in the way. */
const READ_OWN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

const whole = z.int().check(z.gte(0))
const PlaceLine = z.object({
  c: z.string(),
  s: z.string(),
  d: z.optional(z.string()),
  r: z.array(z.string()),
  t: TagsShape,
  f: z.record(z.string(), z.enum(['run', 'parent', 'repository', 'organisation'])),
  e: z.optional(z.array(z.string())),
  v: z.optional(z.enum(COVERED)),
})
const CallLine = z.object({
  k: z.string(),
  q: z.optional(z.string()),
  c: z.string(),
  s: z.string(),
  m: z.string(),
  at: whole,
  /** input, cache read, cache write 5 min, cache write 1 h, output, web searches. */
  n: z.tuple([whole, whole, whole, whole, whole, whole]),
  a: z.optional(z.literal(1)),
  /** The provider, whether a plan covers it, and that it broke off, where the record says so. */
  p: z.optional(z.string()),
  v: z.optional(z.enum(COVERED)),
  b: z.optional(z.literal(1)),
  /** Told by telemetry: a call, or a sum of calls. */
  x: z.optional(z.enum(['call', 'sum'])),
})
export type CallLine = z.infer<typeof CallLine>

export const countsOf = (t: UsageTokens): CallLine['n'] => [
  t.input,
  t.cacheRead,
  t.cacheWrite5m,
  t.cacheWrite1h,
  t.output,
  t.webSearches,
]
export const tokensOf = ([
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
  output,
  webSearches,
]: CallLine['n']): UsageTokens => ({
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
  output,
  webSearches,
})

/** A line about a call; undefined for any other. */
export function readCall(line: string): CallLine | undefined {
  const value = parse(line)
  const read = CallLine.safeParse(value)
  return read.success ? read.data : undefined
}

/** A line about where calls were made; undefined for any other. */
export function readPlace(line: string): Place | undefined {
  const read = PlaceLine.safeParse(parse(line))
  if (!read.success) return undefined
  const { c: client, s: session, d, r: repository, t: tags, f: from, v, e: environment } = read.data
  return {
    client,
    session,
    ...(d === undefined ? {} : { directory: d }),
    repository,
    tags,
    from,
    ...(environment === undefined ? {} : { environment }),
    ...(v === undefined ? {} : { covered: v }),
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Whole lines of a file, a piece at a time; what follows the last line break is still being written. */
export function* linesOf(path: string): Generator<string> {
  let fd: number
  try {
    fd = openSync(path, READ_OWN)
  } catch {
    return
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || stat.size > DAY_FILE_MAX) return
    const memory = Buffer.allocUnsafe(256 * 1024)
    let rest = Buffer.alloc(0)
    for (let at = 0; ; ) {
      const got = readSync(fd, memory, 0, memory.length, at)
      if (got === 0) return
      at += got
      const bytes = Buffer.concat([rest, memory.subarray(0, got)])
      const end = bytes.lastIndexOf(10) + 1
      rest = Buffer.from(bytes.subarray(end))
      for (const line of bytes.toString('utf8', 0, end).split('\n')) if (line !== '') yield line
    }
  } finally {
    closeSync(fd)
  }
}

/** Whether a file ends with a whole line: one that was cut off is still to be ended. */
export function endsWhole(path: string): boolean {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const last = Buffer.alloc(1)
    return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 10)
  } finally {
    closeSync(fd)
  }
}
