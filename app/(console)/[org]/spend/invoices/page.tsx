import { FileText, Lock } from 'lucide-react'
import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pager } from '#app/_ui/pager.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { monthWords } from '#core/day.ts'
import { may, seesEverybody } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { CsvLink } from '../../csv-link.tsx'
import { titled } from '../../page-title.ts'
import { SpendTabs } from '../spend-tabs.tsx'
import { ImportInvoice } from './import-invoice.tsx'
import { type InvoiceRow, invoiceMonths, money, picoOf, providerName, shareWords, signedMoney } from './words.ts'

export const generateMetadata = titled('Invoices')

type Props = { params: Promise<{ org: string }>; searchParams: Promise<{ from?: string | string[] }> }

export default async function InvoicesPage({ params, searchParams }: Props) {
  const { org } = await params
  const asked = (await searchParams).from
  const [, month, provider] = /^(\d{4}-\d{2})\.([a-z0-9-]{1,64})$/.exec(String(asked)) ?? []
  const from = month !== undefined && provider !== undefined ? { month, provider } : undefined
  const actor = await requireActor(org)
  const maySee = seesEverybody(actor)
  const { items: rows, next } = maySee
    ? await (await api()).invoice.list({ org, ...(from ? { from } : {}) })
    : { items: [], next: undefined }
  const base = `/${org}/spend/invoices`
  const months = invoiceMonths(new Date().toISOString())
  const add = may(actor, 'invoice.change') && <ImportInvoice org={org} months={months} />
  return (
    <>
      <PageHeader
        title="Invoices"
        sub="What providers ask for, beside what machines reported. A difference can be spread over tenants, as a line of its own on their statements."
        actions={
          <>
            {(rows.length > 0 || from) && <CsvLink org={org} list="invoices" />}
            {(rows.length > 0 || from) && add}
          </>
        }
      />
      <SpendTabs org={org} current="invoices" />
      <Card>
        {maySee ? (
          <Table
            caption="Invoices"
            rows={rows}
            rowKey={({ id }) => id}
            columns={columnsOf(org)}
            empty={
              from ? (
                <EmptyState headingLevel={2} icon={<FileText aria-hidden />} title="Nothing older">
                  These were all.
                </EmptyState>
              ) : (
                <EmptyState
                  headingLevel={2}
                  icon={<FileText aria-hidden />}
                  title="No invoice is here yet"
                  action={add || undefined}
                >
                  Import Anthropic’s or OpenAI’s cost report, a CSV, or type an amount in. Each is compared by day and
                  model with what machines reported; nothing is sent anywhere.
                </EmptyState>
              )
            }
          />
        ) : (
          <EmptyState headingLevel={2} icon={<Lock aria-hidden />} title="Invoices are not shown to you">
            Owners, admins and auditors see what providers ask for. What machines reported is under Chargeback.
          </EmptyState>
        )}
      </Card>
      {(next || from) && (
        <Pager
          label="Pages of invoices"
          previousHref={from ? base : undefined}
          nextHref={next ? `${base}?from=${next.month}.${next.provider}` : undefined}
        />
      )}
    </>
  )
}

const columnsOf = (org: string) => [
  {
    key: 'month',
    head: 'Invoice',
    cell: ({ id, month, provider, number }: InvoiceRow) => (
      <div className="min-w-0">
        <Link href={`/${org}/spend/invoices/${id}`} className="font-medium hover:underline">
          {providerName(provider)}, {monthWords(month)}
        </Link>
        {number && (
          <div className="font-normal text-ink-3 text-xs">
            <Name inTable className="max-w-40">
              {number}
            </Name>
          </div>
        )}
      </div>
    ),
  },
  {
    key: 'theirs',
    head: 'Asked for',
    numeric: true,
    nowrap: true,
    cell: ({ total, currency }: InvoiceRow) => money(total, currency),
  },
  {
    key: 'ours',
    head: 'Reported',
    numeric: true,
    nowrap: true,
    cell: ({ sides, currency }: InvoiceRow) => (sides ? money(sides.ours, currency) : NONE),
  },
  {
    key: 'difference',
    head: 'Difference',
    numeric: true,
    nowrap: true,
    cell: ({ sides, currency, problem }: InvoiceRow) =>
      sides ? (
        <>
          <div className="font-medium">{signedMoney(picoOf(sides.difference), currency)}</div>
          <div className="text-ink-3 text-xs">{shareWords(sides.difference, sides.theirs)}</div>
        </>
      ) : (
        <span title={problem}>cannot be compared</span>
      ),
  },
  {
    key: 'spread',
    head: 'Spread',
    nowrap: true,
    cell: ({ isSpread, rule }: InvoiceRow) =>
      isSpread ? (
        <Pill state="passed">{rule.replace(/ \(.*/, '')}</Pill>
      ) : (
        <span className="text-ink-2">not spread</span>
      ),
  },
  {
    key: 'at',
    head: 'Imported',
    wideOnly: true,
    nowrap: true,
    cell: ({ importedAt, importedBy }: InvoiceRow) => (
      <div className="text-ink-2 text-sm">
        <Time at={importedAt} show="day" />
        <div className="text-ink-3 text-xs">
          <Name inTable className="max-w-36">
            {importedBy}
          </Name>
        </div>
      </div>
    ),
  },
]
