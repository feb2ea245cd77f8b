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
const Kept = z.object({
  machine: z.string(),
  /** The highest number that was ever used. */
  seq: whole,
  days: z.record(Day, Sent),
  /** Made and perhaps sent: sent again byte for byte. */
  pending: z.optional(Pending),
  sentAt: z.optional(z.number()),
})
export type Kept = z.infer<typeof Kept>

const pathOf = (home: Home) => join(home.usage, 'upload.json')

export function readKept(home: Home, machine: string): Kept {
  const read = Kept.safeParse(readJson(pathOf(home)))
  return read.success && read.data.machine === machine ? read.data : { machine, seq: 0, days: {} }
}

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
