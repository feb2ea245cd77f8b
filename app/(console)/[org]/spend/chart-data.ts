/** What the stacked chart draws and its table says: both from the same sums. Money in 10^-12 of the report's currency. */
import type { Basis } from '#core/budget/budget.ts'
import type { Figure } from '#core/spend/group.ts'
import { figureOfShown, type Report, roundColumn, roundInto } from './figures.ts'
import type { SeriesLook } from './series-look.tsx'

/** One band of the stack: exact parts by step for lengths, rounded ones for words. */
export type Series = { key: string; name: string; look: SeriesLook; exact: bigint[]; shown: bigint[]; total: bigint }
export type ChartData = {
  currency: string
  starts: string[]
  series: Series[]
  /** Beside the stack and in no total of it: at most so much without a price, and of unknown cover. */
  atMost: bigint[]
  unknown: bigint[]
  /** The table's last column: what its row shows, added up. */
  rowTotals: bigint[]
  total: bigint
  places: number
}

/** Bands with a colour of their own; the dearest ones. */
const OWN_BANDS = 4

/** @param none what has no value is called */
export function chartData(report: Report, basis: Basis, starts: readonly string[], none: string): ChartData {
  const named = report.rows.filter(({ value }) => value !== null)
  // One more than there are colours would be "1 other": it is named instead.
  const own = named.length === OWN_BANDS + 1 ? named.length : Math.min(named.length, OWN_BANDS)
  const seriesAt = new Map<string | null, number>()
  const names: Pick<Series, 'key' | 'name' | 'look'>[] = []
  named.forEach(({ value, label }, i) => {
    seriesAt.set(value, Math.min(i, own))
    if (i < own)
      names.push({ key: `v:${value}`, name: label ?? value!, look: i < OWN_BANDS ? ((i + 1) as SeriesLook) : 'others' })
    else if (i === own) names.push({ key: 'others', name: `${named.length - own} others`, look: 'others' })
  })
  if (report.rows.some(({ value }) => value === null)) {
    seriesAt.set(null, names.length)
    names.push({ key: 'none', name: none, look: 'none' })
  }
  const at = new Map(starts.map((start, i) => [start, i]))
  const exact = names.map(() => starts.map(() => 0n))
  const [atMost, unknown] = [starts.map(() => 0n), starts.map(() => 0n)]
  for (const { start, values } of report.steps) {
    const i = at.get(start)
    if (i === undefined) continue
    for (const { value, total } of values) {
      const figure = figureOfShown(total, basis)
      exact[seriesAt.get(value)!]![i]! += figure.amount
      atMost[i]! += figure.atMost
      unknown[i]! += figure.unknown + figure.unknownAtMost
    }
  }
  const figures: Figure[] = report.rows.map(row => figureOfShown(row.total, basis))
  const column = roundColumn(
    figures.map(({ amount }) => amount),
    report.currency,
  )
  const totals = names.map(() => 0n)
  report.rows.forEach(({ value }, i) => {
    totals[seriesAt.get(value)!]! += column.parts[i]!
  })
  const series = names.map(
    (name, i): Series => ({
      ...name,
      exact: exact[i]!,
      shown: roundInto(exact[i]!, totals[i]!, column.places),
      total: totals[i]!,
    }),
  )
  return {
    currency: report.currency,
    starts: [...starts],
    series,
    atMost,
    unknown,
    rowTotals: starts.map((_, i) => series.reduce((sum, one) => sum + one.shown[i]!, 0n)),
    total: column.total,
    places: column.places,
  }
}
