import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { columnText } from '#core/spend/round.ts'
import { picoOf, type SpreadParts } from '../words.ts'

/** A difference by who takes which part of it; the column adds up to it. */
export function SpreadTable({ spread: { parts, left }, currency }: { spread: SpreadParts; currency: string }) {
  const taken = columnText([...parts.map(({ amount }) => picoOf(amount)), picoOf(left)], { currency })
  const rows = [...parts.map(({ tenant }) => tenant), '']
  return (
    <Table
      caption="Who takes which part of the difference"
      rows={rows.map((tenant, at) => ({ tenant, at }))}
      rowKey={({ tenant }) => tenant}
      columns={[
        {
          key: 'tenant',
          head: 'Tenant',
          cell: ({ tenant }) =>
            tenant === '' ? (
              <span className="text-ink-2">stays with the organisation</span>
            ) : (
              <Name inTable>{tenant}</Name>
            ),
        },
        {
          key: 'amount',
          head: 'Takes',
          numeric: true,
          nowrap: true,
          cell: ({ at }) => taken.cells[at]!.replace('-', '−'),
        },
      ]}
      total={{ tenant: 'The difference', amount: taken.total.replace('-', '−') }}
    />
  )
}
