import { DAY_MS, dayStart } from '#core/day.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { priceBucket } from '#core/pricing.ts'
import type { BucketKey, CoverBy } from '#core/usage/bucket.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { keepDays, type PricedBucket } from './keep.ts'
import { type DayRates, ratesOfVersion } from './rates.ts'
import { type LockedMachine, zonesOf } from './take.ts'

/** Days that one act prices anew. */
const DAYS_MOST = 366
/** Days of one machine in a transaction. */
const AT_ONCE = 40

/** UTC days, both included. */
export type DaySpan = { from: string; to: string }

/** @throws AppError BAD_INPUT for a span that is none, or longer than one act prices */
export function readSpan({ from, to }: DaySpan): DaySpan {
  const length = (dayStart(to) - dayStart(from)) / DAY_MS + 1
  if (!(length >= 1 && length <= DAYS_MOST))
    throw new AppError('BAD_INPUT', `Choose from one day to ${DAYS_MOST}, the first before the last.`)
  return { from, to }
}

/**
 * Prices what was taken for some UTC days anew, by the version of the rules that is in force now: its prices hold from their own
 * days on. An explicit act, recorded for each machine whose figures change; what machines send for these days later is priced by
 * that version too. Closed statements keep their figures.
 * @returns the cost of all these days before and after
 */
export async function repriceUsage(
  ctx: FeatureContext,
  span: DaySpan,
): Promise<{ version: number; days: number; old: string; new: string }> {
  const { actor } = ctx
  demand(actor, 'usage.reprice')
  const { from, to } = readSpan(span)
  const newest = await ctx.db.ruleSetVersion.aggregate({ where: { orgId: actor.orgId }, _max: { version: true } })
  const version = newest._max.version ?? 0
  const rates = { version, rates: await ratesOfVersion(ctx.db, actor.orgId, version) }
  const done = { version, days: 0, old: 0n, new: 0n }
  const machines = await ctx.db.machine.findMany({ where: { orgId: actor.orgId }, select: { id: true } })
  for (const { id } of machines) {
    const rows = await ctx.db.$queryRaw<{ day: string }[]>`
      select day::text from "UsageDay" where "orgId" = ${actor.orgId} and "machineId" = ${id} and day between ${from}::date and ${to}::date order by day`
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const days = rows.slice(at, at + AT_ONCE).map(({ day }) => day)
      const changed = await ctx.db.$transaction(tx => repriceDays(tx, ctx, id, days, rates))
      done.days += days.length
      done.old += changed.old
      done.new += changed.new
    }
  }
  return { ...done, old: formatDecimal(done.old), new: formatDecimal(done.new) }
}

type Stored = Omit<BucketKey, 'rate' | 'coverBy'> & { coverBy: CoverBy | null } & {
  day: string
  calls: number
  partial: number
} & Record<'input' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h' | 'output' | 'webSearches', bigint>

async function repriceDays(
  tx: Tx,
  ctx: FeatureContext,
  machineId: string,
  days: string[],
  dayRates: DayRates,
): Promise<{ old: bigint; new: bigint }> {
  const { orgId } = ctx.actor
  const [machine] = await tx.$queryRaw<LockedMachine[]>`
    select id, id as "machineId", "orgId", "memberId", "usageSeq" from "Machine" where id = ${machineId} and "orgId" = ${orgId} for no key update`
  const list = `{${days.join(',')}}`
  const [before] = await tx.$queryRaw<{ cost: string }[]>`
    select coalesce(sum(cost), 0)::text as cost from "UsageDay" where "orgId" = ${orgId} and "machineId" = ${machineId} and day = any(${list}::date[])`
  const stored = await tx.$queryRaw<Stored[]>`
    select b.day::text, b.quarter, b.calls, b.partial, b.input, b."cacheRead", b."cacheWrite5m", b."cacheWrite1h", b.output, b."webSearches",
      s.client, s.provider, s.model, s.long, s.covered, nullif(s."coverBy", '') as "coverBy", s.tags
    from "UsageBucket" b join "UsageSeries" s on s."orgId" = b."orgId" and s.id = b."seriesId"
    where b."orgId" = ${orgId} and b."machineId" = ${machineId} and b.day = any(${list}::date[])`
  const buckets = stored.map((row): PricedBucket => {
    const { input, cacheRead, cacheWrite5m, cacheWrite1h, output, webSearches, coverBy, ...rest } = row
    const tokens = {
      input: Number(input),
      cacheRead: Number(cacheRead),
      cacheWrite5m: Number(cacheWrite5m),
      cacheWrite1h: Number(cacheWrite1h),
      output: Number(output),
      webSearches: Number(webSearches),
    }
    const { picoUsd, rate } = priceBucket(dayRates.rates, { ...rest, tokens })
    return { ...rest, ...(coverBy === null ? {} : { coverBy }), tokens, picoUsd, rate }
  })
  await keepDays(tx, machine!, { days, buckets, fresh: false, zones: await zonesOf(tx, orgId) })
  const costs = new Map(days.map(day => [day, 0n]))
  for (const { day, picoUsd } of buckets) costs.set(day, costs.get(day)! + picoUsd)
  const rows = [...costs].map(([day, cost]) => ({ day, cost: formatDecimal(cost) }))
  await tx.$executeRaw`
    update "UsageDay" d set cost = r.cost, "ruleVersion" = ${dayRates.version}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(day date, cost numeric)
    where d."orgId" = ${orgId} and d."machineId" = ${machineId} and d.day = r.day`
  const old = parseDecimal(before!.cost)!
  const cost = [...costs.values()].reduce((sum, one) => sum + one, 0n)
  if (cost === old) return { old, new: cost }
  await notify(tx, { org: orgId, what: 'usage', machine: machineId })
  await recordEvidence(tx, ctx, {
    kind: 'usage.repriced',
    subject: { kind: 'machine', id: machineId },
    data: {
      from: days[0]!,
      to: days.at(-1)!,
      old: formatDecimal(old),
      new: formatDecimal(cost),
      version: dayRates.version,
    },
  })
  return { old, new: cost }
}
