/** Reports as figures of one basis, and as texts that add up down every column. Money in 10^-12 of the report's currency. */
import type { inferRouterOutputs } from '@trpc/server'
import type { Basis } from '#core/budget/budget.ts'
import { MONEY_PLACES, parseDecimal } from '#core/decimal.ts'
import { shareOut } from '#core/spend/exchange.ts'
import { type Figure, figureOf, type Grouping, parseDimension } from '#core/spend/group.ts'
import { placesFor, roundParts } from '#core/spend/round.ts'
import { type ByCover, COVERED, type UsageTotal } from '#core/usage/bucket.ts'
import type { AppRouter } from '#server/api/root.ts'

export type Report = inferRouterOutputs<AppRouter>['spend']['report']
export type TotalShown = Report['total']

const coverOf = (amounts: TotalShown['priced']): ByCover =>
  Object.fromEntries(COVERED.map(covered => [covered, parseDecimal(amounts[covered]) ?? 0n])) as ByCover

/** A total with its money as whole numbers again. */
export const readTotal = ({ priced, bound, ...rest }: TotalShown): UsageTotal => ({
  ...rest,
  priced: coverOf(priced),
  bound: coverOf(bound),
})

export const figureOfShown = (total: TotalShown, basis: Basis): Figure => figureOf(readTotal(total), basis)

/** A report as a grouping, for what core reckons of two of them. */
export const groupingOf = (report: Report): Grouping => ({
  dimension: parseDimension(report.by)!,
  groups: report.rows.map(({ value, total }) => ({ value: value ?? undefined, total: readTotal(total) })),
  total: readTotal(report.total),
})

const unitOf = (places: number): bigint => 10n ** BigInt(MONEY_PLACES - places)

/**
 * Parts rounded so that they add up to a total that is already rounded: each down or up, the largest remainders first; zero stays
 * zero. A total further off than that, being itself a sum of rounded ones, is made good by further units in the same order.
 */
export function roundInto(parts: readonly bigint[], target: bigint, places: number): bigint[] {
  const unit = unitOf(places)
  const down = parts.map(part => part - (((part % unit) + unit) % unit))
  let left = target - down.reduce((sum, part) => sum + part, 0n)
  const order = parts
    .map((part, i) => ({ i, rest: part - down[i]! }))
    .filter(({ i }) => parts[i] !== 0n)
    .sort((a, b) => (a.rest === b.rest ? a.i - b.i : a.rest > b.rest ? -1 : 1))
    .map(({ i }) => i)
  if (left < 0n) order.reverse()
  const change = left < 0n ? -unit : unit
  for (let at = 0; left !== 0n && order.length > 0; at++) {
    down[order[at % order.length]!]! += change
    left -= change
  }
  return down
}

/** Rounded values of a column and its total, of one number of places. */
export type Column = { parts: bigint[]; total: bigint; places: number }

export function roundColumn(parts: readonly bigint[], currency: string): Column {
  const places = placesFor(
    parts.reduce((a, b) => a + b, 0n),
    currency,
  )
  return { ...roundParts(parts, places), places }
}

/** What one value comes to as the page's table shows it, whose column was rounded so that it adds up; undefined: no such row. */
export function shownAmount(report: Report, value: string | null): { amount: bigint; places: number } | undefined {
  const at = report.rows.findIndex(row => row.value === value)
  const column = roundColumn(
    report.rows.map(({ total }) => figureOfShown(total, report.basis).amount),
    report.currency,
  )
  return at < 0 ? undefined : { amount: column.parts[at]!, places: column.places }
}

/** Shares of a total in tenths of a percent, adding up to all of it; all nought of nothing. */
export function shareTenths(parts: readonly bigint[]): number[] {
  const sum = parts.reduce((a, b) => a + b, 0n)
  if (sum <= 0n) return parts.map(() => 0)
  return shareOut(
    parts.map(part => part * 1000n),
    sum,
  ).parts.map(Number)
}

/** Whether amounts of two reports may stand side by side: of one currency, or of nothing at all in the earlier one. */
export const isComparable = (earlier: Report, report: Report): boolean =>
  earlier.currency === report.currency || earlier.total.calls === 0

/** For lengths and angles only: never shown, never added to. */
export const roughly = (pico: bigint): number => Number(pico / 1_000_000n) / 1_000_000

/** A report with its rows by what they come to in its basis, the dearest first; what has no value is last. */
export function byAmount(report: Report): Report {
  const figures = new Map(report.rows.map(row => [row, figureOfShown(row.total, report.basis)]))
  const rows = [...report.rows].sort((a, b) => {
    if (a.value === null || b.value === null) return a.value === b.value ? 0 : a.value === null ? 1 : -1
    const [x, y] = [figures.get(a)!, figures.get(b)!]
    return (
      Number(y.amount > x.amount) - Number(y.amount < x.amount) ||
      Number(y.atMost > x.atMost) - Number(y.atMost < x.atMost)
    )
  })
  return { ...report, rows }
}
