import { Inbox, ListChecks } from 'lucide-react'
import { LiveRefresh } from '#app/_client/live-refresh.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pager } from '#app/_ui/pager.tsx'
import { TabLinks } from '#app/_ui/tabs.tsx'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { CsvLink } from '../csv-link.tsx'
import { titled } from '../page-title.ts'
import { ApprovalTable } from './approval-table.tsx'

export const generateMetadata = titled('Approvals')

type Props = { params: Promise<{ org: string }>; searchParams: Promise<{ show?: string; from?: string }> }

export default async function ApprovalsPage({ params, searchParams }: Props) {
  const { org } = await params
  const { show, from } = await searchParams
  await requireActor(org)
  const state = show === 'settled' ? 'settled' : 'waiting'
  const caller = await api()
  const seen = await caller.approval.position({ org })
  const page = await caller.approval.list({ org, state, ...(from ? { cursor: from } : {}) })
  const base = `/${org}/approvals`
  return (
    <>
      <LiveRefresh org={org} seen={seen} />
      <PageHeader
        title="Approvals"
        actions={<CsvLink org={org} list="approvals" />}
        sub="Agents that reached a hold point wait here for somebody with the role that the rule names. Opening a request changes nothing; answering does."
      />
      <TabLinks
        label="Which requests"
        tabs={[
          { href: base, label: 'Waiting', current: state === 'waiting' },
          { href: `${base}?show=settled`, label: 'Settled', current: state === 'settled' },
        ]}
      />
      <Card>
        <ApprovalTable
          org={org}
          rows={page.items}
          caption={state === 'waiting' ? 'Requests that wait' : 'Requests that are settled'}
          empty={
            state === 'waiting' ? (
              <EmptyState icon={<Inbox aria-hidden />} title="Nothing waits">
                When a rule with an approver holds an agent, its request appears here at once, and everyone who can
                answer gets a mail.
              </EmptyState>
            ) : (
              <EmptyState icon={<ListChecks aria-hidden />} title="Nothing has been settled yet">
                Answered, expired and withdrawn requests stay here, with who answered, how and when.
              </EmptyState>
            )
          }
        />
      </Card>
      {(page.next || from) && (
        <Pager
          label="Pages of requests"
          previousHref={from ? `${base}?show=${state}` : undefined}
          nextHref={page.next ? `${base}?show=${state}&from=${page.next}` : undefined}
        />
      )}
    </>
  )
}
