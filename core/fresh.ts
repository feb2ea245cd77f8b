import * as z from 'zod/mini'
import { AppError } from './error.ts'
import { openJws } from './jws.ts'
import type { Crypto } from './key.ts'
import { CLOCK_SKEW_MS, FRESH_LIFETIME_S } from './limits.ts'
import { keysOf, type Root } from './root.ts'

/**
 * Signed freshness: with every poll, 304 included, the control plane says which version is the newest right now.
 * Freezing a machine on old rules is therefore visible within a quarter of an hour. Times are ISO 8601 in UTC.
 */
export const Fresh = z.strictObject({
  v: z.literal(1),
  org: z.string(),
  /** 0 while nothing has been published. */
  version: z.int().check(z.gte(0)),
  digest: z.optional(z.string()),
  rootSeq: z.int(),
  at: z.iso.datetime(),
  exp: z.iso.datetime(),
  /** The organisation's ledger at that moment: number of entries and RFC 6962 tree hash. */
  checkpoint: z.strictObject({ size: z.int().check(z.gte(0)), root: z.string() }),
})
export type Fresh = z.infer<typeof Fresh>

const refuse = (why: string, message: string) => new AppError('BAD_SIGNATURE', message, { details: { why } })

/**
 * Verifies a freshness under the `fresh` keys of a root. `nowMs` is the machine's clock: an expired one is refused with
 * room for {@link CLOCK_SKEW_MS}; a machine whose clock is far off keeps its rules and says so.
 */
export function openFresh(jws: string, root: Root, nowMs: number, crypto: Crypto): Fresh {
  const { value } = openJws(jws, 'holdpoint-fresh+jws', keysOf(root, 'fresh', crypto), crypto)
  const read = Fresh.safeParse(value)
  if (!read.success) throw refuse('malformed', 'The signed freshness is not of a form this connector can read.')
  const fresh = read.data
  if (fresh.org !== root.org) throw refuse('other_organisation', 'The signed freshness is of another organisation.')
  const at = Date.parse(fresh.at)
  const exp = Date.parse(fresh.exp)
  if (exp - at > FRESH_LIFETIME_S * 1000 || exp < at)
    throw refuse('malformed', 'The signed freshness lives longer than it may.')
  if (nowMs > exp + CLOCK_SKEW_MS)
    throw refuse('expired', 'The signed freshness has expired (or the clock of this machine is ahead).')
  if (nowMs < at - CLOCK_SKEW_MS)
    throw refuse('from_the_future', 'The signed freshness is from the future (the clock of this machine is behind).')
  return fresh
}

/** What is known of the age of the rules in force. */
export type Freshness = { at: string } | undefined

/** Age in milliseconds of the newest freshness; undefined when there never was one. Never negative. */
export function ageMs(newest: Freshness, nowMs: number): number | undefined {
  return newest ? Math.max(0, nowMs - Date.parse(newest.at)) : undefined
}

/** Whether rules of this age may still release something (stale rules hold but never release). */
export function mayRelease(newest: Freshness, maxAgeS: number, nowMs: number): boolean {
  const age = ageMs(newest, nowMs)
  return age !== undefined && age <= maxAgeS * 1000
}
