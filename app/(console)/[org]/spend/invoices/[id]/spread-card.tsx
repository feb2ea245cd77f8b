import { Card } from '#app/_ui/card.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { type InvoiceDetail, isNothing, ruleWords } from '../words.ts'
import { SpreadDialog } from './spread-dialog.tsx'
import { SpreadTable } from './spread-table.tsx'

type Props = { org: string; invoice: InvoiceDetail; mayChange: boolean }

/** Who bears the difference: what stands on each tenant's statement of the month. */
export function SpreadCard({ org, invoice, mayChange }: Props) {
  const { id, rule, spread, currency, tenants, sides } = invoice
  const isSpread = rule.kind !== 'none'
  const twice = invoice.statementBasis !== 'billed' && Number(invoice.unknown) > 0
  const hasNone = sides !== undefined && isNothing(sides.difference)
  return (
    <Card
      title="Who bears the difference"
      aside={
        <>
          <Pill state={isSpread ? 'passed' : 'neutral'}>{ruleWords[rule.kind]}</Pill>
          {mayChange && (isSpread || !hasNone) && <SpreadDialog {...{ org, id, rule, tenants, currency, twice }} />}
        </>
      }
      note={
        isSpread &&
        (invoice.statementBasis === 'billed'
          ? 'It follows what is reported: usage that comes late makes it smaller. A month that is closed stays as it was billed, and gets an adjustment.'
          : 'Statements are drawn up at list prices, this line is of what is paid for by use: it stands apart on them. A month that is closed gets an adjustment.')
      }
    >
      {isSpread ? (
        spread ? (
          <SpreadTable spread={spread} invoiceCurrency={currency} />
        ) : (
          <p className="px-4 py-3 text-ink-2">It cannot be said now: {invoice.problem}</p>
        )
      ) : (
        <p className="px-4 py-3 text-ink-2">
          {hasNone
            ? 'There is none: what was asked for is what was reported.'
            : 'Nobody yet: it stays with the organisation and stands on no statement.'}
        </p>
      )}
    </Card>
  )
}
