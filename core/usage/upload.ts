import * as z from 'zod/mini'
import { utf8 } from '#core/bytes.ts'
import { dayStart } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { canonicalJson } from '#core/json.ts'
import { openJws } from '#core/jws.ts'
import type { Crypto, PublicKey } from '#core/key.ts'
import {
  BUCKET_CALLS_MAX,
  BUCKET_TOKENS_MAX,
  DAY_TAG_SETS_MAX,
  TAG_KEYS_MAX,
  UPLOAD_AHEAD_MS,
  UPLOAD_BUCKETS_MAX,
  UPLOAD_DAYS_MAX,
  UPLOAD_PAYLOAD_MAX,
  USAGE_BODY_MAX,
} from '#core/limits.ts'
import { PROVIDERS } from '#core/pricing.ts'
import { boundTags, tagSets } from './bound-tags.ts'
import {
  type Bucket,
  type BucketKey,
  bucketId,
  COVER_BY,
  COVERED,
  coarsen,
  MODEL_ID,
  QUARTERS_PER_DAY,
  quarterStart,
  RATE_KINDS,
  USAGE_CLIENTS,
} from './bucket.ts'
import { TAG_KEY, TagsShape } from './tags.ts'

/**
 * What leaves a machine about usage: sums of quarter hours. Numbers, names from fixed lists, ids of models, and tags of the
 * organisation's own lists; no field can carry free text, and a test that walks this schema fails if one is added.
 *
 *   POST usage   {@link UsageBody} -> {@link UsageAnswer}
 */
const id = (kind: 'org' | 'mac') => z.string().check(z.regex(new RegExp(`^${kind}_[A-Za-z0-9_-]{16}$`)))
const time = z.iso.datetime()
const day = z.iso.date()
const tokens = z.int().check(z.gte(0), z.lte(BUCKET_TOKENS_MAX))
const calls = z.int().check(z.gte(0), z.lte(BUCKET_CALLS_MAX))
/** Dollars as the one shortest decimal of up to twelve places. */
export const COST = /^(0|[1-9]\d{0,13})(\.\d{0,11}[1-9])?$/
const cost = z.string().check(z.regex(COST))

/** One bucket on the wire. Only a call that broke off may be without tokens. */
export const UsageBucket = z.strictObject({
  quarter: z.int().check(z.gte(0), z.lt(QUARTERS_PER_DAY)),
  client: z.enum(USAGE_CLIENTS),
  provider: z.enum(PROVIDERS),
  model: z.string().check(z.regex(MODEL_ID)),
  long: z.boolean(),
  tags: TagsShape,
  covered: z.enum(COVERED),
  /** Who declared it, where no record and no sign-in told it. */
  coverBy: z.optional(z.enum(COVER_BY)),
  rate: z.enum(RATE_KINDS),
  calls,
  partial: calls,
  tokens: z.strictObject({
    input: tokens,
    cacheRead: tokens,
    cacheWrite5m: tokens,
    cacheWrite1h: tokens,
    output: tokens,
    webSearches: tokens,
  }),
  /** The machine's own reckoning, in dollars; the control plane prices from the tokens and keeps this beside it. */
  cost,
})
export type UsageBucket = z.infer<typeof UsageBucket>

/** One whole UTC day of a machine: takes the place of what the machine sent for it before. */
export const UsageDay = z.strictObject({
  day,
  computedAt: time,
  buckets: z.array(UsageBucket).check(z.maxLength(UPLOAD_BUCKETS_MAX)),
  /** Per key: dollars of the day's cost whose local value is on no list, so that it went up as unattributed. */
  unlisted: z.optional(
    z
      .record(z.string().check(z.regex(TAG_KEY)), cost)
      .check(z.refine(keys => Object.keys(keys).length <= TAG_KEYS_MAX)),
  ),
})
export type UsageDay = z.infer<typeof UsageDay>

/** The signed payload (holdpoint-usage+jws). `seq` rises with each upload of a machine and orders them; its clock does not. */
export const UsageUpload = z.strictObject({
  v: z.literal(1),
  org: id('org'),
  machine: id('mac'),
  seq: z.int().check(z.gte(1)),
  at: time,
  days: z.array(UsageDay).check(z.minLength(1), z.maxLength(UPLOAD_DAYS_MAX)),
})
export type UsageUpload = z.infer<typeof UsageUpload>

export const UsageBody = z.strictObject({
  usage: z.string().check(z.maxLength(USAGE_BODY_MAX), z.regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/)),
})
export type UsageBody = z.infer<typeof UsageBody>

/**
 * What became of a day. `unchanged`: the same buckets stood there. `quarantined`: computed, or dated, ahead of the control
 * plane's clock; kept apart. `stale`: a later upload of this machine has been taken already.
 */
export const DAY_STATES = ['taken', 'unchanged', 'quarantined', 'stale'] as const
export type DayState = (typeof DAY_STATES)[number]
/** `cost`: the day at the control plane's own prices. */
export const UsageAnswer = z.strictObject({
  seq: z.int(),
  days: z.array(z.strictObject({ day, state: z.enum(DAY_STATES), cost })),
})
export type UsageAnswer = z.infer<typeof UsageAnswer>

/** The bytes of one day's buckets in their fixed order: equal bytes are an unchanged day. */
export const dayText = (usageDay: UsageDay): string =>
  canonicalJson({ buckets: usageDay.buckets, unlisted: usageDay.unlisted })

/** A bucket as it goes out: its cost as an exact decimal of US dollars. */
export function toWire({ picoUsd, tags, tokens: counts, ...rest }: Bucket): UsageBucket {
  return { ...rest, tags: { ...tags }, tokens: { ...counts }, cost: formatDecimal(picoUsd) }
}

