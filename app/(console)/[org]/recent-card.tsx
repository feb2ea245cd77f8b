import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { Time } from '#app/_ui/time.tsx'
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
            <span className="min-w-0">
              <span className="font-medium">{KIND_WORDS[row.kind] ?? row.kind}</span> <Subject org={org} row={row} />
              <span className="block text-ink-3 text-xs">by {whoText(row.actor)}</span>
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

/** What it was about, as a link where there is a page for it; left out where it is whoever did it. */
function Subject({ org, row: { subject, actor } }: { org: string; row: EvidenceRow }) {
  if (subject === null || subject.ref === actor.ref || subject.kind === 'organisation') return null
  const pages: Record<string, string> = { ruleset: 'boundaries/history', approval: 'approvals', machine: 'machines' }
  const page = pages[subject.kind]
  if (page === undefined) return <span className="text-ink-2">{whoText(subject)}</span>
  return (
    <Link className="link" href={`/${org}/${page}/${subject.ref}`}>
      {whoText(subject)}
    </Link>
  )
}
