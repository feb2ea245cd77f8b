import type { inferRouterOutputs } from '@trpc/server'
import { NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { parseDecimal } from '#core/decimal.ts'
import { columnText } from '#core/spend/round.ts'
import type { AppRouter } from '#server/api/root.ts'
import { exactMoney, isNothing } from './words.ts'

type Preview = inferRouterOutputs<AppRouter>['statement']['previewAllocation']

/** What each tenant would take of a month by a rule, and what would stay; the column adds up to what is shared. */
export function AllocationPreview({ preview: { parts, left, amount, atMost, currency } }: { preview: Preview }) {
  const taken = columnText([...parts.map(({ part }) => parseDecimal(part) ?? 0n), parseDecimal(left) ?? 0n], {
    currency,
  })
  const own = columnText(
    parts.map(one => parseDecimal(one.own) ?? 0n),
    { currency },
  )
  const rows = [
    ...parts.map(({ tenant, name }) => ({ key: tenant, name })),
    { key: '', name: 'stays with the organisation' },
  ]
  if (isNothing(amount) && isNothing(atMost))
    return <p className="px-4 py-3 text-ink-2">Nothing of that month would be shared.</p>
  return (
    <>
      <Table
        caption="What each tenant would take"
        stack={false}
        rows={rows}
        rowKey={row => row.key}
        columns={[
          {
            key: 'name',
            head: 'Tenant',
            cell: row =>
              row.key === '' ? <span className="text-ink-2">{row.name}</span> : <Name inTable>{row.name}</Name>,
          },
          { key: 'own', head: 'Own spend', numeric: true, cell: (row, at) => (row.key === '' ? NONE : own.cells[at]) },
          { key: 'part', head: 'Would take', numeric: true, cell: (_, at) => taken.cells[at] },
        ]}
        total={{ name: 'What is shared', part: taken.total }}
      />
      {!isNothing(atMost) && (
        <p className="border-t px-4 py-2 text-ink-2 text-sm">
          Beside it at most {exactMoney(atMost, currency)} of models without a price, spread in the same way.
        </p>
      )}
    </>
  )
}
