import Link from 'next/link'
import type { ReactNode } from 'react'
import { formatPlural, NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import type { MachineRow } from '../outputs.ts'
import { LevelList } from './level-list.tsx'
import { platformWords, refusalWords } from './machine-words.ts'
import { MachineStatePill } from './state-pill.tsx'

/** Machines as a list, those that need a look first. */
export function MachineTable({
  org,
  rows,
  caption,
  empty,
}: {
  org: string
  rows: readonly MachineRow[]
  caption: string
  empty?: ReactNode
}) {
  const columns: Column<MachineRow>[] = [
    {
      key: 'label',
      head: 'Machine',
      cell: row => (
        <div className="min-w-0">
          <Link href={`/${org}/machines/${row.id}`} className="font-medium hover:underline">
            <Name inTable>{row.label}</Name>
          </Link>
          <div className="text-ink-3 text-xs">
            <Name inTable>{row.member.name}</Name> · {platformWords(row.platform)}
          </div>
        </div>
      ),
    },
    { key: 'state', head: 'State', nowrap: true, cell: row => <MachineStatePill state={row.state} /> },
    {
      key: 'rules',
      head: 'Rules',
      nowrap: true,
      cell: row =>
        row.rulesVersion === 0 ? <span className="text-ink-3">none yet</span> : `version ${row.rulesVersion}`,
    },
    {
      key: 'hooks',
      head: 'Agents',
      cell: row =>
        row.hooks.length === 0 ? <span className="text-ink-3">no hook reported</span> : <LevelList hooks={row.hooks} />,
    },
    ...(rows.some(row => noticesOf(row).length > 0)
      ? [
          {
            key: 'notice',
            head: 'Look at',
            cell: (row: MachineRow) => {
              const notices = noticesOf(row)
              return notices.length === 0 ? null : <span className="text-sm text-waiting">{notices.join('; ')}</span>
            },
          },
        ]
      : []),
    {
      key: 'seen',
      head: 'Last heard of',
      numeric: true,
      nowrap: true,
      cell: row =>
        row.lastSeenAt ? <Time at={row.lastSeenAt} show="relative" /> : <span className="text-ink-3">{NONE}</span>,
    },
  ]
  return <Table caption={caption} columns={columns} rows={rows} rowKey={row => row.id} empty={empty} />
}

function noticesOf(row: MachineRow): string[] {
  const lost = row.hooks.filter(hook => hook.lost).map(hook => CLIENT_NAMES[hook.client as Client] ?? hook.client)
  return [
    ...(lost.length > 0 ? [`${lost.join(', ')}: held less than before`] : []),
    ...(row.lastError ? [`did not take rules: ${refusalWords(row.lastError)}`] : []),
    ...(row.unguarded7d > 0 ? [`${formatPlural(row.unguarded7d, 'call')} not judged in seven days`] : []),
    ...(row.firstUsePin ? ['pinned at first use, without a digest'] : []),
  ]
}
