import type { Basis } from '#core/budget/budget.ts'
import { addMonths, utcDay } from '#core/day.ts'
import type { SharedRule } from '#core/spend/draw.ts'
import { type ExchangeRates, ratesSince } from '#core/spend/exchange.ts'
import type { Dimension } from '#core/spend/group.ts'
import type { DatedRow } from '#core/spend/statement-lines.ts'
import { NO_RENAMES, type RenameMap, renamedTags } from '#core/usage/renames.ts'
import type { Tx } from '../../db.ts'
import { type Period, periodBetween, readPeriod } from '../spend/period.ts'
import { renamesAt, renamesInForce } from '../spend/renames.ts'
import { sumUsage } from '../spend/sums.ts'
import type { StatementSetting } from './setting.ts'

/** A month of the organisation, as it was settled when its first statement was closed, or as it would be now. */
export type BookMonth = {
  month: string
  start: Date
  /** The first moment after it. */
  end: Date
  zone: string
  settled: boolean
  basis: Basis
  currency: string
  rules: SharedRule[]
  /** Who takes part in what is shared; undefined: whoever is there. */
  tenants: readonly string[] | undefined
}

export const nextMonth = (month: string, by = 1): string => addMonths(month, by)

/** How far statements reach back at the most: one day of a clock that stood at 1999 makes no list of centuries. */
const MONTHS_MOST = 240

/**
 * All months from the first with usage to the present one. Each begins where the one before ends, also when the organisation's
 * zone has changed in between: no moment is in two, and none is in neither.
 */
export async function statementMonths(
  tx: Tx,
  orgId: string,
  zone: string,
  { firstMonth, basis, currency, rules }: StatementSetting,
  now: Date,
): Promise<BookMonth[]> {
  const settled = new Map(
    (await tx.statementMonth.findMany({ where: { orgId } })).map(row => [row.month, row] as const),
  )
  const [span] = await tx.$queryRaw<{ first: string | null; last: string }[]>`
    select (select to_char(min(start), 'YYYY-MM') from "UsageTotal" where "orgId" = ${orgId} and zone = ${zone} and span = 'month') as first,
      to_char(${now}::timestamptz at time zone ${zone}, 'YYYY-MM') as last`
  const earliest = [...settled.keys(), ...(firstMonth ? [firstMonth] : span!.first ? [span!.first] : [])].sort()[0]
  if (earliest === undefined) return []
  const all: string[] = []
  for (let month = earliest; month <= span!.last; month = nextMonth(month)) all.push(month)
  const names = all.slice(-MONTHS_MOST)
  const starts = await tx.$queryRaw<{ month: string; start: Date }[]>`
    select m as month, (m || '-01')::timestamp at time zone ${zone} as start from unnest(${[...names, nextMonth(span!.last)]}::text[]) m`
  const startOf = new Map(starts.map(({ month, start }) => [month, start]))
  const months: BookMonth[] = []
  for (const month of names) {
    const row = settled.get(month)
    if (row)
      months.push({
        month,
        start: row.startAt,
        end: row.endAt,
        zone: row.zone,
        settled: true,
        basis: row.basis as Basis,
        currency: row.currency,
        rules: row.rules as unknown as SharedRule[],
        tenants: row.tenants,
      })
    else
      months.push({
        month,
        start: months.at(-1)?.end ?? startOf.get(month)!,
        end: settled.get(nextMonth(month))?.startAt ?? startOf.get(nextMonth(month))!,
        zone,
        settled: false,
        basis,
        currency,
        rules,
        tenants: undefined,
      })
  }
  return months
}

/**
 * Each month's usage by everything that a line names, read from one moment of the ledger where their ends are those of the zone's
 * months: one question, whatever their number. A row's `day` is a UTC day of the exchange rate that it is converted at.
 */
