import { Lock, PencilLine } from 'lucide-react'
import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { monthWords } from '#core/day.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { columnText } from '#core/spend/round.ts'
import type { TooOld } from '../../sign-in-again.tsx'
import { CloseMonth } from './close-month.tsx'
import {
  beyondWords,
  exactMoney,
  hinderWords,
  isNothing,
  type MonthRow,
  money,
  type StatementRow,
  sumOf,
} from './words.ts'

export type Reader = { mayClose: boolean; mayArrange: boolean; tooOld: TooOld | undefined }
type Props = { org: string; base: string; month: MonthRow; zone: string; reader: Reader }

/** A month's statements, and how they and what stays make up what the ledger has. */
export function MonthCard({ org, base, month, zone, reader }: Props) {
  const { rows, currency } = month
  const open = rows.filter(({ state }) => state === 'draft')
  const ready = open.filter(({ hinders }) => hinders.length === 0)
  const beside = [
    { key: 'atMost' as const, head: 'Unpriced, at most' },
    { key: 'unknown' as const, head: 'Cover unknown' },
  ].filter(({ key }) => rows.some(row => !isNothing(row[key])))
  return (
    <Card
      title={monthWords(month.month)}
      sub={month.over ? (open.length === 0 && rows.length > 0 ? 'all closed' : undefined) : 'so far'}
      aside={
        reader.mayClose &&
        month.over &&
        open.length > 0 && (
          <CloseMonth {...{ org }} month={month.month} rows={open} ready={ready} {...{ zone }} tooOld={reader.tooOld} />
        )
      }
      note={<LedgerNote month={month} />}
    >
      <Table
        caption={`Statements of ${monthWords(month.month)}`}
        rows={rows}
        rowKey={row => row.tenant.key}
        empty={
          <p className="px-4 py-5 text-ink-2">{month.problem ?? 'Nobody has anything on a statement of this month.'}</p>
        }
        columns={[
          {
            key: 'tenant',
            head: 'Tenant',
            cell: ({ tenant }) => (
              <Link
                href={`${base}/${month.month}/${encodeURIComponent(tenant.key)}`}
                className="font-medium hover:underline"
              >
                <Name inTable>{tenant.name}</Name>
              </Link>
            ),
          },
          { key: 'state', head: 'State', nowrap: true, cell: row => <StatePill state={row.state} /> },
          {
            key: 'next',
            head: 'Closing',
            className: '@min-[35rem]:w-2/5',
            cell: row => <Closing row={row} zone={zone} />,
          },
          ...beside.map(({ key, head }) => ({
            key,
            head,
            numeric: true,
            nowrap: true,
            cell: (row: StatementRow) => (
              <span className="text-ink-2">{isNothing(row[key]) ? NONE : exactMoney(row[key], currency)}</span>
            ),
          })),
          {
            key: 'total',
            head: 'Total',
            numeric: true,
            nowrap: true,
            cell: row => <span className="font-medium">{money(row.total, row.currency)}</span>,
          },
        ]}
        {...(rows.length > 1 ? { total: totals(rows, currency, beside) } : {})}
      />
    </Card>
  )
}

function totals(rows: readonly StatementRow[], currency: string, beside: readonly { key: 'atMost' | 'unknown' }[]) {
  const sum = (key: 'total' | 'atMost' | 'unknown') => formatDecimal(sumOf(rows.map(row => row[key])))
  return {
    tenant: 'All statements',
    total: money(sum('total'), currency),
    ...Object.fromEntries(beside.map(({ key }) => [key, exactMoney(sum(key), currency)])),
  }
}

export function StatePill({ state }: { state: 'draft' | 'closed' }) {
  return state === 'closed' ? (
    <Pill state="passed" icon={<Lock aria-hidden />}>
      closed
    </Pill>
  ) : (
    <Pill state="shadow" icon={<PencilLine aria-hidden />}>
      draft
    </Pill>
  )
}

function Closing({ row, zone }: { row: StatementRow; zone: string }) {
  const noContact = row.tenant.contact === null
  if (row.closedAt)
    return (
      <span className="text-ink-2">
        <Time at={row.closedAt} show="day" />
        {row.mails === 0 && ', mailed to nobody'}
      </span>
    )
  const words = row.hinders.map(hinder => hinderWords(hinder, zone))
  if (words.length === 0)
    return <span className="text-ink-2">{noContact ? 'ready; no contact to mail it to' : 'ready'}</span>
  return <span className="text-ink-2">{words.join('; ')}</span>
}

/** How the month's ledger divides: own usage, what is allocated, and what stays with the organisation. */
function LedgerNote({ month }: { month: MonthRow }) {
  const { currency, shared, settled } = month
  const { cells, total } = columnText(
    [month.own, month.allocated, month.left].map(amount => parseDecimal(amount) ?? 0n),
    { currency },
  )
  const beyond = beyondWords(month)
  const stays = shared.filter(one => !isNothing(one.left) || !isNothing(one.leftAtMost))
  return (
    <>
      {total} in the ledger{month.basis === 'billed' && ', of what is paid for by use'}: {cells[0]} of tenants’ own,{' '}
      {cells[1]} allocated to them, {cells[2]} on nobody’s statement
      {stays.length > 0 && ` (${stays.map(one => staysWords(one, currency)).join(', ')})`}.{beyond && ` ${beyond}`}
      {settled && ' What is closed stays as it was billed; changes since are on later statements.'}
    </>
  )
}

const staysWords = ({ of, left, leftAtMost }: MonthRow['shared'][number], currency: string): string =>
  [
    of,
    !isNothing(left) && exactMoney(left, currency),
    !isNothing(leftAtMost) && `unpriced at most ${exactMoney(leftAtMost, currency)}`,
  ]
    .filter(Boolean)
    .join(' ')
