import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { Time } from '#app/_ui/time.tsx'
import { entryLine } from './audit/entry-line.ts'
import { KIND_WORDS } from './audit/kind-words.ts'
import { whoText } from './audit/who-text.ts'
import type { EvidenceRow } from './outputs.ts'

/** The newest entries of the ledger. */
export function RecentCard({ org, rows }: { org: string; rows: readonly EvidenceRow[] }) {
  return (
    <Card
      title="Recently recorded"
      aside={
        <Link className="link" href={`/${org}/audit`}>
          the whole record
        </Link>
      }
    >
      <ol>
        {rows.map(row => (
          <li
            key={row.seq}
            className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 border-b px-4 py-2.25 last:border-b-0"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <span className="line-clamp-2">
                <span className="font-medium">{KIND_WORDS[row.kind] ?? row.kind}</span> <Line org={org} row={row} />
              </span>
              <span className="block truncate text-ink-3 text-xs" title={whoText(row.actor)}>
                by {whoText(row.actor)}
              </span>
            </span>
            <span className="text-ink-3 text-xs">
              <Time at={row.at} show="relative" />
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}

/** What happened to whom or what, as a link where there is a page for it. */
function Line({ org, row }: { org: string; row: EvidenceRow }) {
  const line = entryLine(row)
  if (line === undefined) return null
  const pages: Record<string, string> = { ruleset: 'boundaries/history', approval: 'approvals', machine: 'machines' }
  const page = row.subject && pages[row.subject.kind]
  if (!row.subject || page === undefined) return <span className="text-ink-2">{line}</span>
  return (
    <Link className="text-ink-2 hover:underline" href={`/${org}/${page}/${row.subject.ref}`}>
      {line}
    </Link>
  )
}