const bad = (message: string) => new AppError('BAD_INPUT', message)

/**
 * Verifies and reads an upload under the machine's own key.
 * @throws AppError BAD_SIGNATURE, TOO_LARGE, or BAD_INPUT naming the place of what does not fit, never its value
 */
export function openUpload(jws: string, keys: readonly PublicKey[], crypto: Crypto): UsageUpload {
  if (jws.length > USAGE_BODY_MAX) throw new AppError('TOO_LARGE', 'The upload is larger than 4 MiB.')
  return readUpload(openJws(jws, 'holdpoint-usage+jws', keys, crypto).value)
}

/** Reads an upload that was verified or is about to be signed. @throws AppError BAD_INPUT with the place */
export function readUpload(value: unknown): UsageUpload {
  const read = UsageUpload.safeParse(value)
  if (!read.success) {
    const issue = read.error.issues[0]!
    throw bad(`The upload does not fit at ${placeOf(issue.path)} (${issue.code}).`)
  }
  const upload = read.data
  let count = 0
  const days = new Set<string>()
  for (const [i, usageDay] of upload.days.entries()) {
    if (days.has(usageDay.day)) throw bad(`days[${i}] is a day that stands above already.`)
    days.add(usageDay.day)
    count += usageDay.buckets.length
    if (count > UPLOAD_BUCKETS_MAX) throw bad(`The upload has more than ${UPLOAD_BUCKETS_MAX} buckets.`)
    if (tagSets(usageDay.buckets) > DAY_TAG_SETS_MAX)
      throw new AppError('TOO_LARGE', `days[${i}] has more than ${DAY_TAG_SETS_MAX} combinations of tags.`, {
        remedy:
          'Update the connector: it then sends the rest of them without tags. Until then nothing is lost, the day waits on the machine.',
      })
    checkBuckets(usageDay.buckets, `days[${i}].buckets`)
  }
  return upload
}

/** What no single field can say: one bucket a key, no more broken calls than calls, nothing without a call. */
function checkBuckets(buckets: readonly UsageBucket[], at: string): void {
  const seen = new Set<string>()
  for (const [i, bucket] of buckets.entries()) {
    const key = bucketId(bucket as BucketKey)
    if (seen.has(key)) throw bad(`${at}[${i}] has the key of a bucket above.`)
    seen.add(key)
    if (bucket.coverBy !== undefined && bucket.covered === 'unknown')
      throw bad(`${at}[${i}] is declared and unknown at once.`)
    if (bucket.calls === 0) throw bad(`${at}[${i}] has no call.`)
    if (bucket.partial > bucket.calls) throw bad(`${at}[${i}] has more calls that broke off than calls.`)
  }
}

/** The path of a field, without anything of what stood there: a key that nobody knows is the sender's own word. */
function placeOf(path: readonly PropertyKey[]): string {
  let place = ''
  for (const step of path)
    place +=
      typeof step === 'number'
        ? `[${step}]`
        : `${place && '.'}${/^[A-Za-z0-9]{1,20}$/.test(String(step)) ? String(step) : '?'}`
  return place === '' ? 'its top level' : place
}

/** When a day may be taken at the earliest, by the control plane's clock: ten minutes before the latest moment that it speaks of. */
export function releaseAt({ day, computedAt, buckets }: Pick<UsageDay, 'day' | 'computedAt' | 'buckets'>): number {
  let latest = Math.max(Date.parse(computedAt), dayStart(day))
  for (const { quarter } of buckets) latest = Math.max(latest, quarterStart(day, quarter))
  return latest - UPLOAD_AHEAD_MS
}

/** A day of the ledger as it waits to be sent. */
export type DayToSend = { day: string; computedAt: string; buckets: Bucket[]; unlisted?: Record<string, string> }

/**
 * Days in as many uploads as the limits ask for, oldest first; none is cut. A day that is too large by itself loses the
 * quarter hour (then stands by the hour, then whole): better a coarser day than one that can never be sent.
 */
export function splitDays(
  days: readonly DayToSend[],
  limits: { buckets: number; days: number; bytes: number } = {
    buckets: UPLOAD_BUCKETS_MAX,
    days: UPLOAD_DAYS_MAX,
    // what stands around the days: organisation, machine, sequence and time
    bytes: UPLOAD_PAYLOAD_MAX - 1024,
  },
): UsageDay[][] {
  const parts: UsageDay[][] = []
  let part: UsageDay[] = []
  let bytes = 0
  let buckets = 0
  for (const waiting of [...days].sort((a, b) => (a.day < b.day ? -1 : 1))) {
    const { usageDay, size } = fitDay(waiting, limits)
    const full =
      part.length === limits.days || bytes + size > limits.bytes || buckets + usageDay.buckets.length > limits.buckets
    if (part.length > 0 && full) {
      parts.push(part)
      part = []
      bytes = 0
      buckets = 0
    }
    part.push(usageDay)
    bytes += size
    buckets += usageDay.buckets.length
  }
  return part.length > 0 ? [...parts, part] : parts
}

function fitDay(ledger: DayToSend, limits: { buckets: number; bytes: number }): { usageDay: UsageDay; size: number } {
  const waiting = boundTags(ledger)
  let usageDay: UsageDay | undefined
  let size = 0
  for (const quarters of [1, 4, QUARTERS_PER_DAY]) {
    const buckets = quarters === 1 ? waiting.buckets : coarsen(waiting.buckets, quarters)
    usageDay = { ...waiting, buckets: buckets.map(toWire) }
    size = utf8(canonicalJson(usageDay)).length + 1
    if (usageDay.buckets.length <= limits.buckets && size <= limits.bytes) break
  }
  return { usageDay: usageDay!, size }
}
