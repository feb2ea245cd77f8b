import Link from 'next/link'
import type { ReactNode } from 'react'
import { Name } from '#app/_ui/name.tsx'
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
        <div className="min-w-0 [overflow-wrap:anywhere] @min-[35rem]:min-w-56">
          <Link
            href={`/${org}/approvals/${row.handle}`}
            title={row.question}
            className="line-clamp-3 font-medium hover:underline"
          >
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
      head: 'Needs',
      nowrap: true,
      cell: row =>
        row.approvals > 1
          ? `${row.approvals} of ${row.role} or above${row.state === 'pending' ? `, has ${row.votes}` : ''}`
          : `${row.role} or above`,
    },
    {
      key: 'state',
      head: 'State',
      nowrap: true,
      cell: row => <StatePill state={row.state} expiresAt={row.expiresAt} />,
    },
    ...(rows.some(row => row.answeredBy.length > 0)
      ? [{ key: 'by', head: 'Answered by', cell: (row: ApprovalRow) => answeredBy(row) }]
      : []),
    { key: 'at', head: 'Made', nowrap: true, numeric: true, cell: row => <Time at={row.createdAt} show="relative" /> },
  ]
  return <Table caption={caption} columns={columns} rows={rows} rowKey={row => row.handle} empty={empty} />
}

function answeredBy(row: ApprovalRow): ReactNode {
  const last = row.answeredBy.at(-1)
  if (!last) return <span className="text-ink-3">nobody</span>
  return (
    <span>
      {row.answeredBy.map((by, at) => (
        <span key={by.name}>
          {at > 0 && ', '}
          <Name inTable>{by.name}</Name>
        </span>
      ))}
      {last.self && <span className="text-ink-3"> (own request)</span>}
      {last.demo && <span className="text-ink-3"> (demo)</span>}
    </span>
  )
}
