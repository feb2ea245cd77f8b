import type { ReactNode } from 'react'
import { Table } from '#app/_ui/table.tsx'
import { monthWords } from '#core/day.ts'
import { minorPlaces, minorUnit } from '#core/spend/exchange.ts'
import { columnText } from '#core/spend/round.ts'
import { TenantName } from '../../tenant-name.tsx'
import { picoOf, type SpreadParts } from '../words.ts'

type Props = {
  spread: SpreadParts
  /** What the invoice is in. */
  invoiceCurrency: string
  /** What to press where there is nothing to go by in proportion. */
  remedy?: ReactNode
}

/** A difference by who takes which part of it, each just as its statement has it; the column adds up to it. */
export function SpreadTable({ spread, invoiceCurrency, remedy }: Props) {
  const { parts, left, whole, currency, why, before } = spread
  const stays = picoOf(left)
  // Parts are whole cents; what is less than one is no row, unless there is nothing else.
  const hasRest = parts.length > 0 && (stays < 0n ? -stays : stays) < minorUnit(currency)
  const amounts = [...parts.map(({ amount }) => picoOf(amount)), ...(hasRest ? [] : [stays])]
  const taken = columnText(amounts, { currency, ...(parts.length > 0 ? { places: minorPlaces(currency) } : {}) })
  const rows = [...parts.map(({ key, name }) => ({ key, name })), ...(hasRest ? [] : [{ key: '', name: '' }])]
  const notes = [
    before !== null &&
      (before === ''
        ? 'There are no statements of that month: it stands on none.'
        : `Statements begin with ${monthWords(before)}: it stands on none.`),
    currency !== invoiceCurrency &&
      `In ${currency}, which statements are in, at the exchange rate of the month’s last day.`,
  ].filter(note => note !== false)
  return (
    <>
      <Table
        caption="Who takes which part of the difference"
        rows={rows}
        rowKey={({ key }) => key}
        columns={[
          {
            key: 'tenant',
            head: 'Tenant',
            cell: tenant =>
              tenant.key === '' ? (
                <span className="text-ink-2">stays with the organisation</span>
              ) : (
                <TenantName name={tenant.name} tenantKey={tenant.key} />
              ),
          },
          {
            key: 'amount',
            head: 'Takes',
            numeric: true,
            nowrap: true,
            cell: (_, at) => taken.cells[at]!.replace('-', '−'),
          },
        ]}
        total={{ tenant: 'The difference', amount: taken.total.replace('-', '−') }}
      />
      {why === 'no_spend' && picoOf(whole) !== 0n && (
        <div className="grid justify-items-start gap-2 border-t px-4 py-3 text-ink-2 text-sm">
          <p>
            No tenant has use of this provider that is known to be paid for by use, so there is nothing to go by. Say
            what covers usage, for all machines, with <code>covered:</code> in the rule set, or spread it in proportion
            to use at list prices.
          </p>
          {remedy}
        </div>
      )}
      {notes.map(note => (
        <p key={note} className="border-t px-4 py-2 text-ink-2 text-sm">
          {note}
        </p>
      ))}
    </>
  )
}
