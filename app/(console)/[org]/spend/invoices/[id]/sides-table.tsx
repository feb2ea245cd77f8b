import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { type ComparedRow, sidesColumns } from '../words.ts'

type Props = {
  caption: string
  head: string
  rows: readonly ComparedRow[]
  value: (row: ComparedRow) => string | null
  /** What a row without a value is. */
  rest: string
  currency: string
}

/** Theirs beside ours: columns add up, and so does every row. */
export function SidesTable({ caption, head, rows, value, rest, currency }: Props) {
  const { cells, total } = sidesColumns(rows, currency)
  return (
    <Table
      caption={caption}
      rows={rows.map((row, at) => ({ name: value(row), at }))}
      rowKey={({ at }) => String(at)}
      columns={[
        {
          key: 'name',
          head,
          cell: ({ name }) =>
            name === null ? <span className="text-ink-2">{rest}</span> : <Name inTable>{name}</Name>,
        },
        { key: 'theirs', head: 'Asked for', numeric: true, nowrap: true, cell: ({ at }) => cells[at]!.theirs },
        { key: 'ours', head: 'Reported', numeric: true, nowrap: true, cell: ({ at }) => cells[at]!.ours },
        {
          key: 'difference',
          head: 'Difference',
          numeric: true,
          nowrap: true,
          cell: ({ at }) => <span className="font-medium">{cells[at]!.difference}</span>,
        },
      ]}
      total={{ name: 'Total', theirs: total.theirs, ours: total.ours, difference: total.difference }}
    />
  )
}
