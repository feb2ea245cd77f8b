import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { Time } from '#app/_ui/time.tsx'
import { ABOUT_SUBJECT, actorWords, EVIDENCE_WORDS } from './evidence-words.ts'
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
              <span className="font-medium">{actorWords(aboutSubject(row) ? row.subject! : row.actor)}</span>{' '}
              {EVIDENCE_WORDS[row.kind] ?? row.kind}
              {!aboutSubject(row) && <Subject org={org} row={row} />}
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

const aboutSubject = (row: EvidenceRow) => ABOUT_SUBJECT.includes(row.kind) && row.subject !== null

/** What it was about, as a link where there is a page for it. */
function Subject({ org, row }: { org: string; row: EvidenceRow }) {
  const { subject } = row
  if (subject === null || subject.ref === row.actor.ref) return null
  const name = subject.name ?? subject.ref
  if (subject.kind === 'ruleset')
    return <Linked href={`/${org}/boundaries/history/${subject.ref}`}>version {subject.ref}</Linked>
  if (subject.kind === 'approval') return <Linked href={`/${org}/approvals/${subject.ref}`}>{subject.ref}</Linked>
  if (subject.kind === 'machine') return <Linked href={`/${org}/machines/${subject.ref}`}>{name}</Linked>
  return subject.kind === 'member' && subject.name !== null ? (
    <span className="text-ink-2">: {subject.name}</span>
  ) : null
}

const Linked = ({ href, children }: { href: string; children: React.ReactNode }) => (
  <>
    {': '}
    <Link className="link" href={href}>
      {children}
    </Link>
  </>
)
