import type { MemberActor } from '#core/actor.ts'
import { DAY_MS, dayStart, isDay } from '#core/day.ts'
import { AppError } from '#core/error.ts'
import { PRICE_AXES, type PriceAxis, type Rates, type UsageTokens, unitPrices } from '#core/pricing.ts'
import { nearMiss } from '#core/rate-card/near-miss.ts'
import type { FeatureContext } from '../context.ts'
import { ratesInForce } from './in-force.ts'
import { shortest } from './price-day.ts'

/** How usage of a model without a price of its own was counted. */
export type UnpricedRate = 'fallback' | 'zero' | 'substitute'
export type UnpricedModel = {
  model: string
  provider: string
  rate: UnpricedRate
  calls: number
  tokens: UsageTokens
  /** What it counts as: of `fallback` a bound, kept out of totals; a decimal in US dollars. */
  cost: string
  /** The first and last day of the organisation's zone with usage of it in the period. */
  first: string
  last: string
  machines: number
  /** The models that set the bound on the kinds of tokens used. */
  setBy: string[]
  /** The id on the card that this one is most likely a slip for. It is never priced by it. */
  didYouMean: string | null
  /** Whether the rules in force now price it on its days: what was taken before keeps its price until it is priced anew. */
  hasPrice: 'no' | 'partly' | 'yes'
}

const DAYS_MOST = 3700

/** Days of the organisation's zone, the last not included. @throws AppError BAD_INPUT */
export function readDays({ from, to }: { from: string; to: string }): void {
  if (!isDay(from) || !isDay(to)) throw new AppError('BAD_INPUT', 'That is no date.')
  if (to < from || dayStart(to) - dayStart(from) > DAYS_MOST * DAY_MS)
    throw new AppError('BAD_INPUT', 'The period ends before it begins, or is too long.')
}

/** The models whose usage in some days was counted without a price of their own, the dearest first. */
export async function unpricedModels(
  { db, actor: { orgId } }: FeatureContext<MemberActor>,
  period: { from: string; to: string },
): Promise<{ zone: string; version: number; models: UnpricedModel[] }> {
  readDays(period)
  const { timeZone: zone } = await db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { timeZone: true },
  })
  const { version, rates } = await ratesInForce(db, orgId)
  type Row = Record<'calls' | Exclude<PriceAxis, never>, bigint> &
    Pick<UnpricedModel, 'model' | 'provider' | 'rate' | 'cost' | 'first' | 'last' | 'machines'>
  const rows = await db.$queryRaw<Row[]>`
    select s.model, s.provider, s.rate, sum(t.calls)::bigint as calls, sum(t.input)::bigint as input, sum(t."cacheRead")::bigint as "cacheRead",
      sum(t."cacheWrite5m")::bigint as "cacheWrite5m", sum(t."cacheWrite1h")::bigint as "cacheWrite1h", sum(t.output)::bigint as output,
      sum(t."webSearches")::bigint as "webSearches", sum(t.cost)::text as cost, min(t.start)::text as first, max(t.start)::text as last,
      count(distinct t."machineId")::int as machines
    from "UsageSeries" s join "UsageTotal" t on t."orgId" = s."orgId" and t."machineId" = s."machineId" and t."seriesId" = s.id
    where s."orgId" = ${orgId} and s.rate in ('fallback', 'zero', 'substitute')
      and t.zone = ${zone} and t.span = 'day' and t.start >= ${period.from}::date and t.start < ${period.to}::date
    group by 1, 2, 3 order by sum(t.cost) desc, 1, 2, 3`
  return {
    zone,
    version,
    models: rows.map(({ calls, model, provider, rate, cost, first, last, machines, ...counts }): UnpricedModel => {
      const tokens = Object.fromEntries(PRICE_AXES.map(axis => [axis, Number(counts[axis])])) as UsageTokens
      const used = PRICE_AXES.filter(axis => tokens[axis] > 0)
      return {
        model,
        provider,
        rate,
        calls: Number(calls),
        tokens,
        cost: shortest(cost),
        first,
        last,
        machines,
        setBy: rate === 'fallback' ? [...new Set(used.map(axis => rates.bound.setBy[axis]))] : [],
        didYouMean: nearMiss(rates, model) ?? null,
        hasPrice: priceBetween(rates, model, provider, first, last),
      }
    }),
  }
}

function priceBetween(rates: Rates, model: string, provider: string, first: string, last: string) {
  const has = [first, last].filter(day => unitPrices(rates, { model, provider, day, long: false }) !== undefined)
  return first === last ? (has.length > 0 ? 'yes' : 'no') : (['no', 'partly', 'yes'] as const)[has.length]!
}
