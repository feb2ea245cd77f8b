/**
 * What the daemon keeps between runs, read with distrust: another version, a crash or another program may have left anything
 * there, and a daemon that cannot start judges nothing. What is not of its form counts as not there.
 */
import * as z from 'zod/mini'
import type { UsageState } from '#agent/clients/usage-source.ts'
import { type Home, readJson } from '#agent/home.ts'
import type { JournalHead } from '#core/journal.ts'
import { HourlyCount, UnguardedRow } from '#core/protocol.ts'
import { COVERED } from '#core/usage/bucket.ts'
import { TagsShape } from '#core/usage/tags.ts'
import type { Session } from './session.ts'

const count = z.int().check(z.gte(0))
const Head = z.object({ seq: count, head: z.string() })

const read = <T>(shape: z.ZodMiniType<T>, value: unknown): T | undefined => {
  const parsed = shape.safeParse(value)
  return parsed.success ? parsed.data : undefined
}
const rows = <T>(shape: z.ZodMiniType<T>, value: unknown): T[] =>
  (Array.isArray(value) ? value : []).flatMap(row => read(shape, row) ?? [])
const entries = <T>(shape: z.ZodMiniType<T>, value: unknown): [string, T][] =>
  Object.entries(typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}).flatMap(
    ([key, each]) => {
      const kept = read(shape, each)
      return kept === undefined ? [] : [[key, kept] as [string, T]]
    },
  )

/** How often a rule held, since the beginning. */
export type Fired = { fired: number; sessions: string[]; last: string }
const FiredShape = z.object({ fired: count, sessions: z.array(z.string()), last: z.iso.datetime() })

/** Counts by hour that are of a report's form, and how often rules held. */
export function keptCounters(home: Home): { hours: HourlyCount[]; rules: [string, Fired][] } {
  const kept = readJson<{ hours?: unknown; rules?: unknown }>(home.counters)
  return { hours: rows(HourlyCount, kept?.hours), rules: entries(FiredShape, kept?.rules) }
}

export const keptHead = (home: Home): JournalHead | undefined => read(Head, readJson(home.journalHigh))

const Pending = z.object({
  report: z.string(),
  journalTo: z.int(),
  counts: z.array(HourlyCount),
  unguarded: z.optional(z.array(UnguardedRow)),
})
/**
 * What the control plane has acknowledged, and the report on its way: sent again byte for byte after a crash, so that nothing
 * is counted twice and nothing is lost. Losing this file tells too much, never too little.
 */
export type Sync = {
  /** The machine it speaks for: joining anew begins anew, and tells nothing of the time before. */
  machine?: string | undefined
  /** Number of the newest report that was made. */
  seq: number
  /** Everything in the journal up to here is known there. */
  journalTo: number
  /** The head that the control plane has on record. */
  recorded?: JournalHead | undefined
  pending?: z.infer<typeof Pending> | undefined
}

export function keptSync(home: Home): Sync | undefined {
  const kept = readJson<Record<string, unknown>>(home.sync)
  const seq = read(count, kept?.seq)
  const journalTo = read(z.int(), kept?.journalTo)
  if (seq === undefined || journalTo === undefined) return undefined
  const machine = read(z.string(), kept?.machine)
  const recorded = read(Head, kept?.recorded)
  const pending = read(Pending, kept?.pending)
  return {
    seq,
    journalTo,
    ...(machine === undefined ? {} : { machine }),
    ...(recorded ? { recorded } : {}),
    ...(pending ? { pending } : {}),
  }
}

const Who = z.object({
  client: z.string(),
  id: z.string(),
  ref: z.string(),
  cwd: z.string(),
  project: z.string(),
})
const Known = z.object({
  transcriptPath: z.optional(z.string()),
  runTags: z.optional(TagsShape),
  parentTags: z.optional(TagsShape),
  clientPid: z.optional(z.int()),
  environment: z.optional(z.array(z.string())),
  covered: z.optional(z.enum(COVERED)),
  attended: z.optional(z.boolean()),
  model: z.optional(z.string()),
  provider: z.optional(z.string()),
  costReadAt: z.optional(z.number()),
  costProblem: z.optional(z.string()),
  isToldUnreadable: z.optional(z.boolean()),
  dearest: z.optional(count),
  responses: count,
  waitedInVain: z.optional(z.boolean()),
  owed: z.optional(z.record(z.string(), count)),
  unpriced: z.array(z.string()),
  isUnread: z.optional(z.boolean()),
  lastSeen: z.number(),
  ended: z.optional(z.object({ at: z.number(), reason: z.string() })),
})
const Day = z.iso.date()
const Usage = z.object({ v: z.literal(1), client: z.string() })

/** A session as it was written; of one that is damaged what still has its form: who it is, what it has cost, what ran unguarded. */
export function keptSession(path: string): Session | undefined {
  const kept = readJson<Record<string, unknown>>(path)
  const who = read(Who, kept)
  if (!kept || !who) return undefined
  const cost = read(count, kept.cost)
  const known = read(Known, kept)
  // the adapter's own state goes on only with everything beside it: read anew, nothing is counted twice
  const usage = known && read(Usage, kept.usage) && (kept.usage as UsageState)
  return {
    ...who,
    ...(known ?? { responses: 0, unpriced: [], lastSeen: 0 }),
    ...(usage ? { usage } : {}),
    waiting: Object.fromEntries(entries(z.number(), kept.waiting)),
    unguarded: Object.fromEntries(entries(count, kept.unguarded).filter(([day]) => Day.safeParse(day).success)),
    ...(cost === undefined ? {} : { cost }),
  } as Session
}
