import { ArrowDownRight, ArrowUpRight } from 'lucide-react'
import { Card } from '#app/_ui/card.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { topMovers } from '#core/spend/group.ts'
import { moneyText } from '#core/spend/round.ts'
import { dimensionName, noneName, type SpendAsked } from './asked.ts'
import { groupingOf, type Report } from './figures.ts'

const MOST = 5

type Props = { asked: SpendAsked; before: Report; after: Report; beforeWords: string }

/** What changed most against the period before, in either direction. */
export function MoversCard({ asked, before, after, beforeWords }: Props) {
  const labels = new Map([...before.rows, ...after.rows].map(({ value, label }) => [value ?? undefined, label]))
  const movers = topMovers(groupingOf(before), groupingOf(after), asked.basis, MOST)
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
          { key: 'before', head: 'Before', numeric: true, nowrap: true, cell: ({ before: x }) => moneyText(x) },
          { key: 'after', head: 'Now', numeric: true, nowrap: true, cell: ({ after: y }) => moneyText(y) },
          {
            key: 'change',
            head: 'Change',
            numeric: true,
            nowrap: true,
            cell: ({ before: x, after: y }) => <Change amount={y - x} />,
          },
        ]}
      />
    </Card>
  )
}

/** More or less, by sign, arrow and word: never by colour, for more is not worse. */
function Change({ amount }: { amount: bigint }) {
  const Arrow = amount > 0n ? ArrowUpRight : ArrowDownRight
  return (
    <span className="inline-flex items-center gap-1">
      <Arrow aria-hidden className="size-3.5 text-ink-3" />
      {amount > 0n ? '+' : ''}
      {moneyText(amount)}
    </span>
  )
}
