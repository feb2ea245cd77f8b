import type { Basis } from '#core/budget/budget.ts'
import { CLIENTS } from '#core/client.ts'
import { DAY_MS, dayStart, utcDay } from '#core/day.ts'
import { CALL_TOKENS_MAX } from '#core/limits.ts'
import { NO_TOKENS, PRICE_AXES, PROVIDERS, type PricedCall, type Provider, type UsageTokens } from '#core/pricing.ts'
import { type Tags, tagsKey } from './tags.ts'

/** A bucket is a quarter hour of a UTC day. */
export const QUARTER_MS = 15 * 60_000
export const QUARTERS_PER_DAY = 96

/** Whether a flat plan covers the calls. `unknown` is a line of its own: it is never counted as billed, nor as covered. */
export const COVERED = ['plan', 'metered', 'unknown'] as const
export type Covered = (typeof COVERED)[number]
/**
 * Who declared what covers calls of which no record and no sign-in tells it: the organisation in its signed rules, or the machine's
 * own file, which counts only where the organisation says nothing.
 */
export const COVER_BY = ['organisation', 'machine'] as const
export type CoverBy = (typeof COVER_BY)[number]
/** How the cost came about; see PricedCall.rate. */
export const RATE_KINDS = [
  'card',
  'override',
  'fallback',
  'zero',
  'substitute',
] as const satisfies readonly PricedCall['rate'][]
export type RateKind = (typeof RATE_KINDS)[number]
/** The clients that usage can come from; `other`: a program that is known by its figures only. */
export const USAGE_CLIENTS = [...CLIENTS, 'other'] as const
export type UsageClient = (typeof USAGE_CLIENTS)[number]

/** A model's id as a client recorded it, where it is of the form that ids have. */
export const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,99}$/
/** What stands for the id of a model whose recorded name is no id. */
export const UNKNOWN_MODEL = 'unknown'
export const modelId = (recorded: string): string => (MODEL_ID.test(recorded) ? recorded : UNKNOWN_MODEL)
/** A provider's name as it may leave the machine. */
export const providerName = (recorded: string | undefined): Provider =>
  (PROVIDERS as readonly string[]).includes(recorded ?? '') ? (recorded as Provider) : 'other'

/**
 * Whether counts can be a call's: whole, not negative, and no more than any model takes in. Others are told and not counted:
 * a sum could not be trusted after them.
 */
export const areSound = (tokens: UsageTokens): boolean =>
  PRICE_AXES.every(axis => Number.isSafeInteger(tokens[axis]) && tokens[axis] >= 0 && tokens[axis] <= CALL_TOKENS_MAX)

/** One call, read and attributed. `key` is the provider's message id, else its request id: what makes it the one call. */
export type MeteredCall = {
  key: string
  client: UsageClient
  provider: Provider
  /** Exact id as recorded. */
  model: string
  /** Milliseconds since 1970. */
  atMs: number
  tokens: UsageTokens
  tags: Tags
  covered: Covered
  /** Absent: its record or its session's sign-in tells it, or nobody does. */
  coverBy?: CoverBy
  /** The response broke off: what was counted until then stands. */
  partial?: boolean
  /** Keys whose local value is on no list of the organisation: not sent, its share is. */
  unlisted?: readonly string[]
}
/** A call with its price. */
export type PricedMeteredCall = MeteredCall & { picoUsd: bigint; rate: RateKind; long: boolean }

/** What all calls of a bucket have in common. */
export type BucketKey = {
  /** Quarter hour of the UTC day, 0 to 95. */
  quarter: number
  client: UsageClient
  provider: Provider
  model: string
  /** Whether the calls were above the model's threshold of size. */
  long: boolean
  tags: Tags
  covered: Covered
  /** Absent: records or sign-ins tell it, or nobody does. */
  coverBy?: CoverBy
  rate: RateKind
}
export type Bucket = BucketKey & {
  calls: number
  /** How many of them broke off. */
  partial: number
  tokens: UsageTokens
  picoUsd: bigint
}

/** One text for one key; `tags`, where the caller has it already, is their tagsKey. */
export const bucketId = (b: BucketKey, tags: string = tagsKey(b.tags)): string =>
  `${b.quarter} ${b.client} ${b.provider} ${b.model} ${b.long ? 1 : 0} ${b.covered}${b.coverBy ? `/${b.coverBy}` : ''} ${b.rate} ${tags}`

/** The quarter hour of its UTC day that a moment lies in. */
export const quarterOf = (atMs: number): number => Math.floor((((atMs % DAY_MS) + DAY_MS) % DAY_MS) / QUARTER_MS)
/** The first millisecond of a quarter hour. */
export const quarterStart = (day: string, quarter: number): number => dayStart(day) + quarter * QUARTER_MS

/** A call that may come again; one that has a price is past that, for its price would be of the counts before. */
export type Observed = Pick<MeteredCall, 'key' | 'tokens' | 'partial'> & { picoUsd?: never }

/**
 * Each call once, whoever saw it and however often: a stream writes one message several times with growing counts, a forked
 * session copies it, and two observers may see the same call. Of each axis the largest count stands; moment and attribution
 * are the first observer's. Two ids are two calls, however alike they are.
 */
