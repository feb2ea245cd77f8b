/** What is remembered of telemetry between runs: how far each sum was counted, and which sessions are counted by which of the two. */
import { join } from 'node:path'
import * as z from 'zod/mini'
import { type Home, readBytes, readJson, writeJson } from '#agent/home.ts'
import { SessionSums } from './left-out.ts'

const whole = z.int().check(z.gte(0))
const Series = z.object({ time: z.string(), tokens: z.record(z.string(), whole), at: z.number() })
export type CountedSeries = z.infer<typeof Series>
const Mode = z.object({ by: z.enum(['calls', 'sums']), at: z.number() })
export const TALLY = ['calls', 'sums', 'own', 'repeated', 'otherwise', 'outer', 'rejected'] as const
const Tally = z.object(
  Object.fromEntries(TALLY.map(name => [name, whole])) as Record<(typeof TALLY)[number], typeof whole>,
)
/**
 * How much there was, since the beginning. `own`: left out because this machine reads the client's own records; `repeated`:
 * known already; `otherwise`: the session is counted by its calls (or by sums) already; `outer`: sums around other spans.
 */
export type Tally = z.infer<typeof Tally>
const Kept = z.object({
  series: z.record(z.string(), Series),
  modes: z.record(z.string(), Mode),
  tally: Tally,
  lastAt: z.optional(z.number()),
  /** What sessions that are counted by their calls tell in sums, by session. */
  sums: z.optional(z.record(z.string(), SessionSums)),
  /** Running sums that began before this are taken up without being counted: how far they had been is not known any more. */
  uncountedBefore: z.optional(z.number()),
})
export type Kept = z.infer<typeof Kept>

/** Sums and sessions that are remembered; those that were quiet for longest are forgotten first. */
const KEEP_MOST = 20_000

const pathOf = (home: Home) => join(home.usage, 'telemetry.json')

/** A file that is damaged is as good as none, but for sums that may have been counted: those begin anew, below what they were. */
export function readKept(home: Home, nowMs: number): Kept {
  const read = Kept.safeParse(readJson(pathOf(home)))
  if (read.success) return read.data
  const tally = Object.fromEntries(TALLY.map(name => [name, 0])) as Tally
  const isThere = readBytes(pathOf(home)) !== undefined
  return { series: {}, modes: {}, tally, ...(isThere ? { uncountedBefore: nowMs } : {}) }
}

/** Forgets, here too, what is beyond the bound. */
export function writeKept(home: Home, kept: Kept): void {
  kept.series = newest(kept.series)
  kept.modes = newest(kept.modes)
  if (kept.sums) kept.sums = newest(kept.sums)
  writeJson(home, pathOf(home), kept)
}

function newest<T extends { at: number }>(entries: Record<string, T>): Record<string, T> {
  const list = Object.entries(entries)
  if (list.length <= KEEP_MOST) return entries
  return Object.fromEntries(list.sort(([, a], [, b]) => b.at - a.at).slice(0, KEEP_MOST))
}
