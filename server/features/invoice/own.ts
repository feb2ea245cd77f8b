import { addMonths, daysOfMonth } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import type { OwnAmount } from '#core/invoice/reconcile.ts'
import { unitPrices } from '#core/pricing.ts'
import { Prisma } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { keptValues } from '../kept.ts'
import { monthMarks } from '../usage/month-marks.ts'
import { ratesOfVersion } from '../usage/rates.ts'

/** What we reckon of a provider in a month (UTC), in pico-dollars. */
export type OwnMonth = {
  /** What is paid for by use and has a price, by day and model; searches have no model, as on invoices. */
  amounts: OwnAmount[]
  /** The same by tenant as it is recorded, whatever it is called now; null: has none. */
  tenants: Map<string | null, bigint>
  /** By tenant, what has a price, at list prices and whatever covers it: what a difference can be spread by where nobody knows. */
  equivalents: Map<string | null, bigint>
  /** Beside it and never in it: at most, what is paid for by use and has no price; and what nobody knows to be billed. */
  bound: bigint
  unknown: bigint
}

/** What tells whether months are as they were: read once for any number of them, and before they are. */
export type OwnState = {
  /** Of a UTC month: the same mark, the same usage; undefined where that would take as long as reading. */
  markOf: (month: string) => string | undefined
}

export async function ownState(db: Tx, orgId: string): Promise<OwnState> {
  const { timeZone: zone } = await db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true },
  })
  const ofZone = await monthMarks(db, orgId, zone)
  const markOf = (month: string) => {
    // a month in UTC has hours of those beside it in another zone
    const names = zone === 'UTC' ? [month] : [addMonths(month, -1), month, addMonths(month, 1)]
    const marks = names.map(ofZone)
    return marks.includes(undefined) ? undefined : JSON.stringify([zone, marks])
  }
  return { markOf }
}

/** By what it is made of, so that it is never stale. */
const kept = keptValues<OwnMonth>(200)

/** Sums an organisation's usage of a provider in a month. Read anew only when usage, prices or the zone have changed since. */
export async function ownOfMonth(
  db: Tx,
  orgId: string,
  { provider, month }: { provider: string; month: string },
  { markOf }: OwnState,
): Promise<OwnMonth> {
  const mark = markOf(month)
  const key = mark && JSON.stringify([orgId, provider, month, mark])
  const held = key && kept.get(key)
  if (held) return held
  const { from, to } = daysOfMonth(month)
  const own = await addUp(db, orgId, await readSums(db, orgId, provider, from, to))
  return key ? kept.put(key, own) : own
}

type Sum = {
  day: string
  provider: string
  model: string
  long: boolean
  covered: 'metered' | 'plan' | 'unknown'
  rate: string
  tenant: string | null
  version: number
  searches: bigint
  cost: string
}

/** From the days' totals where they are of UTC days, else from the buckets; one statement sees the zone and what is kept by it. */
function readSums(db: Tx, orgId: string, provider: string, from: string, to: string): Promise<Sum[]> {
  const isUtc = Prisma.sql`(select "timeZone" from "Organisation" where id = ${orgId}) = 'UTC'`
  return db.$queryRaw<Sum[]>`
    select u.day::text, s.provider, s.model, s.long, s.covered, s.rate, s.tags ->> 'tenant' as tenant,
      coalesce(d."ruleVersion", 0) as version, sum(u."webSearches")::bigint as searches, sum(u.cost)::text as cost
    from (
      select start as day, "seriesId", "webSearches", cost from "UsageTotal"
      where ${isUtc} and "orgId" = ${orgId} and zone = 'UTC' and span = 'day' and start >= ${from}::date and start < ${to}::date
      union all
      select day, "seriesId", sum("webSearches"), sum(cost) from "UsageBucket"
      where not ${isUtc} and "orgId" = ${orgId} and day >= ${from}::date and day < ${to}::date group by 1, 2
    ) u join "UsageSeries" s on s."orgId" = ${orgId} and s.id = u."seriesId" and s.provider = ${provider}
      left join "UsageDay" d on d."orgId" = ${orgId} and d."machineId" = s."machineId" and d.day = u.day
    group by 1, 2, 3, 4, 5, 6, 7, 8`
}

async function addUp(db: Tx, orgId: string, sums: readonly Sum[]): Promise<OwnMonth> {
  const amounts = new Map<string, OwnAmount>()
  const own: OwnMonth = { amounts: [], tenants: new Map(), equivalents: new Map(), bound: 0n, unknown: 0n }
  const add = (day: string, model: string | undefined, pico: bigint) => {
    const key = `${day} ${model ?? ''}`
    const amount = amounts.get(key) ?? { day, ...(model === undefined ? {} : { model }), pico: 0n }
    amount.pico += pico
    amounts.set(key, amount)
  }
  for (const sum of sums) {
    const pico = parseDecimal(sum.cost) ?? 0n
    const { tenant } = sum
    if (sum.rate !== 'fallback') own.equivalents.set(tenant, (own.equivalents.get(tenant) ?? 0n) + pico)
    if (sum.covered === 'plan') continue
    if (sum.covered === 'unknown') own.unknown += pico
    else if (sum.rate === 'fallback') own.bound += pico
    else {
      const isPriced = sum.searches > 0n && (sum.rate === 'card' || sum.rate === 'override')
      const prices = isPriced ? unitPrices(await ratesOfVersion(db, orgId, sum.version), sum) : undefined
      const searches = sum.searches * (prices?.rates.webSearches ?? 0n)
      if (searches !== 0n) add(sum.day, undefined, searches)
      if (pico !== searches) add(sum.day, sum.model, pico - searches)
      own.tenants.set(tenant, (own.tenants.get(tenant) ?? 0n) + pico)
    }
  }
  own.amounts = [...amounts.values()]
  return own
}
