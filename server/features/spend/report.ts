import type { MemberActor, TokenActor } from '#core/actor.ts'
import type { Basis } from '#core/budget/budget.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { coverName } from '#core/spend/cover-words.ts'
import {
  type Dimension,
  dimensionValue,
  type Filter,
  groupBy,
  parseDimension,
  type SpendRow,
} from '#core/spend/group.ts'
import { type Covered, totalOf, type UsageTotal } from '#core/usage/bucket.ts'
import type { FeatureContext } from '../context.ts'
import { type Billing, billingOf, inBilling, type ReportCurrency, sumShown } from './currency.ts'
import { figuresSeenIn } from './grant.ts'
import { demandKnown } from './keys.ts'
import { type Period, type PeriodText, readPeriod, type Step } from './period.ts'
import { type Seen, sumUsage, WITHHELD } from './sums.ts'

type Ctx = FeatureContext<MemberActor | TokenActor>

export type ReportAsked = PeriodText & {
  /** `tenant`, `project`, any other tag's key, or `client`, `provider`, `model`, `machine`, `member`. */
  by: string
  basis?: Basis
  step?: Step
  /** By dimension the values that are wanted; null: what has no value. */
  filter?: Record<string, (string | null)[]>
}

/** Money as decimal strings in the report's currency, by what covers it; the three never stand in one figure unless said so. */
export type Amounts = Record<Covered, string>
/** `priced`: at known prices. `bound`: of models without a price, "at most". */
export type TotalShown = Omit<UsageTotal, 'priced' | 'bound'> & { priced: Amounts; bound: Amounts }
export type ReportRow = {
  /** Null: has none ("unattributed"). `withheld`: people whose own figures the reader may not see. */
  value: string | null
  /** What people call it; a value that is no row of ours any more stands as recorded. */
  label: string | null
  total: TotalShown
}
export type Report = ReportCurrency & {
  by: string
  basis: Basis
  zone: string
  from: Date
  to: Date
  rows: ReportRow[]
  total: TotalShown
  /** With `step`: by its start, what each row comes to. */
  steps: { start: string; values: { value: string | null; total: TotalShown }[] }[]
  coverage: Coverage
}
/** How far the figures reach: machines that belong, those that sent usage within the last two hours, and the newest upload. */
export type Coverage = {
  machines: number
  reporting: number
  lastAt: Date | null
  /** Days of the period that machines priced otherwise than the control plane, and by how much. */
  differing: { days: number; machineCost: string; cost: string }
  /** Days kept apart because their machine's clock is ahead. */
  quarantined: number
  /** By tag key: what stood under values that no list has. */
  unlisted: Record<string, string>
}

const SILENT_MS = 2 * 3600_000
/** Longest periods, in days, for steps that come in numbers. */
const STEP_DAYS: Partial<Record<Step, number>> = { quarter: 8, hour: 32, day: 400 }

/**
 * Spend over a period by one key, cut at quarter hours of the organisation's zone. Whatever the key, rows add up to the total and
 * the total is the ledger's. Individuals stand by themselves only for themselves and for holders of an owner's grant.
 */
export async function spendReport(ctx: Ctx, asked: ReportAsked): Promise<Report> {
  const { orgId } = ctx.actor
  const { basis = 'equivalent', step } = asked
  const by = dimensionOf(asked.by)
  const [seen, { timeZone: zone, currency }] = await Promise.all([
    figuresSeenIn(ctx),
    ctx.db.organisation.findUniqueOrThrow({ where: { id: orgId }, select: { timeZone: true, currency: true } }),
  ])
  const filter = filterOf(asked.filter ?? {}, seen)
  await demandKnown(ctx, [by, ...(Object.keys(filter) as Dimension[])])
  const period = await readPeriod(ctx.db, zone, asked)
  const most = step && STEP_DAYS[step]
  if (most !== undefined && period.to.getTime() - period.from.getTime() > most * 24 * 3600_000)
    throw new AppError('BAD_INPUT', `The period is longer than ${most} days, too long to be cut by ${step}s.`, {
      remedy: 'Choose longer steps or a shorter period.',
    })
  const billing = await billingOf(ctx.db, orgId, currency, period)
  const { rates } = billing
  const [sums, reach] = await Promise.all([
    sumUsage(ctx.db, orgId, { period, by: [by], filter, seen, ...(rates ? { rates } : {}), ...(step ? { step } : {}) }),
    reachOf(ctx, period),
  ])
  const { rows, shown: shownIn } = inBilling(sums, billing)
  const { groups, total } = groupBy(rows, by, basis)
  const labels = await labelsOf(ctx, by, rows)
  return {
    ...shownIn,
    by: asked.by,
    basis,
    zone,
    from: period.from,
    to: period.to,
    rows: groups.map(({ value, total: sum }) => ({
      value: value ?? null,
      label: value === undefined ? null : (labels.get(value) ?? value),
      total: shown(sum),
    })),
    total: shown(total),
    steps: step ? stepsOf(rows, by) : [],
    coverage: coverageIn(reach, billing, shownIn),
  }
}

function dimensionOf(word: string): Dimension {
  const by = parseDimension(word)
  if (by === undefined || by === 'day' || by === 'month')
    throw new AppError('BAD_INPUT', 'There is no such thing to group by.', {
      remedy: 'Use a tag, client, provider, model, machine, member or cover; cut days and months by steps.',
    })
  return by
}

