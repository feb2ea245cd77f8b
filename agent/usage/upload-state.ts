/** What is kept of uploads between runs: read with distrust, a file that is none of ours counts as not there. */
import { join } from 'node:path'
import * as z from 'zod/mini'
import { type Home, readJson, writeJson } from '#agent/home.ts'
import { parseDecimal } from '#core/decimal.ts'
import { sharePct } from '#core/usage/attribution.ts'

const whole = z.int().check(z.gte(0))
const Day = z.iso.date()
const Sent = z.object({
  state: z.enum(['taken', 'quarantined', 'refused']),
  /** Names the content that was sent, and what it was made from. */
  digest: z.string(),
  mark: z.string(),
  sentAt: z.number(),
  cost: z.string(),
  unlisted: z.record(z.string(), z.string()),
})
export type Sent = z.infer<typeof Sent>
const Pending = z.object({ jws: z.string(), seq: whole, days: z.record(Day, Sent) })
export type Pending = z.infer<typeof Pending>
/** What this home has sent as another machine of an organisation: of each day, until when, in milliseconds since 1970. */
const Before = z.object({ org: z.string(), since: z.number(), days: z.record(Day, z.number()) })
const Kept = z.object({
  machine: z.string(),
  /** Whose machine it is, and from when on its usage is theirs. */
  org: z.optional(z.string()),
  since: z.optional(z.number()),
  before: z.optional(z.array(Before)),
  /** The highest number that was ever used. */
  seq: whole,
  days: z.record(Day, Sent),
  /** Made and perhaps sent: sent again byte for byte. */
  pending: z.optional(Pending),
  sentAt: z.optional(z.number()),
})
export type Kept = z.infer<typeof Kept>

const pathOf = (home: Home) => join(home.usage, 'upload.json')

/** Whose machine this home is. */
export type Sender = { machine: string; org: string; since: number }

/** What was sent for this machine; of another one before it, only what it has sent goes on. */
export function readKept(home: Home, { machine, org, since }: Sender): Kept {
  const read = Kept.safeParse(readJson(pathOf(home)))
  const kept = read.success ? read.data : undefined
  if (kept?.machine === machine) return { ...kept, org, since }
  const before = kept ? [...(kept.before ?? []), ...sentAs(kept)] : []
  return { machine, org, since, ...(before.length === 0 ? {} : { before }), seq: 0, days: {} }
}

/** No moment is later: of what was perhaps taken nothing is sent again. */
const EVER = 8.64e15

function sentAs({ org, since, days, pending }: Kept): z.infer<typeof Before>[] {
  if (org === undefined || since === undefined) return []
  const taken = Object.entries(days).filter(([, { state }]) => state !== 'refused')
  const sent = taken.map(([day, { sentAt }]) => [day, sentAt] as const)
  const perhaps = Object.keys(pending?.days ?? {}).map(day => [day, EVER] as const)
  return [{ org, since, days: Object.fromEntries([...sent, ...perhaps]) }]
}

/** Whether a call stands there already, sent by this home when it was another machine of the same organisation. */
export const wasSentBefore = ({ org, before = [] }: Kept, day: string, atMs: number): boolean =>
  before.some(one => one.org === org && atMs >= one.since && atMs < (one.days[day] ?? Number.NEGATIVE_INFINITY))

export const writeKept = (home: Home, kept: Kept): void => writeJson(home, pathOf(home), kept)

/** What of the last thirty days' cost goes up as unattributed because its value is on no list: percent by key. */
export function unlistedShares({ days }: Kept): Record<string, number> {
  const newest = Object.keys(days).sort().slice(-30)
  let whole = 0n
  const parts = new Map<string, bigint>()
  for (const name of newest) {
    const { cost, unlisted } = days[name]!
    whole += parseDecimal(cost) ?? 0n
    for (const [key, amount] of Object.entries(unlisted))
      parts.set(key, (parts.get(key) ?? 0n) + (parseDecimal(amount) ?? 0n))
  }
  return Object.fromEntries([...parts].sort().map(([key, part]) => [key, sharePct(part, whole)]))
}
