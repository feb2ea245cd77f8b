import { History } from 'lucide-react'
import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pager } from '#app/_ui/pager.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import { CsvLink } from '../../csv-link.tsx'
import type { VersionItem } from '../../outputs.ts'
import { titled } from '../../page-title.ts'

export const generateMetadata = titled('History of boundaries')

type Props = { params: Promise<{ org: string }>; searchParams: Promise<{ below?: string }> }

export default async function HistoryPage({ params, searchParams }: Props) {
  const { org } = await params
  const { below } = await searchParams
  await requireActor(org)
  const caller = await api()
  const cursor = Number(below)
  const [page, current] = await Promise.all([
    caller.boundary.history({ org, ...(Number.isInteger(cursor) && cursor > 0 ? { cursor } : {}) }),
    caller.boundary.current({ org }),
  ])
  const base = `/${org}/boundaries`
  const columns: Column<VersionItem>[] = [
    {
      key: 'version',
      head: 'Version',
      nowrap: true,
      cell: item => (
        <span className="flex items-center gap-2">
          <Link href={`${base}/history/${item.version}`} className="font-medium tabular-nums hover:underline">
            Version {item.version}
          </Link>
          {item.version === current.version && <Pill state="passed">in force</Pill>}
        </span>
      ),
    },
    {
      key: 'note',
      head: 'Why',
      cell: item => (
        <div className="[overflow-wrap:anywhere] @min-[35rem]:min-w-48">
          {item.note}
          {item.rolledBackTo !== null && (
            <span className="block text-ink-3 text-xs">rolled back to the text of version {item.rolledBackTo}</span>
          )}
        </div>
      ),
    },
    { key: 'rules', head: 'Rules', numeric: true, cell: item => item.rules },
    {
      key: 'by',
      head: 'By',
      cell: item => (
        <>
          {item.publishedBy ? <Name inTable>{item.publishedBy}</Name> : 'the first start'}
          {item.how === 'team-cli' && <span className="block text-ink-3 text-xs">from the command line</span>}
        </>
      ),
    },
    { key: 'at', head: 'Published', numeric: true, nowrap: true, cell: item => <Time at={item.publishedAt} /> },
  ]
  return (
    <>
      <PageHeader
        above={<BackLink href={base}>Boundaries</BackLink>}
        title="History"
        actions={page.items.length > 0 && <CsvLink org={org} list="rule-sets" />}
        sub="Every version that was ever published. None is changed or removed; going back publishes an old text as a new version."
      />
      <Card>
        <Table
          caption="Published versions, newest first"
          columns={columns}
          rows={page.items}
          rowKey={item => String(item.version)}
          empty={
            <EmptyState icon={<History aria-hidden />} title="Nothing has been published yet">
              The first version appears here with its note, its author and its signature’s digest.
            </EmptyState>
          }
        />
      </Card>
      {(page.next !== undefined || below) && (
        <Pager
          label="Pages of versions"
          previousHref={below ? `${base}/history` : undefined}
          nextHref={page.next === undefined ? undefined : `${base}/history?below=${page.next}`}
        />
      )}
    </>
  )
}
