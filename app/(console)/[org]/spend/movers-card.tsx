import { ArrowDownRight, ArrowUpRight } from 'lucide-react'
import { Card } from '#app/_ui/card.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import type { Basis } from '#core/budget/budget.ts'
import { topMovers } from '#core/spend/group.ts'
import { moneyText } from '#core/spend/round.ts'
import { dimensionName, noneName, type SpendAsked } from './asked.ts'
import { figureOfShown, groupingOf, type Report, roundColumn } from './figures.ts'

const MOST = 5

type Props = { asked: SpendAsked; before: Report; after: Report; beforeWords: string }

/** What changed most against the period before, in either direction. */
export function MoversCard({ asked, before, after, beforeWords }: Props) {
  const labels = new Map([...before.rows, ...after.rows].map(({ value, label }) => [value ?? undefined, label]))
  const { currency } = after
  const movers = topMovers(groupingOf(before), groupingOf(after), asked.basis, MOST)
  // As the table above shows them, whose column was rounded so that it adds up.
  const [was, is] = [shownOf(before, asked.basis), shownOf(after, asked.basis)]
  return (
    <Card title="Moved most" sub={`against ${beforeWords}`}>
      <Table
        caption={`What moved most by ${dimensionName(asked.by).toLowerCase()}, against ${beforeWords}`}
        rows={movers}
        rowKey={({ value }) => (value === undefined ? 'none' : `v:${value}`)}
        empty={<p className="px-4 py-3 text-ink-2">Nothing moved: there is no spend in either period.</p>}
        columns={[
          {
            key: 'name',
            head: dimensionName(asked.by),
            cell: ({ value }) => (
              <Name inTable className={value === undefined ? 'text-ink-2' : 'font-medium'}>
                {labels.get(value) ?? value ?? noneName(asked.by)}
              </Name>
            ),
          },
          {
            key: 'before',
            head: 'Before',
            numeric: true,
            nowrap: true,
            cell: ({ value }) => moneyText(was(value), { currency }),
          },
          {
            key: 'after',
            head: 'Now',
            numeric: true,
            nowrap: true,
            cell: ({ value }) => moneyText(is(value), { currency }),
          },
          {
            key: 'change',
            head: 'Change',
            numeric: true,
            nowrap: true,
            cell: ({ value }) => <Change amount={is(value) - was(value)} currency={currency} />,
          },
        ]}
      />
    </Card>
  )
}

function shownOf(report: Report, basis: Basis): (value: string | undefined) => bigint {
  const { parts } = roundColumn(
    report.rows.map(({ total }) => figureOfShown(total, basis).amount),
    report.currency,
  )
  const shown = new Map(report.rows.map(({ value }, i) => [value ?? undefined, parts[i]!]))
  return value => shown.get(value) ?? 0n
}

/** More or less, by sign, arrow and word: never by colour, for more is not worse. */
function Change({ amount, currency }: { amount: bigint; currency: string }) {
  const Arrow = amount > 0n ? ArrowUpRight : ArrowDownRight
  return (
    <span className="inline-flex items-center gap-1">
      <Arrow aria-hidden className="size-3.5 text-ink-3" />
      {amount > 0n ? '+' : ''}
      {moneyText(amount, { currency })}
    </span>
  )
}
