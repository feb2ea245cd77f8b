import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { StatePill } from './approvals/state-pill.tsx'
import type { ApprovalRow } from './outputs.ts'

const MOST = 5

/** The requests that wait, the newest few. */
export function WaitingCard({ org, rows }: { org: string; rows: readonly ApprovalRow[] }) {
  return (
    <Card
      title="Waiting now"
      aside={
        rows.length > MOST && (
          <Link className="link" href={`/${org}/approvals`}>
            all {rows.length}
          </Link>
        )
      }
    >
      {rows.length === 0 ? (
        <p className="px-4 py-3 text-ink-2">
          Nothing waits. When a rule with an approver holds an agent, its request appears here at once.
        </p>
      ) : (
        <ul>
          {rows.slice(0, MOST).map(row => (
            <li
              key={row.handle}
              className="relative flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2.5 last:border-b-0 hover:bg-raised"
            >
              <div className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">
                <Link
                  href={`/${org}/approvals/${row.handle}`}
                  title={row.question}
                  className="line-clamp-3 font-medium after:absolute after:inset-0"
                >
                  {row.question}
                </Link>
                <div className="text-ink-3 text-xs">
                  <code>{row.rules.map(name => `org:${name}`).join(', ')}</code> ·{' '}
                  {row.mayAnswer ? 'you may answer' : `for ${row.role} or above`}
                </div>
              </div>
              <StatePill state={row.state} expiresAt={row.expiresAt} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
