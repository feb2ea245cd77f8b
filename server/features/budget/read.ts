import type { MemberActor } from '#core/actor.ts'
import type { Budget } from '#core/budget/budget.ts'
import { type DaySpend, type Forecast, forecast } from '#core/budget/forecast.ts'
import { fullest, isExhausted, stepsReached, usedPct } from '#core/budget/use.ts'
import { resetLabel, type Window, windowAt, windowText } from '#core/budget/window.ts'
import { dateText, startOfDay, wallDay } from '#core/budget/zone.ts'
import { utcDay } from '#core/day.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { MICROS_PER_UNIT } from '#core/money.ts'
import { hasRateSince, picoOf, picoParts } from '#core/spend/exchange.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { etagOf, newestRuleSet } from '../rule-set.ts'
import { figuresSeenIn } from '../spend/grant.ts'
import { budgetsInForce, type InForce } from './in-force.ts'
import { type CurrencySpend, spendIn } from './ledger.ts'
import { ownersOf } from './tell.ts'
import { type Count, countNow, isOfPersons, type People, peopleOf, personsIn, sumBudget } from './use.ts'

/** Eight weeks and a day: what a forecast is made from. */
const HISTORY_DAYS = 57
/** A machine that was not heard of for so long is named: what it spent since is in no figure. */
const SILENT_MS = 2 * 3600_000

/** A forecast with its amounts as exact decimals. */
export type ForecastView =
  | Extract<Forecast, { state: 'too_early' }>
  | (Omit<Extract<Forecast, { state: 'forecast' }>, 'expected' | 'low' | 'high'> & {
      expected: string
      low: string
      high: string
    })

/** One budget, or one value's share of it, in its window of now. Amounts are exact decimals of the budget's currency. */
export type ShareView = {
  value: string
  /** For people: a machine's label, a member's name, else the value. Empty for the whole organisation. */
  label: string
  used: string
  /** How much of `used` is unpriced, at most so much. */
  bound: string
  /** Usage of which nobody knows whether it is billed; in no `used`. Zero for other budgets. */
  unknown: string
  /** Set aside by runs that are under way; not in `used`. */
  reserved: string
  /** Cut at six places. */
  usedPct: number
  exhausted: boolean
  /** `reached` is so right now; `toldAt` when its owners were told, which is once. */
  steps: { step: number; reached: boolean; toldAt: Date | null }[]
  forecast: ForecastView
}

export type BudgetView = {
  name: string
  amount: string
  currency: string
  basis: Budget['basis']
  window: string
  zone: string
  for: Budget['for'] | null
  start: Date
  end: Date
  /** `resets Monday 00:00 Europe/Amsterdam`, and the moment on that zone's clock. */
  label: string
  next: string
  owners: { owner: string; name: string; people: number }[]
  shares: ShareView[]
  /** Shares of people and machines whose figures the reader does not see. */
  withheld: number
}

type Ctx = FeatureContext<MemberActor>

/** Every budget in force with its use, forecast and steps, from the ledger as it stands; and how much of the fleet reports. */
export async function listBudgets(ctx: Ctx) {
  const { orgId } = ctx.actor
  const newest = await newestRuleSet(ctx.db, orgId)
  const inForce = await budgetsInForce(ctx.db, orgId)
  const { counts, people } = await countNow(ctx.db, orgId, inForce, ctx.now)
  return {
    version: newest?.version ?? 0,
    etag: etagOf(newest),
    budgets: await viewsOf(ctx, inForce, counts, people),
    coverage: await coverageOf(ctx),
  }
}

/** `not_counted`: there are budgets, and none of theirs was counted in its present window. */
export type Fullest = { name: string; usedPct: number; at: Date } | 'not_counted' | null

