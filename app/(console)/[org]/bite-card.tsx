import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatCount } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import type { Overview } from './outputs.ts'

/** What each rule in force met in seven days: what binds, and what would bite if it left the shadow. */
export function BiteCard({ org, rows, hasRules }: { org: string; rows: Overview['bite']; hasRules: boolean }) {
  return (
    <Card
      title="Rules in force"
      sub="what they met in the last 7 days"
      note={
        rows.some(row => row.stage === 'shadow' && row.calls > 0) &&
        'Shadow rules stop nobody: their calls are what would be held once you move them to enforce. A shadow rule counts once a session.'
      }
    >
      <Table
        caption="Rules in force and what they met"
        rows={rows}
        rowKey={row => row.rule}
        columns={[
          {
            key: 'rule',
            head: 'Rule',
            cell: row => (
              <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
                <Link href={`/${org}/boundaries#${row.rule}`} className="min-w-0 font-medium hover:underline">
                  <Name inTable>{row.rule}</Name>
                </Link>
                {row.stage === 'enforce' ? <Pill state="passed">enforce</Pill> : <Pill state="shadow">shadow</Pill>}
              </span>
            ),
          },
          { key: 'require', head: 'Demands', nowrap: true, cell: row => <code>{row.require}</code> },
          { key: 'calls', head: 'Calls', numeric: true, cell: row => formatCount(row.calls) },
          { key: 'sessions', head: 'Sessions', numeric: true, cell: row => formatCount(row.sessions) },
          { key: 'machines', head: 'Machines', numeric: true, cell: row => formatCount(row.machines) },
        ]}
        empty={
          <p className="px-4 py-3 text-ink-2">
            {hasRules
              ? 'The set in force holds no rule.'
              : 'No rule is published. Nothing is limited and nothing is recorded yet.'}
          </p>
        }
      />
    </Card>
  )
}
