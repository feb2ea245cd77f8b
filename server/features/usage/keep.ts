import { MONEY_PLACES } from '#core/decimal.ts'
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
  const series = new SeriesFound()
  const dayAt = new Map(days.map((day, i) => [day, i]))
  const rows = new Map<number, KeptRow>()
  for (const bucket of buckets) {
    const at = series.placeOf(bucket)
    const place = (at * days.length + dayAt.get(bucket.day)!) * QUARTERS_PER_DAY + bucket.quarter
    const before = rows.get(place)
    // The machine priced them apart, here they have one price: one series.
    if (before) before.bucket = added(before.bucket, bucket)
    else rows.set(place, { series: at, bucket })
  }
  const ids = await seriesOf(tx, machine, series.keys)
  await writeBuckets(tx, machine, days, [...rows.values()], ids, fresh)
  for (const zone of zones) await retotal(tx, machine, zone, days)
}

type SeriesKey = Omit<BucketKey, 'quarter'>
/** Series in the order in which they were met. Their names are compared one by one: a text of them all takes longer to make. */
class SeriesFound {
  readonly keys: SeriesKey[] = []
  private readonly places = new Map<unknown, never>() as Places

  placeOf(key: SeriesKey): number {
    let places = this.places
    for (const name of [key.model, key.client, key.provider, key.long, key.covered, key.coverBy, key.rate]) {
      let next = places.get(name) as Places | undefined
      if (next === undefined) {
        next = new Map()
        places.set(name, next)
      }
      places = next
    }
    const tags = tagsKey(key.tags)
    let place = places.get(tags) as number | undefined
    if (place === undefined) {
      place = this.keys.push(key) - 1
      places.set(tags, place)
    }
    return place
  }
}
type Places = Map<unknown, Places | number>

/** `series`: its place among the series of this call. */
type KeptRow = { series: number; bucket: PricedBucket }

function added(a: PricedBucket, b: PricedBucket): PricedBucket {
  const { calls, partial, picoUsd } = b
  const tokens = { ...a.tokens }
  for (const axis of PRICE_AXES) tokens[axis] += b.tokens[axis]
  return { ...a, calls: a.calls + calls, partial: a.partial + partial, tokens, picoUsd: a.picoUsd + picoUsd }
}

const seriesText = (k: SeriesKey): string =>
  `${k.client} ${k.provider} ${k.model} ${k.long ? 1 : 0} ${k.covered}/${k.coverBy ?? ''} ${k.rate} ${tagsKey(k.tags)}`

/** The numbers of the machine's series, by their place; those that are new are made. */
async function seriesOf(
  tx: Tx,
  { orgId, machineId, memberId }: MachineKey,
  series: readonly SeriesKey[],
): Promise<number[]> {
  if (series.length === 0) return []
  type Row = { id: number; text: string }
  const known = await tx.$queryRaw<Row[]>`
    select id, concat_ws(' ', client, provider, model, long::int, covered || '/' || "coverBy", rate, "tagsKey") as text
    from "UsageSeries" where "orgId" = ${orgId} and "machineId" = ${machineId}`
  const ids = new Map(known.map(({ text, id }) => [text, id]))
  const missing = series
    .filter(key => !ids.has(seriesText(key)))
    .map(key => {
      const { client, provider, model, long, covered, coverBy = '', rate, tags } = key
      return { client, provider, model, long, covered, coverBy, rate, tags, tagsKey: tagsKey(tags) }
    })
  const made =
    missing.length === 0
      ? []
      : await tx.$queryRaw<Row[]>`
    insert into "UsageSeries" ("orgId", "machineId", "memberId", client, provider, model, long, covered, "coverBy", rate, tags, "tagsKey")
    select ${orgId}, ${machineId}, ${memberId}, r.client, r.provider, r.model, r.long, r.covered, r."coverBy", r.rate, r.tags, r."tagsKey"
    from jsonb_to_recordset(${JSON.stringify(missing)}::jsonb)
      as r(client text, provider text, model text, long boolean, covered text, "coverBy" text, rate text, tags jsonb, "tagsKey" text)
    returning id, concat_ws(' ', client, provider, model, long::int, covered || '/' || "coverBy", rate, "tagsKey") as text`
  for (const { text, id } of made) ids.set(text, id)
  return series.map(key => ids.get(seriesText(key))!)
}

/**
 * Every column as PostgreSQL's text form of an array: one parameter each, however many rows. Of money whole dollars and the rest
 * in pico-dollars, for whole numbers of eight bytes. A figure that is zero in all of them is an empty array.
 */
function columnsOf(rows: readonly KeptRow[], ids: readonly number[]): string[] {
  const days: string[] = []
  const quarters: number[] = []
  const series: number[] = []
  const figures = Array.from({ length: FIGURES }, () => [] as (number | bigint)[])
  for (const row of rows) {
    const { day, quarter, calls, partial, tokens, picoUsd } = row.bucket
    days.push(day)
    quarters.push(quarter)
    series.push(ids[row.series]!)
    figures[0]!.push(calls)
    figures[1]!.push(partial)
    for (let i = 0; i < PRICE_AXES.length; i++) figures[i + 2]!.push(tokens[PRICE_AXES[i]!])
    const isLess = picoUsd < PICO_PER_USD
    figures[FIGURES - 2]!.push(isLess ? 0 : picoUsd / PICO_PER_USD)
    figures[FIGURES - 1]!.push(isLess ? picoUsd : picoUsd % PICO_PER_USD)
  }
  return [
    ...[days, quarters, series].map(column => `{${column.join(',')}}`),
    ...figures.map(column => (column.some(value => value > 0) ? `{${column.join(',')}}` : '{}')),
  ]
}

/** Calls, partial ones, tokens by axis, and what they cost: dollars, and the rest. */
const FIGURES = PRICE_AXES.length + 4
/** 10^-12 dollars. */
const PICO_PER_USD = 10n ** BigInt(MONEY_PLACES)

// by place, and not by `unnest`, which keeps each array once more
const at = (n: number, type: string) => `($${n}::${type}[])[i]`
const NEW_ROWS = `n as (
  select ${at(3, 'date')} as day, ${at(4, 'smallint')} as quarter, ${at(5, 'int')} as "seriesId", coalesce(${at(6, 'int')}, 0) as calls, coalesce(${at(7, 'int')}, 0) as partial, coalesce(${at(8, 'bigint')}, 0) as input, coalesce(${at(9, 'bigint')}, 0) as "cacheRead",
    coalesce(${at(10, 'bigint')}, 0) as "cacheWrite5m", coalesce(${at(11, 'bigint')}, 0) as "cacheWrite1h", coalesce(${at(12, 'bigint')}, 0) as output,
    coalesce(${at(13, 'bigint')}, 0) as "webSearches", coalesce(${at(14, 'bigint')}, 0) + coalesce(${at(15, 'bigint')}, 0) * 0.000000000001 as cost
  from generate_subscripts($3::date[], 1) as i)`
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
      delete from "UsageBucket" b where b."orgId" = $1 and b."machineId" = $2 and b.day = any($16::date[])
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