/** The budget, or one value's share, of which the largest part is used, at the last count: cheap enough for every look. */
export async function fullestBudget(ctx: Ctx): Promise<Fullest> {
  const { orgId } = ctx.actor
  const { budgets } = await budgetsInForce(ctx.db, orgId)
  if (budgets.length === 0) return null
  const rows = await ctx.db.$queryRaw<{ budget: string; value: string; windowId: string; used: string; at: Date }[]>`
    select budget, value, "windowId", used::text, at from "BudgetCut"
    where "orgId" = ${orgId} and "windowStart" <= ${ctx.now} and "windowEnd" > ${ctx.now}`
  const machines = budgets.some(isOfPersons) ? (await peopleOf(ctx.db, orgId)).machines : []
  const seen = await figuresSeenIn(ctx)
  const uses = budgets.flatMap(budget => {
    const { id } = windowAt(budget.window, budget.zone, ctx.now.getTime())
    const limit = parseDecimal(budget.amount)!
    return rows
      .filter(row => row.budget === budget.name && row.windowId === id)
      .filter(
        ({ value }) => seen === 'everybody' || (personsIn(budget, value, machines) ?? []).every(one => seen.has(one)),
      )
      .map(({ used, at }) => ({ name: budget.name, at, limit, used: parseDecimal(used)! }))
  })
  const found = fullest(uses)
  return found ? { name: found.name, usedPct: usedPct(found).value / MICROS_PER_UNIT, at: found.at } : 'not_counted'
}

/** One budget with what was spent on each day of its window: the days add up to what is used. */
export async function getBudget(ctx: Ctx, input: { name: string; value?: string }) {
  const { orgId } = ctx.actor
  const inForce = await budgetsInForce(ctx.db, orgId)
  const budget = inForce.budgets.find(({ name }) => name === input.name)
  if (!budget) throw notFound('budget')
  const alone = { ...inForce, budgets: [budget] }
  const { counts, people } = await countNow(ctx.db, orgId, alone, ctx.now)
  const [view] = await viewsOf(ctx, alone, counts, people)
  const share = view!.shares.find(({ value }) => value === (input.value ?? view!.shares[0]?.value))
  if (input.value !== undefined && !share) throw notFound('budget')
  const window = windowAt(budget.window, budget.zone, ctx.now.getTime())
  const days = share ? await daysIn(ctx, inForce, budget, share.value, people, window) : []
  const newest = await newestRuleSet(ctx.db, orgId)
  return {
    ...view!,
    etag: etagOf(newest),
    share: share ?? null,
    days,
    stopped: await stoppedIn(ctx, budget.name, window),
  }
}

/** Whom the budget has stopped in a window, the first time of each: those whose figures the reader sees, the others counted. */
export async function stoppedIn(ctx: Ctx, budget: string, window: Window) {
  const seen = await figuresSeenIn(ctx)
  const rows = await ctx.db.budgetStop.findMany({
    where: { orgId: ctx.actor.orgId, budget, windowId: window.id },
    include: { member: { select: { name: true } } },
    orderBy: { at: 'desc' },
  })
  const visible = rows.filter(({ memberId }) => seen === 'everybody' || seen.has(memberId))
  return {
    people: visible.map(({ memberId, member, rule, client, did, at, usedPct }) => ({
      memberId,
      name: member.name,
      own: memberId === ctx.actor.memberId,
      rule,
      client,
      did,
      at,
      usedPct,
    })),
    withheld: rows.length - visible.length,
  }
}

/** Spend of each local day of a window up to now, and what it had come to at the day's end. The days add up to what is used. */
async function daysIn(ctx: Ctx, inForce: InForce, budget: Budget, value: string, people: People, window: Window) {
  const first = wallDay(budget.zone, window.start)
  const last = wallDay(budget.zone, Math.min(ctx.now.getTime(), window.end - 1))
  const { spend, dates } = await spendByDay(ctx, inForce, budget, [first, last], !isOfPersons(budget))
  const costs = picoParts(costsByDay(budget, spend, dates, people)(value)).parts
  let sum = 0n
  return dates.map((date, i) => {
    sum += costs[i]!
    return { date, cost: formatDecimal(costs[i]!), sum: formatDecimal(sum) }
  })
}

