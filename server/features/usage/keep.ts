import { formatDecimal } from '#core/decimal.ts'
import { PRICE_AXES, type PriceAxis, type UsageTokens } from '#core/pricing.ts'
import type { BucketKey } from '#core/usage/bucket.ts'
import { tagsKey } from '#core/usage/tags.ts'
import type { Tx } from '../../db.ts'
import { retotal } from './totals.ts'

/** A bucket priced here; `machinePico` is what the machine reckoned. */
export type PricedBucket = BucketKey & {
  day: string
  calls: number
  partial: number
  tokens: UsageTokens
  picoUsd: bigint
}
type MachineKey = { orgId: string; machineId: string; memberId: string }

/** A column of rows as PostgreSQL's text form of an array: one parameter, however many rows. */
const column = <Row>(rows: readonly Row[], of: (row: Row) => string | number | bigint): string =>
  `{${rows.map(of).join(',')}}`

/**
 * Puts whole days of a machine in the place of what stood there, and makes the totals that hold them anew. Only what differs
 * is written. The caller holds the machine's row.
 * @param days every day that is replaced, also one that has no bucket any more; `fresh`: nothing stood in any of them
 */
export async function keepDays(
  tx: Tx,
  machine: MachineKey,
  { days, buckets, fresh, zones }: { days: string[]; buckets: PricedBucket[]; fresh: boolean; zones: string[] },
): Promise<void> {
  const series = await seriesOf(tx, machine, buckets)
  const rows = new Map<string, { seriesId: number; bucket: PricedBucket }>()
  for (const bucket of buckets) {
    const seriesId = series.get(seriesText(bucket))!
    const id = `${bucket.day} ${bucket.quarter} ${seriesId}`
    const before = rows.get(id)
    // The machine priced them apart, here they have one price: one series.
    if (before) before.bucket = added(before.bucket, bucket)
    else rows.set(id, { seriesId, bucket })
  }
  await writeBuckets(tx, machine, days, [...rows.values()], fresh)
  for (const zone of zones) await retotal(tx, machine, zone, days)
}

function added(a: PricedBucket, b: PricedBucket): PricedBucket {
  const tokens = { ...a.tokens }
  for (const axis of PRICE_AXES) tokens[axis] += b.tokens[axis]
  return {
    ...a,
    calls: a.calls + b.calls,
    partial: a.partial + b.partial,
    tokens,
    picoUsd: a.picoUsd + b.picoUsd,
  }
}

type SeriesKey = Omit<BucketKey, 'quarter'>
const seriesText = (k: SeriesKey): string =>
  `${k.client} ${k.provider} ${k.model} ${k.long ? 1 : 0} ${k.covered} ${k.rate} ${tagsKey(k.tags)}`

/** The numbers of the machine's series; those that are new are made. */
async function seriesOf(
  tx: Tx,
  { orgId, machineId, memberId }: MachineKey,
  buckets: readonly PricedBucket[],
): Promise<Map<string, number>> {
  const wanted = new Map<string, SeriesKey>()
  for (const bucket of buckets) wanted.set(seriesText(bucket), bucket)
  if (wanted.size === 0) return new Map()
  type Row = { id: number; text: string }
  const known = await tx.$queryRaw<Row[]>`
    select id, concat_ws(' ', client, provider, model, long::int, covered, rate, "tagsKey") as text
    from "UsageSeries" where "orgId" = ${orgId} and "machineId" = ${machineId}`
  const ids = new Map(known.map(({ text, id }) => [text, id]))
  const missing = [...wanted]
    .filter(([text]) => !ids.has(text))
    .map(([, { client, provider, model, long, covered, rate, tags }]) => {
      return { client, provider, model, long, covered, rate, tags, tagsKey: tagsKey(tags) }
    })
  if (missing.length === 0) return ids
  const made = await tx.$queryRaw<Row[]>`
    insert into "UsageSeries" ("orgId", "machineId", "memberId", client, provider, model, long, covered, rate, tags, "tagsKey")
    select ${orgId}, ${machineId}, ${memberId}, r.client, r.provider, r.model, r.long, r.covered, r.rate, r.tags, r."tagsKey"
    from jsonb_to_recordset(${JSON.stringify(missing)}::jsonb)
      as r(client text, provider text, model text, long boolean, covered text, rate text, tags jsonb, "tagsKey" text)
    returning id, concat_ws(' ', client, provider, model, long::int, covered, rate, "tagsKey") as text`
  for (const { text, id } of made) ids.set(text, id)
  return ids
}

type KeptRow = { seriesId: number; bucket: PricedBucket }

async function writeBuckets(
  tx: Tx,
  { orgId, machineId }: MachineKey,
  days: string[],
  rows: KeptRow[],
  fresh: boolean,
): Promise<void> {
  const axis = (name: PriceAxis) => column(rows, r => r.bucket.tokens[name])
  const columns = [
    column(rows, r => r.bucket.day),
    column(rows, r => r.bucket.quarter),
    column(rows, r => r.seriesId),
    column(rows, r => r.bucket.calls),
    column(rows, r => r.bucket.partial),
    axis('input'),
    axis('cacheRead'),
    axis('cacheWrite5m'),
    axis('cacheWrite1h'),
    axis('output'),
    axis('webSearches'),
    column(rows, r => formatDecimal(r.bucket.picoUsd)),
  ]
  const put = `
    insert into "UsageBucket" ("orgId", day, "machineId", quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost)
    select $1, n.day, $2, n.quarter, n."seriesId", n.calls, n.partial, n.input, n."cacheRead", n."cacheWrite5m", n."cacheWrite1h", n.output, n."webSearches", n.cost from n`
  const n = `n as (select * from unnest($3::date[], $4::smallint[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::numeric[])
      as n(day, quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost))`
  if (fresh) {
    await tx.$executeRawUnsafe(`with ${n} ${put}`, orgId, machineId, ...columns)
    return
  }
  await tx.$executeRawUnsafe(
    `with ${n}, gone as (
      delete from "UsageBucket" b where b."orgId" = $1 and b."machineId" = $2 and b.day = any($15::date[])
        and not exists (select from n where n.day = b.day and n.quarter = b.quarter and n."seriesId" = b."seriesId"))
    ${put}
    on conflict ("orgId", day, "machineId", quarter, "seriesId") do update set calls = excluded.calls, partial = excluded.partial, input = excluded.input,
      "cacheRead" = excluded."cacheRead", "cacheWrite5m" = excluded."cacheWrite5m", "cacheWrite1h" = excluded."cacheWrite1h", output = excluded.output,
      "webSearches" = excluded."webSearches", cost = excluded.cost
    where ("UsageBucket".calls, "UsageBucket".partial, "UsageBucket".input, "UsageBucket"."cacheRead", "UsageBucket"."cacheWrite5m", "UsageBucket"."cacheWrite1h", "UsageBucket".output, "UsageBucket"."webSearches", "UsageBucket".cost)
      is distinct from (excluded.calls, excluded.partial, excluded.input, excluded."cacheRead", excluded."cacheWrite5m", excluded."cacheWrite1h", excluded.output, excluded."webSearches", excluded.cost)`,
    orgId,
    machineId,
    ...columns,
    column(days, day => day),
  )
}

/** Makes the months' partitions that these days lie in, in statements of their own. */
export async function makeMonths(tx: Pick<Tx, '$queryRaw'>, days: readonly string[]): Promise<void> {
  const months = [...new Set(days.map(day => `${day.slice(0, 7)}-01`))]
  for (const month of months) await tx.$queryRaw`select usage_month(${month}::date)`
}
