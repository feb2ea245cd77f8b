import { Disclosure } from '#app/_ui/disclosure.tsx'
import { NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { moneyText } from '#core/spend/round.ts'
import type { ChartData } from './chart-data.ts'
import { type ChartStep, startWords } from './period.ts'

const STEP_NAMES: Record<ChartStep, string> = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' }

/** The chart's figures: columns add up to the totals of the page, rows to their own. Steps without spend are left out. */
export function ChartTable({ data, step, caption }: { data: ChartData; step: ChartStep; caption: string }) {
  const { currency, series, starts, rowTotals, total, places } = data
  const money = (shown: bigint, exact: bigint) => (exact === 0n ? NONE : moneyText(shown, { currency, places, exact }))
  const extras = [
    { key: 'atMost', name: 'Unpriced, at most', parts: data.atMost },
    { key: 'unknown', name: 'Cover unknown', parts: data.unknown },
  ]
    .map(extra => ({ ...extra, sum: extra.parts.reduce((a, b) => a + b, 0n) }))
    .filter(({ sum }) => sum > 0n)
  const rows = starts
    .map((start, i) => ({ start, i }))
    .filter(({ i }) => series.some(one => one.exact[i] !== 0n) || data.atMost[i] !== 0n || data.unknown[i] !== 0n)
  const columns: Column<{ start: string; i: number }>[] = [
    { key: 'start', head: STEP_NAMES[step], nowrap: true, cell: ({ start }) => startWords(start, step) },
    ...series.map(({ key, name, shown, exact }) => ({
      key,
      head: <Name className="max-w-36">{name}</Name>,
      numeric: true,
      nowrap: true,
      cell: ({ i }: { i: number }) => money(shown[i]!, exact[i]!),
    })),
    {
      key: 'total',
      head: 'Total',
      numeric: true,
      nowrap: true,
      cell: ({ i }) => moneyText(rowTotals[i]!, { currency, places }),
    },
    ...extras.map(({ key, name, parts }) => ({
      key,
      head: name,
      numeric: true,
      nowrap: true,
      cell: ({ i }: { i: number }) => (parts[i] === 0n ? NONE : moneyText(parts[i]!, { currency })),
    })),
  ]
  return (
    <Disclosure summary="The same as a table" className="border-t">
      <Table
        caption={caption}
        columns={columns}
        rows={rows}
        rowKey={({ start }) => start}
        total={{
          start: 'Total',
          ...Object.fromEntries(series.map(({ key, total: sum }) => [key, moneyText(sum, { currency, places })])),
          total: moneyText(total, { currency, places }),
          ...Object.fromEntries(extras.map(({ key, sum }) => [key, moneyText(sum, { currency })])),
        }}
      />
    </Disclosure>
  )
}