/** Spend of local days in a budget's currency; days from before its first rate are left out. */
async function spendByDay(
  ctx: Ctx,
  { exchange }: InForce,
  { zone, currency }: Pick<Budget, 'zone' | 'currency'>,
  [first, last]: readonly [number, number],
  together: boolean,
): Promise<{ spend: CurrencySpend[]; dates: string[] }> {
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    // A date that a zone left out has no moment of its own.
    .filter(day => startOfDay(zone, day) < startOfDay(zone, day + 1))
    .filter(day => hasRateSince(exchange, currency, utcDay(startOfDay(zone, day))))
  if (days.length === 0) return { spend: [], dates: [] }
  const cuts = [...days.map(day => startOfDay(zone, day)), startOfDay(zone, last + 1)]
  const spend = await spendIn(ctx.db, ctx.actor.orgId, { currency, exchange }, cuts, { together })
  return { spend, dates: days.map(dateText) }
}

/** What each value spent on each day, in 10^-18. */
function costsByDay(
  budget: Budget,
  spend: readonly CurrencySpend[],
  dates: readonly string[],
  people: People,
): (value: string) => bigint[] {
  const byDay: CurrencySpend[][] = dates.map(() => [])
  for (const one of spend) byDay[one.span]!.push(one)
  const sums = byDay.map(day => sumBudget(budget, [], day, people))
  return value => sums.map(day => day.get(value)?.used ?? 0n)
}

async function viewsOf(ctx: Ctx, inForce: InForce, counts: readonly Count[], people: People) {
  const { budgets } = inForce
  const { orgId } = ctx.actor
  const seen = await figuresSeenIn(ctx)
  const members = await ctx.db.member.findMany({
    where: { orgId },
    select: { id: true, name: true, role: true, removedAt: true },
  })
  const present = members.filter(({ removedAt }) => removedAt === null)
  const windows = [...new Set(counts.map(({ window }) => window.id))]
  const told = await ctx.db.budgetStep.findMany({ where: { orgId, windowId: { in: windows } } })
  const held = await ctx.db.$queryRaw<{ budget: string; value: string; amount: string }[]>`
    select budget, value, sum(amount)::text as amount from "Reservation"
    where "orgId" = ${orgId} and state = 'live' and "leaseUntil" > ${ctx.now} group by 1, 2`
  const together = !budgets.some(isOfPersons)
  const histories = new Map<string, Awaited<ReturnType<typeof spendByDay>>>()
  const historyOf = async ({ zone, currency }: Budget) => {
    const today = wallDay(zone, ctx.now.getTime())
    const days = [today - HISTORY_DAYS, today - 1] as const
    const key = `${zone} ${currency}`
    const found = histories.get(key) ?? (await spendByDay(ctx, inForce, { zone, currency }, days, together))
    histories.set(key, found)
    return found
  }
  const ownerOf = (machine: string) => people.machines.find(({ id, label }) => id === machine || label === machine)
  const views: BudgetView[] = []
  for (const budget of budgets) {
    const own = counts.filter(count => count.budget.name === budget.name)
    const window = windowAt(budget.window, budget.zone, ctx.now.getTime())
    const { key } = budget.for ?? { key: '' }
    const visible = own.filter(({ value }) => {
      const persons = personsIn(budget, value, people.machines)
      return persons === undefined || seen === 'everybody' || persons.every(id => seen.has(id))
    })
    const { spend, dates } = await historyOf(budget)
    const history = costsByDay(budget, spend, dates, people)
    const shares = visible.map((count): ShareView => {
      const named = count.value || budget.for?.value || ''
      const days = history(count.value).map(picoOf)
      // Days before the first that had any spend say nothing about what a day costs.
      const first = days.findIndex(cost => cost > 0n)
      const known =
        first < 0 ? [] : days.flatMap((cost, i): DaySpend[] => (i < first ? [] : [{ date: dates[i]!, cost }]))
      const reached = stepsReached(count, budget.steps)
      return {
        value: count.value,
        label:
          key === 'machine'
            ? (ownerOf(named)?.label ?? named)
            : key === 'member'
              ? (members.find(({ id }) => id === named)?.name ?? named)
              : named,
        used: formatDecimal(count.used),
        bound: formatDecimal(count.bound),
        unknown: formatDecimal(count.unknown),
        reserved: formatDecimal(
          parseDecimal(held.find(row => row.budget === budget.name && row.value === count.value)?.amount ?? '0')!,
        ),
        usedPct: usedPct(count).value / MICROS_PER_UNIT,
        exhausted: isExhausted(count),
        steps: budget.steps.map(step => ({
          step,
          reached: reached.includes(step),
          toldAt:
            told.find(
              row =>
                row.budget === budget.name &&
                row.value === count.value &&
                row.windowId === window.id &&
                row.step === step,
            )?.reachedAt ?? null,
        })),
        forecast: viewOfForecast(
          forecast({
            window,
            zone: budget.zone,
            now: ctx.now.getTime(),
            used: count.used,
            days: known,
            limit: count.limit,
          }),
        ),
      }
    })
    views.push({
      name: budget.name,
      amount: budget.amount,
      currency: budget.currency,
      basis: budget.basis,
      window: windowText(budget.window),
      zone: budget.zone,
      for: budget.for ?? null,
      start: new Date(window.start),
      end: new Date(window.end),
      ...resetLabel(budget.window, budget.zone, window),
      owners: budget.owners.map(owner => {
        const [kind, name] = owner.split(':') as [string, string]
        const whom = ownersOf([owner], present)
        return { owner, name: kind === 'member' ? (whom[0]?.name ?? name) : name, people: whom.length }
      }),
      shares,
      withheld: own.length - visible.length,
    })
  }
  return views
}