/** People, and their machines, can be asked for by name only by whoever may see their own figures. */
function filterOf(asked: Record<string, (string | null)[]>, seen: Seen): Filter {
  const filter: Record<string, (string | null)[]> = {}
  for (const [word, values] of Object.entries(asked)) {
    const dimension = dimensionOf(word)
    if (dimension === 'member' && seen !== 'everybody' && values.some(value => value !== null && !seen.has(value)))
      throw new AppError('FORBIDDEN', "You may not see other people's own figures.", {
        remedy: 'An owner can grant it, with a reason that they see.',
      })
    // `tenant` and `tag:tenant` are one
    filter[dimension] = [...(filter[dimension] ?? []), ...values]
  }
  return filter as Filter
}

function stepsOf(rows: readonly SpendRow[], by: Dimension): Report['steps'] {
  const starts = new Map<string, Map<string | null, SpendRow[]>>()
  for (const row of rows) {
    const values = starts.get(row.day!) ?? new Map<string | null, SpendRow[]>()
    starts.set(row.day!, values)
    const value = dimensionValue(row, by) ?? null
    values.set(value, [...(values.get(value) ?? []), row])
  }
  return [...starts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([start, values]) => ({
      start,
      values: [...values]
        .sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
        .map(([value, list]) => ({ value, total: shown(totalOf(list)) })),
    }))
}

/** A total with its money as decimals. */
export function shown({ priced, bound, ...rest }: UsageTotal): TotalShown {
  const money = (by: UsageTotal['priced']): Amounts => ({
    plan: formatDecimal(by.plan),
    metered: formatDecimal(by.metered),
    unknown: formatDecimal(by.unknown),
  })
  return { ...rest, priced: money(priced), bound: money(bound) }
}

async function labelsOf(ctx: Ctx, by: Dimension, rows: readonly SpendRow[]): Promise<Map<string, string>> {
  const { orgId } = ctx.actor
  const ids = [...new Set(rows.map(row => dimensionValue(row, by)).filter(value => value !== undefined))]
  const of = { orgId, id: { in: ids } }
  const labels = new Map([[WITHHELD, 'Others']])
  if (by === 'cover') for (const id of ids) labels.set(id, coverName(id))
  if (by === 'member')
    for (const row of await ctx.db.member.findMany({ where: of, select: { id: true, name: true } }))
      labels.set(row.id, row.name)
  else if (by === 'machine')
    for (const row of await ctx.db.machine.findMany({ where: of, select: { id: true, label: true } }))
      labels.set(row.id, row.label)
  else if (by === 'tag:tenant')
    for (const row of await ctx.db.tenant.findMany({ where: { orgId, key: { in: ids } } }))
      labels.set(row.key, row.name)
  return labels
}

type Reach = Omit<Coverage, 'differing' | 'unlisted'> & {
  differing: { day: string; days: number; machineCost: string; cost: string }[]
  unlisted: { day: string; key: string; cost: string }[]
}

/** How far the figures reach, what is money of it by UTC day. */
async function reachOf(ctx: Ctx, period: Period): Promise<Reach> {
  const { orgId } = ctx.actor
  const since = new Date(ctx.now.getTime() - SILENT_MS)
  const [from, to] = [period.from, new Date(period.to.getTime() - 1)].map(at => at.toISOString().slice(0, 10))
  const [machines, differing, unlisted] = await Promise.all([
    ctx.db.$queryRaw<Pick<Coverage, 'machines' | 'reporting' | 'lastAt' | 'quarantined'>[]>`
      select count(*) filter (where "leftAt" is null and "revokedAt" is null)::int as machines,
        count(*) filter (where "leftAt" is null and "revokedAt" is null and "usageAt" > ${since})::int as reporting, max("usageAt") as "lastAt",
        (select count(*)::int from "UsageQuarantine" where "orgId" = ${orgId}) as quarantined
      from "Machine" where "orgId" = ${orgId}`,
    ctx.db.$queryRaw<Reach['differing']>`
      select day::text, count(*)::int as days, sum("machineCost")::text as "machineCost", sum(cost)::text as cost
      from "UsageDay" where "orgId" = ${orgId} and day between ${from}::date and ${to}::date and differing > 0 group by 1`,
    ctx.db.$queryRaw<Reach['unlisted']>`
      select d.day::text, u.key, sum(u.value::numeric)::text as cost from "UsageDay" d, jsonb_each_text(d.unlisted) u
      where d."orgId" = ${orgId} and d.day between ${from}::date and ${to}::date and d.unlisted <> '{}' group by 1, 2`,
  ])
  return { ...machines[0]!, differing, unlisted }
}

function coverageIn({ differing, unlisted, ...rest }: Reach, billing: Billing, shownIn: ReportCurrency): Coverage {
  const sum = (rows: readonly { day: string; cost: string }[]) =>
    sumShown(
      rows.map(({ day, cost }) => ({ day, cost: parseDecimal(cost)! })),
      billing,
      shownIn,
    )
  const keys = [...new Set(unlisted.map(({ key }) => key))]
  return {
    ...rest,
    differing: {
      days: differing.reduce((n, { days }) => n + days, 0),
      machineCost: sum(differing.map(({ day, machineCost }) => ({ day, cost: machineCost }))),
      cost: sum(differing),
    },
    unlisted: Object.fromEntries(keys.map(key => [key, sum(unlisted.filter(row => row.key === key))])),
  }
}
