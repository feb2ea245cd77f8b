import { PRICE_AXES, type UsageTokens } from '#core/pricing.ts'
import { type BucketKey, QUARTERS_PER_DAY } from '#core/usage/bucket.ts'
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
  const series = new Map<string, { at: number; key: SeriesKey }>()
  const dayAt = new Map(days.map((day, i) => [day, i]))
  const rows = new Map<number, KeptRow>()
  for (const bucket of buckets) {
    const text = seriesText(bucket)
    const one = series.get(text) ?? { at: series.size, key: bucket }
    series.set(text, one)
    const place = (one.at * days.length + dayAt.get(bucket.day)!) * QUARTERS_PER_DAY + bucket.quarter
    const before = rows.get(place)
    // The machine priced them apart, here they have one price: one series.
    if (before) before.bucket = added(before.bucket, bucket)
    else rows.set(place, { series: one.at, bucket })
  }
  const ids = await seriesOf(tx, machine, series)
  await writeBuckets(tx, machine, days, [...rows.values()], ids, fresh)
  for (const zone of zones) await retotal(tx, machine, zone, days)
}

type SeriesKey = Omit<BucketKey, 'quarter'>
/** `series`: its place among the series of this call. */
type KeptRow = { series: number; bucket: PricedBucket }

function added(a: PricedBucket, b: PricedBucket): PricedBucket {
  const { calls, partial, picoUsd } = b
  const tokens = { ...a.tokens }
  for (const axis of PRICE_AXES) tokens[axis] += b.tokens[axis]
  return { ...a, calls: a.calls + calls, partial: a.partial + partial, tokens, picoUsd: a.picoUsd + picoUsd }
}

const seriesText = (k: SeriesKey): string =>
  `${k.client} ${k.provider} ${k.model} ${k.long ? 1 : 0} ${k.covered} ${k.rate} ${tagsKey(k.tags)}`

/** The numbers of the machine's series, by their place; those that are new are made. */
async function seriesOf(
  tx: Tx,
  { orgId, machineId, memberId }: MachineKey,
  series: ReadonlyMap<string, { at: number; key: SeriesKey }>,
): Promise<number[]> {
  if (series.size === 0) return []
  type Row = { id: number; text: string }
  const known = await tx.$queryRaw<Row[]>`
    select id, concat_ws(' ', client, provider, model, long::int, covered, rate, "tagsKey") as text
    from "UsageSeries" where "orgId" = ${orgId} and "machineId" = ${machineId}`
  const ids = new Map(known.map(({ text, id }) => [text, id]))
  const missing = [...series]
    .filter(([text]) => !ids.has(text))
    .map(([, { key }]) => {
      const { client, provider, model, long, covered, rate, tags } = key
      return { client, provider, model, long, covered, rate, tags, tagsKey: tagsKey(tags) }
    })
  const made =
    missing.length === 0
      ? []
      : await tx.$queryRaw<Row[]>`
    insert into "UsageSeries" ("orgId", "machineId", "memberId", client, provider, model, long, covered, rate, tags, "tagsKey")
    select ${orgId}, ${machineId}, ${memberId}, r.client, r.provider, r.model, r.long, r.covered, r.rate, r.tags, r."tagsKey"
    from jsonb_to_recordset(${JSON.stringify(missing)}::jsonb)
      as r(client text, provider text, model text, long boolean, covered text, rate text, tags jsonb, "tagsKey" text)
    returning id, concat_ws(' ', client, provider, model, long::int, covered, rate, "tagsKey") as text`
  for (const { text, id } of made) ids.set(text, id)
  return [...series.keys()].map(text => ids.get(text)!)
}

/** Every column as PostgreSQL's text form of an array: one parameter each, however many rows. Money in whole pico-dollars. */
function columnsOf(rows: readonly KeptRow[], ids: readonly number[]): string[] {
  const columns: string[][] = Array.from({ length: 12 }, () => [])
  for (const { series, bucket } of rows) {
    const { day, quarter, calls, partial, tokens: t, picoUsd } = bucket
    const values = [day, quarter, ids[series]!, calls, partial, ...PRICE_AXES.map(axis => t[axis]), picoUsd]
    for (let i = 0; i < values.length; i++) columns[i]!.push(String(values[i]))
  }
  return columns.map(column => `{${column.join(',')}}`)
}

const NEW_ROWS = `n as (
  select day, quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", pico * 0.000000000001 as cost
  from unnest($3::date[], $4::smallint[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::numeric[])
    as n(day, quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", pico))`
const PUT_ROWS = `
  insert into "UsageBucket" ("orgId", day, "machineId", quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost)
  select $1, day, $2, quarter, "seriesId", calls, partial, input, "cacheRead", "cacheWrite5m", "cacheWrite1h", output, "webSearches", cost from n`

async function writeBuckets(
  tx: Tx,
  { orgId, machineId }: MachineKey,
  days: string[],
  rows: readonly KeptRow[],
  ids: readonly number[],
  fresh: boolean,
): Promise<void> {
  const columns = columnsOf(rows, ids)
  if (fresh) {
    await tx.$executeRawUnsafe(`with ${NEW_ROWS} ${PUT_ROWS}`, orgId, machineId, ...columns)
    return
  }
  await tx.$executeRawUnsafe(
    `with ${NEW_ROWS}, gone as (
      delete from "UsageBucket" b where b."orgId" = $1 and b."machineId" = $2 and b.day = any($15::date[])
        and not exists (select from n where n.day = b.day and n.quarter = b.quarter and n."seriesId" = b."seriesId"))
    ${PUT_ROWS}
    on conflict ("orgId", day, "machineId", quarter, "seriesId") do update set calls = excluded.calls, partial = excluded.partial, input = excluded.input,
      "cacheRead" = excluded."cacheRead", "cacheWrite5m" = excluded."cacheWrite5m", "cacheWrite1h" = excluded."cacheWrite1h", output = excluded.output,
      "webSearches" = excluded."webSearches", cost = excluded.cost
    where ("UsageBucket".calls, "UsageBucket".partial, "UsageBucket".input, "UsageBucket"."cacheRead", "UsageBucket"."cacheWrite5m", "UsageBucket"."cacheWrite1h", "UsageBucket".output, "UsageBucket"."webSearches", "UsageBucket".cost)
      is distinct from (excluded.calls, excluded.partial, excluded.input, excluded."cacheRead", excluded."cacheWrite5m", excluded."cacheWrite1h", excluded.output, excluded."webSearches", excluded.cost)`,
    orgId,
    machineId,
    ...columns,
    `{${days.join(',')}}`,
  )
}

/** Makes the months' partitions that these days lie in, in statements of their own. */
export async function makeMonths(tx: Pick<Tx, '$queryRaw'>, days: readonly string[]): Promise<void> {
  const months = [...new Set(days.map(day => `${day.slice(0, 7)}-01`))]
  for (const month of months) await tx.$queryRaw`select usage_month(${month}::date)`
}
