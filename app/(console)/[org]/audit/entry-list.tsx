import { ChevronRight, TriangleAlert } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import { KeyValue, type KeyValueItem } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import type { SessionMethod } from '#core/approval/answer.ts'
import { methodName } from '#core/permission.ts'
import type { EvidenceRow } from '../outputs.ts'
import { entryFacts } from './entry-data.ts'
import { entryLine } from './entry-line.ts'
import { isAlarm, KIND_WORDS } from './kind-words.ts'
import { whoText } from './who-text.ts'

/** The ledger as a list; each entry opens to all that its bytes say and to its place in the chain. */
export function EntryList({ org, rows, size }: { org: string; rows: readonly EvidenceRow[]; size: number }) {
  return (
    <ol aria-label="Entries, newest first" className="@container">
      {rows.map(row => (
        <li key={row.seq} value={row.seq} id={`entry-${row.seq}`} className="border-b last:border-b-0">
          <details className="group">
            <summary className="grid cursor-pointer list-none grid-cols-[1rem_minmax(0,1fr)_auto] items-baseline gap-x-3 px-4 py-2.25 -outline-offset-2 hover:bg-raised @2xl:grid-cols-[1rem_3rem_minmax(0,5fr)_minmax(0,3fr)_6rem]">
              <ChevronRight
                aria-hidden
                className="mt-0.5 size-4 self-start text-ink-3 transition-transform group-open:rotate-90"
              />
              <span className="hidden text-right text-ink-3 text-xs tabular-nums @2xl:block">{row.seq}</span>
              <span className="min-w-0">
                <span className="font-medium">
                  {isAlarm(row.kind) && (
                    <TriangleAlert aria-hidden className="mr-1.5 inline size-3.5 align-[-2px] text-waiting" />
                  )}
                  {KIND_WORDS[row.kind] ?? row.kind}
                </span>
                <Line row={row} />
              </span>
              <span
                title={whoText(row.actor)}
                className="min-w-0 truncate text-ink-2 @max-2xl:order-1 @max-2xl:col-start-2 @max-2xl:text-sm"
              >
                {whoText(row.actor)}
              </span>
              <span className="text-right text-ink-3 text-xs">
                <Time at={row.at} show="relative" />
              </span>
            </summary>
            <Details org={org} row={row} size={size} />
          </details>
        </li>
      ))}
    </ol>
  )
}

function Line({ row }: { row: EvidenceRow }) {
  const words = entryLine(row)
  return words ? <span className="break-words text-ink-2"> · {words}</span> : null
}

function Details({ org, row, size }: { org: string; row: EvidenceRow; size: number }) {
  const items: KeyValueItem[] = [
    { key: 'Kind', value: <code>{row.kind}</code> },
    { key: 'Received', value: <Time at={row.at} seconds /> },
    ...(row.reportedAt ? [{ key: 'Reported by the machine as', value: <Time at={row.reportedAt} seconds /> }] : []),
    {
      key: 'Who',
      value: (
        <>
          {whoText(row.actor)}
          {row.actor.method && (
            <span className="text-ink-2">, signed in with {methodName(row.actor.method as SessionMethod)}</span>
          )}
          <Reference named={row.actor} />
        </>
      ),
    },
    ...(row.subject
      ? [
          {
            key: 'About',
            value: (
              <>
                {row.subject.kind === 'member' ? whoText(row.subject) : <SubjectLink org={org} subject={row.subject} />}
                <Reference named={row.subject} />
              </>
            ),
          },
        ]
      : []),
    ...entryFacts(row.data, row.mentioned).map(({ key, text, code, when }) => ({
      key,
      value: when ? <Time at={when} seconds /> : code ? <code className="break-all">{text}</code> : text,
    })),
    {
      key: 'Place in the chain',
      value: `Entry ${row.seq} of ${size}${row.seq > 1 ? `; carries the digest of entry ${row.seq - 1}` : '; the first one'}`,
    },
    {
      key: 'Digest of its bytes',
      value: (
        <span className="flex items-start gap-2">
          <code className="min-w-0 break-all">{row.leaf}</code>
          <CopyButton text={row.leaf} iconOnly label={`Copy the digest of entry ${row.seq}`} />
        </span>
      ),
    },
  ]
  return (
    <div className="border-t bg-raised/50 pl-8 @max-2xl:pl-4">
      <KeyValue items={items} />
    </div>
  )
}

type Named = NonNullable<EvidenceRow['subject']>

/** People stand in the ledger as commitments, which say nothing about anybody without a salt that is kept apart. */
function Reference({ named }: { named: Named }): ReactNode {
  if (named.kind !== 'member') return null
  return (
    <div className="text-ink-3 text-xs">
      in the ledger as <code className="break-all text-xs">{named.ref}</code>
    </div>
  )
}

function SubjectLink({ org, subject }: { org: string; subject: Named }) {
  const href = {
    approval: `/${org}/approvals/${subject.ref}`,
    machine: `/${org}/machines/${subject.ref}`,
    ruleset: `/${org}/boundaries/history/${subject.ref}`,
  }[subject.kind]
  return href ? (
    <Link className="link" href={href} prefetch={false}>
      {whoText(subject)}
    </Link>
  ) : (
    <>
      {whoText(subject)} {subject.name && <code className="text-ink-3">{subject.ref}</code>}
    </>
  )
}
