import Link from 'next/link'
import { formatCount, formatPercent, NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { ProgressBar } from '#app/_ui/progress-bar.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { moneyText } from '#core/spend/round.ts'
import { askedPath, dimensionName, drillInto, noneName, type SpendAsked } from './asked.ts'
import { type Column as Amounts, figureOfShown, type Report, roundColumn, shareTenths } from './figures.ts'

type Row = { value: string | null; name: string; calls: number; at: number }

/** Stands for people, and their machines, whose own figures the reader may not see. */
const WITHHELD = 'withheld'

type Props = { base: string; asked: SpendAsked; today: string; report: Report }

/** Spend by one key. What is unpriced, and what nobody knows to be billed, are columns of their own and in no other one. */
export function SpendTable({ base, asked, today, report }: Props) {
  const figures = report.rows.map(({ total }) => figureOfShown(total, asked.basis))
  const { currency } = report
  const amounts = roundColumn(
    figures.map(({ amount }) => amount),
    currency,
  )
  const shares = shareTenths(figures.map(({ amount }) => (amount < 0n ? 0n : amount)))
  const most = Math.max(1, ...shares)
  const beside = [
    { key: 'atMost', head: 'Unpriced, at most', parts: figures.map(({ atMost }) => atMost) },
    { key: 'unknown', head: 'Cover unknown', parts: figures.map(({ unknown }) => unknown) },
    { key: 'unknownAtMost', head: 'Cover unknown, unpriced, at most', parts: figures.map(one => one.unknownAtMost) },
  ]
    .filter(({ parts }) => parts.some(part => part !== 0n))
    .map(({ key, head, parts }) => ({ key, head, parts, column: roundColumn(parts, currency) }))
  const rows = report.rows.map(
    ({ value, label, total }, at): Row => ({ value, name: label ?? noneName(asked.by), calls: total.calls, at }),
  )
  const money = ({ parts, places }: Amounts, exact: readonly bigint[], at: number) =>
    exact[at] === 0n ? NONE : moneyText(parts[at]!, { currency, places, exact: exact[at]! })
  const exactAmounts = figures.map(({ amount }) => amount)
  const columns: Column<Row>[] = [
    {
      key: 'name',
      head: dimensionName(asked.by),
      cell: row => <RowName row={row} href={askedPath(base, drillInto(asked, row.value), today)} />,
    },
    {
      key: 'bar',
      head: 'Share as a bar',
      hideHead: true,
      wideOnly: true,
      className: 'w-1/4',
      cell: row => (
        <ProgressBar
          label={`${row.name}, share of the spend`}
          fraction={shares[row.at]! / most}
          valueText={formatPercent(shares[row.at]! / 1000)}
        />
      ),
    },
    { key: 'calls', head: 'Calls', numeric: true, cell: row => formatCount(row.calls) },
    {
      key: 'amount',
      head: asked.basis === 'billed' ? 'Billed' : 'Spend',
      numeric: true,
      nowrap: true,
      cell: row => <span className="font-medium">{money(amounts, exactAmounts, row.at)}</span>,
    },
    { key: 'share', head: 'Share', numeric: true, nowrap: true, cell: row => formatPercent(shares[row.at]! / 1000) },
    ...beside.map(({ key, head, parts, column }) => ({
      key,
      head,
      numeric: true,
      nowrap: true,
      cell: (row: Row) => <span className="text-ink-2">{money(column, parts, row.at)}</span>,
    })),
  ]
  return (
    <Table
      caption={`Spend by ${dimensionName(asked.by).toLowerCase()}`}
      columns={columns}
      rows={rows}
      rowKey={({ value }) => (value === null ? 'none' : `v:${value}`)}
      total={{
        name: 'Total',
        bar: null,
        calls: formatCount(report.total.calls),
        amount: moneyText(amounts.total, { currency, places: amounts.places }),
        share: amounts.total > 0n ? formatPercent(1) : NONE,
        ...Object.fromEntries(
          beside.map(({ key, column }) => [key, moneyText(column.total, { currency, places: column.places })]),
        ),
      }}
    />
  )
}

function RowName({ row: { value, name, calls }, href }: { row: Row; href: string }) {
  if (value === WITHHELD || calls === 0) return <span className="text-ink-2">{name}</span>
  return (
    <Link href={href} className={value === null ? 'text-ink-2 hover:underline' : 'font-medium hover:underline'}>
      <Name inTable>{name}</Name>
    </Link>
  )
}
