import type { inferRouterOutputs } from '@trpc/server'
import type { ReactNode } from 'react'
import { NONE } from '#app/_ui/format.ts'
import { Table } from '#app/_ui/table.tsx'
import { parseDecimal } from '#core/decimal.ts'
import { minorPlaces, minorUnit } from '#core/spend/exchange.ts'
import { columnText } from '#core/spend/round.ts'
import type { AppRouter } from '#server/api/root.ts'
import { TenantName } from '../tenant-name.tsx'
import { exactMoney, isNothing } from './words.ts'

type Preview = inferRouterOutputs<AppRouter>['statement']['previewAllocation']

type Props = {
  preview: Preview
  isProportional: boolean
  /** What to press where there is nothing to go by in proportion. */
  remedy: ReactNode
}

/** What each tenant would take of a month by a rule, and what would stay; the column adds up to what is shared. */
export function AllocationPreview({ preview, isProportional, remedy }: Props) {
  const { parts, left, amount, atMost, currency } = preview
  const stays = parseDecimal(left) ?? 0n
  const isSpread = parts.some(({ part }) => !isNothing(part))
  // Parts are whole cents, as they stand on statements; what is less than one is no row, unless there is nothing else.
  const hasRest = isSpread && (stays < 0n ? -stays : stays) < minorUnit(currency)
  const taken = columnText([...parts.map(({ part }) => parseDecimal(part) ?? 0n), ...(hasRest ? [] : [stays])], {
    currency,
    ...(isSpread ? { places: minorPlaces(currency) } : {}),
  })
  const own = columnText(
    parts.map(one => parseDecimal(one.own) ?? 0n),
    { currency },
  )
  const rows = [
    ...parts.map(({ tenant, name }) => ({ key: tenant, name })),
    ...(hasRest ? [] : [{ key: '', name: 'stays with the organisation' }]),
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
              row.key === '' ? (
                <span className="text-ink-2">{row.name}</span>
              ) : (
                <TenantName name={row.name} tenantKey={row.key} />
              ),
          },
          { key: 'own', head: 'Own spend', numeric: true, cell: (row, at) => (row.key === '' ? NONE : own.cells[at]) },
          { key: 'part', head: 'Would take', numeric: true, cell: (_, at) => taken.cells[at] },
        ]}
        total={{ name: 'What is shared', part: taken.total }}
      />
      {isProportional && stays !== 0n && parts.length > 0 && parts.every(({ own }) => isNothing(own)) && (
        <div className="grid justify-items-start gap-2 border-t px-4 py-3 text-ink-2 text-sm">
          <p>
            No tenant has spend of its own that statements count, so there is nothing to go by.
            {remedy && (
              <>
                {' '}
                Say what covers usage, for all machines, with <code>covered:</code> in the rule set, or go by list
                prices.
              </>
            )}
          </p>
          {remedy}
        </div>
      )}
      {!isNothing(atMost) && (
        <p className="border-t px-4 py-2 text-ink-2 text-sm">
          Beside it at most {exactMoney(atMost, currency)} of models without a price, spread in the same way.
        </p>
      )}
    </>
  )
}
