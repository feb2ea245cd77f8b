import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import { formatDateTime, formatList } from '#app/_ui/format.ts'
import { KeyValue, type KeyValueItem } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import { monthWords } from '#core/day.ts'
import { ContactDialog } from '../../contact-dialog.tsx'
import { basisWords, exactMoney, type StatementDetail } from '../../words.ts'
import { ResendButton } from './resend-button.tsx'

type Props = { org: string; month: string; detail: StatementDetail; mayArrange: boolean; mayChange: boolean }

/** What the bill is made by, whom it goes to, and what proves that it is the one that was closed. */
export function FactsCard({ org, month, detail, mayArrange, mayChange }: Props) {
  const { bill, tenant, mails, later, closedBy } = detail
  const { period } = bill
  const [start, end] = [period.start, period.end].map(at => formatDateTime(new Date(at), period.zone))
  const items: KeyValueItem[] = [
    {
      key: 'Tenant',
      value: (
        <>
          {bill.tenantName} <code className="text-ink-2">{tenant.key}</code>
        </>
      ),
    },
    { key: 'Period', value: `${start} to ${end}, ${period.zone}` },
    { key: 'Counts', value: basisWords(bill.basis) },
  ]
  if (bill.exchange.length > 0)
    items.push({
      key: 'Exchange',
      value: formatList(bill.exchange.map(rate => `1 USD is ${rate.perUsd} ${bill.currency} from ${rate.from} on`)),
    })
  items.push({
    key: 'Mailed to',
    value: (
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1">
          {mails.length > 0
            ? mails.map(mail => (
                <span key={mail.number} className="block">
                  {mail.to}, <Time at={mail.queuedAt} />
                </span>
              ))
            : tenant.contact === null
              ? `Nobody: ${bill.tenantName} has no contact${bill.state === 'draft' ? ' yet. It can be closed all the same and mailed later.' : '.'}`
              : bill.state === 'draft'
                ? `${tenant.contact}, when it is closed`
                : `Not yet; the contact is ${tenant.contact}.`}
        </span>
        <span className="flex gap-2 print:hidden">
          {mayChange && (
            <ContactDialog org={org} tenant={tenant} words={tenant.contact === null ? 'Set a contact' : 'Contact'} />
          )}
          {mayArrange && bill.state === 'closed' && tenant.contact !== null && (
            <ResendButton {...{ org, month }} tenant={tenant.key} contact={tenant.contact} again={mails.length > 0} />
          )}
        </span>
      </div>
    ),
  })
  if (bill.state === 'closed') {
    items.push(
      {
        key: 'Closed',
        value: (
          <>
            {closedBy && `${closedBy}, `}
            <Time at={bill.closedAt} />
          </>
        ),
      },
      ...(bill.boundAccepted
        ? [
            {
              key: 'Without a price',
              value: 'an owner accepted the dearest price; a price that is set later comes as an adjustment',
            },
          ]
        : []),
      {
        key: 'Digest',
        value: (
          <span className="flex items-center gap-1">
            <code className="min-w-0 break-all">{bill.digest}</code>
            <span className="print:hidden">
              <CopyButton text={bill.digest} iconOnly label="Copy digest" />
            </span>
          </span>
        ),
      },
      {
        key: 'Evidence',
        value: (
          <>
            entry {bill.evidenceSeq} of the ledger{' '}
            <Link className="link print:hidden" href={`/${org}/audit?kind=statement.closed`}>
              show
            </Link>
          </>
        ),
      },
    )
    for (const one of later)
      items.push({
        key: `later ${one.month}`,
        label: 'Since it was closed',
        value: (
          <Link className="link" href={`/${org}/spend/statements/${one.month}/${encodeURIComponent(tenant.key)}`}>
            {exactMoney(one.amount, bill.currency)} on {one.state === 'closed' ? 'the statement' : 'the draft'} of{' '}
            {monthWords(one.month)}
          </Link>
        ),
      })
  }
  return (
    <Card
      title={bill.state === 'closed' ? 'What was closed' : 'About this draft'}
      note={
        bill.state === 'closed' &&
        'Lines, figures and names above are the frozen bytes that the digest is of. Late usage, new prices and departures never change them.'
      }
    >
      <KeyValue items={items} />
    </Card>
  )
}