export async function rowsByMonth(
  tx: Tx,
  orgId: string,
  zone: string,
  months: readonly BookMonth[],
  exchange: ExchangeRates,
  renames: (month: string | undefined) => RenameMap,
): Promise<Map<string, DatedRow[]>> {
  const keys = new Set(['tenant', 'project', ...months.flatMap(({ rules }) => rules.map(({ key }) => key))])
  keys.delete('')
  const by: Dimension[] = [...[...keys].map((key): Dimension => `tag:${key}`), 'provider', 'model']
  const currencies = [...new Set(months.map(({ currency }) => currency))]
  const sums = async (period: Period, step?: 'month') => {
    const [first, last] = [period.from.getTime(), period.to.getTime() - 1].map(utcDay) as [string, string]
    const days = currencies.flatMap(currency => ratesSince(exchange, currency, first).map(({ from }) => from))
    const rateDays = [...new Set(days)].filter(day => day > first && day <= last).sort()
    const rows = await sumUsage(tx, orgId, { period, by, rateDays, renames: NO_RENAMES, ...(step ? { step } : {}) })
    return rows.map(({ rateDay, ...row }) => ({ start: row.day, row: { ...row, day: rateDay ?? first } }))
  }
  const rows = new Map<string, DatedRow[]>(months.map(({ month }) => [month, []]))
  const isWhole = await wholeMonths(tx, zone, months)
  const run = months.filter(({ month }) => isWhole.has(month))
  if (run.length > 0) {
    const [first, last] = [run[0]!.month, run.at(-1)!.month]
    const period = await readPeriod(tx, zone, { from: `${first}-01`, to: `${nextMonth(last)}-01` })
    for (const { start, row } of await sums(period, 'month')) {
      const month = start!.slice(0, 7)
      if (isWhole.has(month)) rows.get(month)!.push(row)
    }
  }
  for (const { month, start, end } of months.filter(one => !isWhole.has(one.month))) {
    const found = await sums(await periodBetween(tx, zone, { from: start, to: end }))
    rows.set(
      month,
      found.map(({ row }) => row),
    )
  }
  for (const { month, settled, start } of months) {
    const map = renames(settled ? month : undefined)
    const first = utcDay(start.getTime())
    rows.set(
      month,
      rows.get(month)!.map(row => ({
        ...row,
        // the rate of an earlier day that still holds is named by the month's own first day
        day: [first, row.day].sort()[1]!,
        tags: renamedTags(map, row.tags),
      })),
    )
  }
  return rows
}

/** Of what is closed: when the first statement of a month was. */
const firstClosings = new WeakMap<object, Map<string, Date>>()

/**
 * What values of tags are read as in a month that was settled: as when its first statement was closed, so that a rename moves
 * nothing from one closed statement to another's adjustments. Undefined: by the rules in force.
 */
export async function renamesOfMonths(
  tx: Tx,
  orgId: string,
  closed: ReadonlyMap<string, readonly { month: string; closedAt: Date }[]>,
): Promise<(month: string | undefined) => RenameMap> {
  const now = await renamesInForce(tx, orgId)
  const first = firstClosings.get(closed) ?? new Map<string, Date>()
  if (!firstClosings.has(closed))
    for (const heads of closed.values())
      for (const { month, closedAt } of heads)
        if (!first.has(month) || closedAt < first.get(month)!) first.set(month, closedAt)
  firstClosings.set(closed, first)
  const maps = await renamesAt(tx, orgId, [...first.values()])
  return month => (month === undefined ? now : (maps.get(first.get(month)?.getTime() ?? 0) ?? now))
}

/** Months whose ends are those of the zone's own months. */
export async function wholeMonths(tx: Tx, zone: string, months: readonly BookMonth[]): Promise<ReadonlySet<string>> {
  const found = await tx.$queryRaw<{ month: string }[]>`
    select m.month from jsonb_to_recordset(${JSON.stringify(months.map(({ month, start, end }) => ({ month, start, end })))}::jsonb)
      as m(month text, start timestamptz, "end" timestamptz)
    where m.start = (m.month || '-01')::timestamp at time zone ${zone}
      and m."end" = ((m.month || '-01')::timestamp + interval '1 month') at time zone ${zone}`
  return new Set(found.map(({ month }) => month))
}