export function uniqueCalls<T extends Observed>(calls: Iterable<T>): T[] {
  const byKey = new Map<string, T>()
  for (const call of calls) {
    const before = byKey.get(call.key)
    if (before === undefined) {
      byKey.set(call.key, call)
      continue
    }
    const tokens = { ...NO_TOKENS }
    for (const axis of PRICE_AXES) tokens[axis] = Math.max(before.tokens[axis], call.tokens[axis])
    byKey.set(call.key, { ...before, tokens, ...(before.partial ? { partial: call.partial === true } : {}) })
  }
  return [...byKey.values()]
}

/** Adds one bucket to those of a day; what is in the map is its own and may be added to. */
function addBucket(byId: Map<string, Bucket>, bucket: Bucket, id: string = bucketId(bucket)): void {
  const before = byId.get(id)
  if (before === undefined) {
    byId.set(id, { ...bucket, tokens: { ...bucket.tokens } })
    return
  }
  before.calls += bucket.calls
  before.partial += bucket.partial
  before.picoUsd += bucket.picoUsd
  for (const axis of PRICE_AXES) before.tokens[axis] += bucket.tokens[axis]
}

/** Sorted by quarter, then key, so that equal usage is equal bytes. */
const inOrder = (byId: Map<string, Bucket>): Bucket[] =>
  [...byId].sort(([a, { quarter: x }], [b, { quarter: y }]) => x - y || (a < b ? -1 : 1)).map(([, bucket]) => bucket)

/** Priced calls as the buckets of each UTC day, in a fixed order. Every call is counted: pass each once. */
export function bucketsByDay(calls: Iterable<PricedMeteredCall>): Map<string, Bucket[]> {
  const days = new Map<number, Map<string, Bucket>>()
  // the calls of a session share their tags
  const keys = new Map<Tags, string>()
  for (const { atMs, tokens, tags, client, provider, model, covered, coverBy, partial, picoUsd, rate, long } of calls) {
    const day = Math.floor(atMs / DAY_MS)
    let byId = days.get(day)
    if (byId === undefined) {
      byId = new Map()
      days.set(day, byId)
    }
    let key = keys.get(tags)
    if (key === undefined) {
      key = tagsKey(tags)
      keys.set(tags, key)
    }
    const bucket: Bucket = {
      quarter: quarterOf(atMs),
      client,
      provider,
      model: modelId(model),
      long,
      tags,
      covered,
      ...(coverBy === undefined ? {} : { coverBy }),
      rate,
      calls: 1,
      partial: partial ? 1 : 0,
      tokens,
      picoUsd,
    }
    addBucket(byId, bucket, bucketId(bucket, key))
  }
  return new Map([...days].sort(([a], [b]) => a - b).map(([day, byId]) => [utcDay(day * DAY_MS), inOrder(byId)]))
}

/** Adds up what has one key; sorted, see above. */
export function mergeBuckets(buckets: Iterable<Bucket>): Bucket[] {
  const byId = new Map<string, Bucket>()
  for (const bucket of buckets) addBucket(byId, bucket)
  return inOrder(byId)
}

/**
 * Fewer, longer buckets for a day too large to send: quarters fall together from the start of each `quarters`-long span.
 * Nothing else of the key is lost, and the sum stays what it was.
 */
export const coarsen = (buckets: readonly Bucket[], quarters: number): Bucket[] =>
  mergeBuckets(buckets.map(b => ({ ...b, quarter: b.quarter - (b.quarter % quarters) })))

/** Money by what covers it. The three never stand in one figure but the equivalent one, which asks for no cover. */
export type ByCover = Record<Covered, bigint>
/**
 * What a day or any other set of buckets comes to. `priced` and `bound` (of models that have no price: "unpriced, at most")
 * are never added up without saying so.
 */
export type UsageTotal = {
  calls: number
  partial: number
  tokens: UsageTokens
  priced: ByCover
  bound: ByCover
  /** Calls by how they were priced. */
  rates: Record<RateKind, number>
}

export const noTotal = (): UsageTotal => ({
  calls: 0,
  partial: 0,
  tokens: { ...NO_TOKENS },
  priced: { plan: 0n, metered: 0n, unknown: 0n },
  bound: { plan: 0n, metered: 0n, unknown: 0n },
  rates: { card: 0, override: 0, fallback: 0, zero: 0, substitute: 0 },
})

/** What an addition to a total needs of a bucket. */
export type Addend = Pick<Bucket, 'calls' | 'partial' | 'tokens' | 'picoUsd' | 'rate' | 'covered'>

/** Adds to a total in place. */
export function addTo(total: UsageTotal, { calls, partial, tokens, picoUsd, rate, covered }: Addend): void {
  total.calls += calls
  total.partial += partial
  total.rates[rate] += calls
  for (const axis of PRICE_AXES) total.tokens[axis] += tokens[axis]
  const side = rate === 'fallback' ? total.bound : total.priced
  side[covered] += picoUsd
}

/** All of them added up. */
export function totalOf(addends: Iterable<Addend>): UsageTotal {
  const total = noTotal()
  for (const addend of addends) addTo(total, addend)
  return total
}

/** An amount at list price whatever covers it (`equivalent`), of what is metered (`billed`), or of what nobody can say. */
export const amountOf = (by: ByCover, basis: Basis | 'unknown'): bigint =>
  basis === 'equivalent' ? by.plan + by.metered + by.unknown : basis === 'billed' ? by.metered : by.unknown
