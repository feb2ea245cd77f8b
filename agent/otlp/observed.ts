/** What telemetry says of model calls, as it is kept until it is counted: numbers, ids, and names of fixed forms. */
import * as z from 'zod/mini'
import { PROVIDERS } from '#core/pricing.ts'
import { MODEL_ID, USAGE_CLIENTS } from '#core/usage/bucket.ts'
import { TagsShape } from '#core/usage/tags.ts'

const whole = z.int().check(z.gte(0))
const Tokens = z.strictObject({
  input: whole,
  cacheRead: whole,
  cacheWrite5m: whole,
  cacheWrite1h: whole,
  output: whole,
  webSearches: whole,
})
/** An id as providers and clients make them; it becomes a key, and part of no path. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9._:|-]{0,199}$/
/** What a session's calls belong together by. */
export const SESSION = /^[A-Za-z0-9_-]{1,128}$/

const Who = {
  client: z.enum(USAGE_CLIENTS),
  session: z.optional(z.string().check(z.regex(SESSION))),
  /** Names the process or the service that told, for what is told without a session. */
  source: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)),
  model: z.string().check(z.regex(MODEL_ID)),
  provider: z.optional(z.enum(PROVIDERS)),
  tags: z.optional(TagsShape),
  /** Milliseconds since 1970. */
  atMs: whole,
  tokens: Tokens,
}

/** One call. `ids`: what it is known by, the best first; the provider's, else what one retry shares with the first try. */
export const ObservedCall = z.strictObject({
  kind: z.literal('call'),
  ...Who,
  ids: z.array(z.string().check(z.regex(ID))).check(z.minLength(1), z.maxLength(3)),
  partial: z.optional(z.literal(true)),
  /** The first id stands in the client's own records of a call as well, where they have it. */
  isRecordsId: z.optional(z.literal(true)),
})
export type ObservedCall = z.infer<typeof ObservedCall>

/**
 * A sum over calls. Of a `running` one `tokens` are all since `start`; else what came since the point before. `series` names what
 * is summed up: client, session, model and every other attribute.
 */
export const ObservedSum = z.strictObject({
  kind: z.literal('sum'),
  ...Who,
  series: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)),
  running: z.boolean(),
  start: z.string().check(z.regex(/^\d{1,20}$/)),
  time: z.string().check(z.regex(/^\d{1,20}$/)),
})
export type ObservedSum = z.infer<typeof ObservedSum>

export const Observed = z.union([ObservedCall, ObservedSum])
export type Observed = z.infer<typeof Observed>