function viewOfForecast(made: Forecast): ForecastView {
  if (made.state === 'too_early') return made
  const { expected, low, high, ...rest } = made
  return { ...rest, expected: formatDecimal(expected), low: formatDecimal(low), high: formatDecimal(high) }
}

/**
 * How much of the fleet the figures are of: machines that report, those that were silent, and with which strength each client's
 * calls are judged, which is as far as a budget can stop anything there. A client that sent usage and of which its machine
 * never told a hook counts as `figures-only`: what it spends is seen, and stopped by nothing.
 */
async function coverageOf({ db, actor: { orgId }, now }: Ctx) {
  const joined = { orgId, leftAt: null, revokedAt: null }
  const machines = await db.machine.findMany({
    where: joined,
    select: { label: true, usageAt: true },
    orderBy: { label: 'asc' },
  })
  const since = now.getTime() - SILENT_MS
  const silent = machines.filter(({ usageAt }) => !usageAt || usageAt.getTime() < since)
  const levels = await db.machineHook.groupBy({
    by: ['client', 'level'],
    where: { machine: joined },
    _count: { machineId: true },
    orderBy: [{ client: 'asc' }, { level: 'asc' }],
  })
  const unhooked = await db.$queryRaw<{ client: string; machines: number }[]>`
    select s.client, count(distinct s."machineId")::int as machines from "UsageSeries" s
    join "Machine" m on m.id = s."machineId" and m."leftAt" is null and m."revokedAt" is null
    where s."orgId" = ${orgId} and not exists (select from "MachineHook" h where h."machineId" = s."machineId" and h.client = s.client)
    group by 1 order by 1`
  return {
    machines: machines.length,
    reporting: machines.length - silent.length,
    silent: silent.map(({ label, usageAt }) => ({ label, since: usageAt })),
    clients: [
      ...levels.map(({ client, level, _count }) => ({ client, level, machines: _count.machineId })),
      ...unhooked.map(row => ({ ...row, level: 'figures-only' })),
    ],
  }
}
