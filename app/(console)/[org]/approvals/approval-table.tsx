import Link from 'next/link'
import type { ReactNode } from 'react'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { figureText, figureTitle } from '#core/approval/describe.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import type { ApprovalRow } from '../outputs.ts'
import { StatePill } from './state-pill.tsx'

/** Requests as a list: what is asked, how it stands, who answered. */
export function ApprovalTable({
  org,
  rows,
  caption,
  empty,
}: {
  org: string
  rows: readonly ApprovalRow[]
  caption: string
  empty: ReactNode
}) {
  const columns: Column<ApprovalRow>[] = [
    {
      key: 'question',
      head: 'Request',
      cell: row => (
        <div className="min-w-0">
          <Link href={`/${org}/approvals/${row.handle}`} className="font-medium hover:underline">
            {row.question}
          </Link>
          <div className="text-ink-3 text-xs">
            <code>{row.rules.map(name => `org:${name}`).join(', ')}</code> · {CLIENT_NAMES[row.client]} on{' '}
            {row.machine.label}
          </div>
        </div>
      ),
    },
    {
      key: 'figures',
      head: 'Crossed',
      wideOnly: true,
      cell: row => (
        <ul>
          {row.figures.slice(0, 2).map(figure => (
            <li key={`${figure.name}${figure.qualifier ?? ''}`} className="whitespace-nowrap">
              <span className="text-ink-3 text-xs">{figureTitle(figure)}</span>{' '}
              <span className="tabular-nums">{figureText(figure)}</span>
            </li>
          ))}
        </ul>
      ),
    },
    {
      key: 'role',
      head: 'Takes',
      nowrap: true,
      cell: row => (row.approvals > 1 ? `${row.votes} of ${row.approvals} × ${row.role}` : row.role),
    },
    {
      key: 'state',
      head: 'State',
      nowrap: true,
      cell: row => <StatePill state={row.state} expiresAt={row.expiresAt} />,
    },
    { key: 'by', head: 'Answered by', cell: row => answeredBy(row) },
    { key: 'at', head: 'Made', nowrap: true, numeric: true, cell: row => <Time at={row.createdAt} show="relative" /> },
  ]
  return <Table caption={caption} columns={columns} rows={rows} rowKey={row => row.handle} empty={empty} />
}

function answeredBy(row: ApprovalRow): ReactNode {
  const last = row.answeredBy.at(-1)
  if (!last) return <span className="text-ink-3">nobody</span>
  return (
    <span>
      {row.answeredBy.map(by => by.name).join(', ')}
      {last.self && <span className="text-ink-3"> (own request)</span>}
      {last.demo && <span className="text-ink-3"> (demo)</span>}
    </span>
  )
}
