import * as z from 'zod/mini'
import { type Home, readJson, writeJson } from '#agent/home.ts'

/**
 * What this machine has seen, kept apart from the documents: losing or swapping a document never lowers it.
 * `clockHigh` is the highest clock reading ever seen, milliseconds since 1970. `freshHigh` the newest signed time.
 */
export const Pin = z.object({
  version: z.int(),
  digest: z.optional(z.string()),
  rootSeq: z.int(),
  rootDigest: z.string(),
  clockHigh: z.int(),
  freshHigh: z.optional(z.int()),
})
export type Pin = z.infer<typeof Pin>

/** What the journal knows of the same: the highest rules that were in force, with the time (milliseconds since 1970) of that line. */
export type RulesSeen = { version: number; digest: string; rootSeq: number; rootDigest?: string; at: number }

/**
 * The pin with what the journal has seen: a pin that was deleted, or put back to an earlier one, brings no earlier rules back.
 * Undefined when neither knows of a root document.
 */
export function withSeen(pin: Pin | undefined, seen: RulesSeen | undefined): Pin | undefined {
  if (!seen || (pin && pin.version >= seen.version)) return pin
  const { version, digest, rootSeq, rootDigest, at } = seen
  if (pin) return { ...pin, version, digest }
  return rootDigest === undefined ? undefined : { version, digest, rootSeq, rootDigest, clockHigh: at }
}

export function readPin(home: Home): Pin | undefined {
  const read = Pin.safeParse(readJson(home.pin))
  return read.success ? read.data : undefined
}

/** @throws what the system says */
export const writePin = (home: Home, pin: Pin): void => writeJson(home, home.pin, pin)
