import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { demand } from '#core/permission.ts'
import { priceBucket } from '#core/pricing.ts'
import type { RateKind } from '#core/usage/bucket.ts'
import type { FeatureContext } from '../context.ts'
import { ratesInForce } from './in-force.ts'
import { type DaySpan, readSpan } from './reprice.ts'

/** What pricing anew would make of one model in one month of the organisation's zone: decimals in US dollars. */
export type RepriceRow = {
  month: string
  model: string
  provider: string
  calls: number
  old: RepriceAmounts
  new: RepriceAmounts
  /** Statements of the month are closed: they keep their figures, and the difference becomes an adjustment. */
  closed: boolean
}
/** `atMost`: of models without a price, and in no total. */
export type RepriceAmounts = { priced: string; atMost: string }
export type RepricePreview = {
  version: number
  /** What would change, month by month, the newest first; nothing else would. */
  rows: RepriceRow[]
  /** Of all usage of these days, changed or not. */
  old: RepriceAmounts
  new: RepriceAmounts
}

type Sum = { priced: bigint; atMost: bigint }
const none = (): Sum => ({ priced: 0n, atMost: 0n })
const add = (sum: Sum, rate: RateKind, cost: bigint) => {
  sum[rate === 'fallback' ? 'atMost' : 'priced'] += cost
}
const shown = ({ priced, atMost }: Sum): RepriceAmounts => ({
  priced: formatDecimal(priced),
  atMost: formatDecimal(atMost),
})

/** What repriceUsage would change. Nothing is written. */
export async function previewReprice(ctx: FeatureContext, span: DaySpan): Promise<RepricePreview> {
  const { actor, db } = ctx
  demand(actor, 'usage.reprice')
  const { from, to } = readSpan(span)
  const { orgId } = actor
  const { version, rates } = await ratesInForce(db, orgId)
  const { timeZone } = await db.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { timeZone: true } })
  type Row = {
    day: string
    month: string
    model: string
    provider: string
    long: boolean
    rate: RateKind
    cost: string
  }
  type Counts = Record<
    'calls' | 'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'output' | 'webSearches',
    bigint
  >
  const stored = await db.$queryRaw<(Row & Counts)[]>`
    select b.day::text, to_char((b.day + b.quarter * interval '15 minutes') at time zone 'UTC' at time zone ${timeZone}, 'YYYY-MM') as month,
      s.model, s.provider, s.long, s.rate, sum(b.calls)::bigint as calls, sum(b.input)::bigint as input, sum(b."cacheRead")::bigint as "cacheRead",
      sum(b."cacheWrite5m")::bigint as "cacheWrite5m", sum(b."cacheWrite1h")::bigint as "cacheWrite1h", sum(b.output)::bigint as output,
      sum(b."webSearches")::bigint as "webSearches", sum(b.cost)::text as cost
    from "UsageBucket" b join "UsageSeries" s on s."orgId" = b."orgId" and s.id = b."seriesId"
    where b."orgId" = ${orgId} and b.day between ${from}::date and ${to}::date
    group by 1, 2, 3, 4, 5, 6`
  const closed = await db.$queryRaw<{ month: string }[]>`select month from "StatementMonth" where "orgId" = ${orgId}`
  const rows = new Map<string, Pick<RepriceRow, 'month' | 'model' | 'provider' | 'calls'> & { old: Sum; new: Sum }>()
  const total = { old: none(), new: none() }
  for (const { month, model, provider, day, long, rate, cost, calls, ...counts } of stored) {
    const key = `${month} ${provider} ${model}`
    const row = rows.get(key) ?? { month, model, provider, calls: 0, old: none(), new: none() }
    rows.set(key, row)
    row.calls += Number(calls)
    const tokens = {
      input: Number(counts.input),
      cacheRead: Number(counts.cacheRead),
      cacheWrite5m: Number(counts.cacheWrite5m),
      cacheWrite1h: Number(counts.cacheWrite1h),
      output: Number(counts.output),
      webSearches: Number(counts.webSearches),
    }
    const priced = priceBucket(rates, { model, provider, day, long, tokens })
    const old = parseDecimal(cost) ?? 0n
    for (const sums of [row, total]) {
      add(sums.old, rate, old)
      add(sums.new, priced.rate, priced.picoUsd)
    }
  }
  return {
    version,
    rows: [...rows.values()]
      .filter(row => row.old.priced !== row.new.priced || row.old.atMost !== row.new.atMost)
      .sort((a, b) => (a.month === b.month ? (a.model < b.model ? -1 : 1) : a.month > b.month ? -1 : 1))
      .map(row => ({
        ...row,
        old: shown(row.old),
        new: shown(row.new),
        closed: closed.some(({ month }) => month === row.month),
      })),
    old: shown(total.old),
    new: shown(total.new),
  }
}
