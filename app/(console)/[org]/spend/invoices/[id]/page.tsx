import Link from 'next/link'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Disclosure } from '#app/_ui/disclosure.tsx'
import { formatPlural, NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { StatTile, StatTiles } from '#app/_ui/stat-tile.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { monthWords } from '#core/day.ts'
import { may } from '#core/permission.ts'
import type { Provider } from '#core/pricing.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode } from '../../../app-error.ts'
import { BackLink } from '../../../back-link.tsx'
import { CsvLink } from '../../../csv-link.tsx'
import { titled } from '../../../page-title.ts'
import { startWords } from '../../period.ts'
import { ImportInvoice } from '../import-invoice.tsx'
import {
  type InvoiceDetail,
  isNothing,
  money,
  picoOf,
  providerName,
  SOURCE_WORDS,
  shareWords,
  signedMoney,
} from '../words.ts'
import { DayChart } from './day-chart.tsx'
import { RemoveInvoice } from './remove-invoice.tsx'
import { SidesTable } from './sides-table.tsx'
import { SpreadCard } from './spread-card.tsx'

type Params = { org: string; id: string }

const load = cache(async (org: string, id: string): Promise<InvoiceDetail> => {
  try {
    return await (await api()).invoice.get({ org, id: id.slice(0, 64) })
  } catch (error) {
    if (errorCode(error) === 'NOT_FOUND' || errorCode(error) === 'FORBIDDEN') notFound()
    throw error
  }
})

export const generateMetadata = titled<Params, InvoiceDetail>(
  (_, { provider, month }) => `Invoice of ${providerName(provider)}, ${monthWords(month)}`,
  ({ org, id }) => load(org, id),
)

export default async function InvoicePage({ params }: { params: Promise<Params> }) {
  const { org, id } = await params
  const actor = await requireActor(org)
  const invoice = await load(org, id)
  const { provider, month, number, currency, sides } = invoice
  const mayChange = may(actor, 'invoice.change')
  return (
    <>
      <PageHeader
        above={<BackLink href={`/${org}/spend/invoices`}>Invoices</BackLink>}
        title={`${providerName(provider)}, ${monthWords(month)}`}
        sub={
          <>
            {number ? `Invoice ${number}` : 'An invoice'}, {SOURCE_WORDS[invoice.source]},{' '}
            {formatPlural(invoice.lines, 'line')}, brought in by {invoice.importedBy} on{' '}
            <Time at={invoice.importedAt} show="day" />. Beside it what machines reported of that month, by UTC days.
          </>
        }
        actions={
          <>
            <CsvLink org={org} list="invoice" query={{ id }} />
            {mayChange && (
              <>
                <ImportInvoice
                  org={org}
                  months={[month, month]}
                  replaced={{ id, provider: provider as Provider, month, number, currency }}
                />
                <RemoveInvoice org={org} id={id} isSpread={invoice.rule.kind !== 'none'} />
              </>
            )}
          </>
        }
      />
      {sides ? (
        <Compared org={org} invoice={{ ...invoice, sides }} mayChange={mayChange} />
      ) : (
        <div className="grid gap-4">
          <StatTiles count={1}>
            <StatTile label="Asked for" value={money(invoice.total, currency)} />
          </StatTiles>
          <Banner kind="stale" title="It cannot be compared.">
            {invoice.problem}
          </Banner>
        </div>
      )}
    </>
  )
}

type Sided = InvoiceDetail & { sides: NonNullable<InvoiceDetail['sides']> }

function Compared({ org, invoice, mayChange }: { org: string; invoice: Sided; mayChange: boolean }) {
  const { sides, currency, byDay, byModel, by, rows, unexplained, provider, month } = invoice
  const hasLines = unexplained.lines.length > 0 || !isNothing(unexplained.ours)
  const beside = {
    day: null,
    model: null,
    ours: unexplained.ours,
    theirs: unexplained.theirs,
    difference: unexplained.difference,
  }
  const withBeside = (list: typeof rows) => (hasLines ? [...list, beside] : list)
  return (
    <div className="grid gap-4">
      <StatTiles count={3}>
        <StatTile label="Asked for" value={money(sides.theirs, currency)} note={providerName(provider)} />
        <StatTile label="Reported" value={money(sides.ours, currency)} note="paid for by use, at known prices" />
        <StatTile
          label="Difference"
          value={signedMoney(picoOf(sides.difference), currency)}
          note={shareWords(sides.difference, sides.theirs)}
        />
      </StatTiles>
      {(!isNothing(invoice.unknown) || !isNothing(invoice.bound)) && (
        <Banner kind="note" title="Not in what was reported:">
          {[
            !isNothing(invoice.unknown) &&
              `${money(invoice.unknown, currency)} of usage of which nobody knows whether a plan covers it`,
            !isNothing(invoice.bound) && `at most ${money(invoice.bound, currency)} of models without a price`,
          ]
            .filter(Boolean)
            .join(', and ')}
          . It may be part of the difference.
          {!isNothing(invoice.unknown) && (
            <>
              {' '}
              Say what covers it in{' '}
              <Link className="link" href={`/${org}/boundaries`}>
                the rule set
              </Link>
              , as in <code>covered: {'{ claude-code: metered }'}</code>: machines then send what was used before anew,
              too, and the difference follows.
            </>
          )}
        </Banner>
      )}
      {by.day && (
        <Card title="Each day" sub="UTC">
          <DayChart
            month={month}
            days={byDay}
            currency={currency}
            title={`What was asked for and what was reported, each day of ${monthWords(month)}`}
            description="Two bars for each day. The table beneath holds every figure."
          />
          <Disclosure summary="The same as a table" className="border-t">
            <SidesTable
              caption="Asked for and reported, by day"
              head="Day"
              rows={withBeside(byDay)}
              value={row => row.day && startWords(row.day, 'day')}
              rest={by.model ? 'without a day or model' : 'without a day'}
              currency={currency}
            />
          </Disclosure>
        </Card>
      )}
      {by.model && (
        <Card title="By model">
          <SidesTable
            caption="Asked for and reported, by model"
            head="Model"
            rows={withBeside(byModel)}
            value={row => row.model}
            rest={by.day ? 'without a day or model' : 'without a model'}
            currency={currency}
          />
        </Card>
      )}
      {!by.day && !by.model && (
        <Banner kind="note" title="It tells no days and no models.">
          So it can be compared only as a whole. A cost report, or a CSV with the columns day and model, shows where a
          difference comes from.
        </Banner>
      )}
      {unexplained.lines.length > 0 && (
        <Card title="Lines that say less" sub="without a day, or without a model of ours">
          <Table
            caption="Lines of the invoice that say less"
            rows={unexplained.lines.map((line, at) => ({ ...line, at: String(at) }))}
            rowKey={line => line.at}
            columns={[
              {
                key: 'what',
                head: 'What it is',
                cell: ({ description, model }) => <Name inTable>{description ?? model ?? 'not said'}</Name>,
              },
              {
                key: 'day',
                head: 'Day',
                nowrap: true,
                cell: ({ day }) => (day === null ? NONE : startWords(day, 'day')),
              },
              {
                key: 'amount',
                head: 'Amount',
                numeric: true,
                nowrap: true,
                cell: line => money(line.amount, currency),
              },
            ]}
          />
        </Card>
      )}
      <SpreadCard org={org} invoice={invoice} mayChange={mayChange} />
    </div>
  )
}
