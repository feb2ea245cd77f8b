import type { MemberActor, TokenActor } from '#core/actor.ts'
import { DAY_MS, dayStart, daysOfMonth, isDay, isMonth } from '#core/day.ts'
import { AppError } from '#core/error.ts'
import { type FocusRow, focusJson } from '#core/focus.ts'
import { type FocusAccount, focusPrices, focusRows } from '#core/focus-rows.ts'
import { FOCUS_DAYS_MAX } from '#core/limits.ts'
import { RATE_CARD } from '#core/rate-card/built-in.ts'
import { perUsdOn } from '#core/spend/exchange.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import type { FeatureContext } from '../context.ts'
import { ratesOfVersion } from '../usage/rates.ts'
import { correctionRows } from './focus-corrections.ts'
import { type DayRange, daysWithUsage, sumsOfDay } from './focus-usage.ts'
import { renamesInForce } from './renames.ts'

type Ctx = FeatureContext<MemberActor | TokenActor>

export type FocusExport = {
  range: DayRange
  /** Names everything that the rows are made of: the same mark, the same rows. */
  mark: string
  rows: AsyncGenerator<FocusRow, void, undefined>
}

export type FocusAsked = Partial<DayRange> & {
  month?: string
  /** Closed months as the ledger is now, or as they were billed, with what changed since in the months that it was billed in. */
  closed?: 'ledger' | 'billed'
}

/** Rises whenever the same usage gives other rows. */
const FORM = 1

/**
 * An organisation's usage of some UTC days as FOCUS rows. It knows tenants, projects and other tags, never people or machines, so
 * whoever belongs to the organisation may have all of it. Rows come as they are read, a day at a time; their costs add up to the
 * ledger of those days, in the currency that the organisation is billed in.
 * @throws AppError BAD_INPUT for what is no range, or too long a one
 */
export async function focusExport(ctx: Ctx, asked: FocusAsked): Promise<FocusExport> {
  const { orgId } = ctx.actor
  const range = readRange(asked)
  const { currency: billed, ...org } = await ctx.db.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { id: true, name: true, currency: true },
  })
  const tenants = await ctx.db.tenant.findMany({
    where: { orgId },
    select: { key: true, name: true },
    orderBy: { key: 'asc' },
  })
  const days = await daysWithUsage(ctx.db, orgId, range)
  const { exchange } = await budgetsInForce(ctx.db, orgId)
  const first = exchange.get(billed)?.[0]?.from
  // All of it in dollars where a day is from before the first rate, as on the page: currencies never mix.
  const isConverted = billed !== 'USD' && first !== undefined && !days.some(day => day < first)
  const account: FocusAccount = {
    org,
    tenants: new Map(tenants.map(({ key, name }) => [key, name])),
    currency: isConverted ? billed : 'USD',
    perUsdMicros: day => (isConverted ? perUsdOn(exchange, billed, day) : 1_000_000n),
  }
  const rates = isConverted ? exchange.get(billed)!.map(({ from, text }) => [from, text]) : []
  const corrections = asked.closed === 'billed' ? await correctionRows(ctx.db, orgId, range, account) : []
  const renames = await renamesInForce(ctx.db, orgId)
  const names = JSON.stringify([
    FORM,
    RATE_CARD.name,
    range,
    org.name,
    account.currency,
    rates,
    tenants,
    renames,
    corrections.map(focusJson),
  ])
  const [state] = await ctx.db.$queryRaw<{ mark: string }[]>`
    select md5(${names}::text || coalesce(string_agg(concat_ws(' ', "machineId", day, digest, cost, "ruleVersion"), ',' order by day, "machineId"), '')) as mark
    from "UsageDay" where "orgId" = ${orgId} and day >= ${range.from}::date and day < ${range.to}::date`
  return { range, mark: state!.mark, rows: rowsOf(ctx, days, account, corrections) }
}

async function* rowsOf(
  ctx: Ctx,
  days: readonly string[],
  account: FocusAccount,
  corrections: readonly FocusRow[],
): AsyncGenerator<FocusRow, void, undefined> {
  const { orgId } = ctx.actor
  const card = await ratesOfVersion(ctx.db, orgId, 0)
  for (const day of days)
    for await (const sums of sumsOfDay(ctx.db, orgId, day))
      for (const { version, ...usage } of sums) {
        const rates = await ratesOfVersion(ctx.db, orgId, version)
        yield* focusRows(usage, focusPrices(rates, card, usage, version), account)
      }
  yield* corrections
}

/** A month, or days of which the last is not in it any more; all of UTC. */
export function readRange({ month, from, to }: Partial<DayRange> & { month?: string }): DayRange {
  if (month !== undefined) {
    if (from !== undefined || to !== undefined)
      throw new AppError('BAD_INPUT', 'Ask for a month, or for days from and to, not for both.')
    if (!isMonth(month)) throw new AppError('BAD_INPUT', 'month is not a month, such as 2026-11.')
    return daysOfMonth(month)
  }
  if (from === undefined || to === undefined)
    throw new AppError('BAD_INPUT', 'Say which days: month=2026-11, or from=2026-11-01 and to=2026-12-01.')
  for (const [name, text] of [
    ['from', from],
    ['to', to],
  ] as const)
    if (!isDay(text)) throw new AppError('BAD_INPUT', `${name} is not a day, such as 2026-11-01.`)
  const days = (dayStart(to) - dayStart(from)) / DAY_MS
  if (days < 1) throw new AppError('BAD_INPUT', 'The days end before they begin; to is the first that is not in them.')
  if (days > FOCUS_DAYS_MAX)
    throw new AppError('TOO_LARGE', `That is more than ${FOCUS_DAYS_MAX} days.`, { remedy: 'Ask for a year at most.' })
  return { from, to }
}
