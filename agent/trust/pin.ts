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

export function readPin(home: Home): Pin | undefined {
  const read = Pin.safeParse(readJson(home.pin))
  return read.success ? read.data : undefined
}

/** @throws what the system says */
export const writePin = (home: Home, pin: Pin): void => writeJson(home, home.pin, pin)
