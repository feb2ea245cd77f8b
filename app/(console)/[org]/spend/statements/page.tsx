import { ReceiptText } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { readAsked } from '#app/asked.ts'
import { may, whyNotFresh } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { CsvLink } from '../../csv-link.tsx'
import { titled } from '../../page-title.ts'
import { againAt } from '../../sign-in-again.tsx'
import { LinkSegments } from '../link-segments.tsx'
import { SpendTabs } from '../spend-tabs.tsx'
import { ArrangeCard } from './arrange-card.tsx'
import { MonthCard } from './month-card.tsx'

export const generateMetadata = titled('Statements')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

export default async function StatementsPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const { year } = await readAsked(searchParams, 'year')
  const call = await api()
  const [list, keys] = await Promise.all([
    call.statement.list({ org, ...(year === undefined ? {} : { year: year.slice(0, 4) }) }),
    call.spend.keys({ org }),
  ])
  const base = `/${org}/spend/statements`
  const tooOld = may(actor, 'statement.close') ? whyNotFresh(actor, new Date()) : undefined
  const reader = {
    mayClose: may(actor, 'statement.close'),
    mayArrange: may(actor, 'statement.arrange'),
    tooOld: tooOld && { why: tooOld.why, again: againAt(org, 'spend/statements') },
  }
  return (
    <>
      <PageHeader
        title="Statements"
        sub="What each tenant bears of a month. A draft follows what machines report; closing freezes it and mails it, and what changes later is an adjustment of the next one."
        actions={<CsvLink org={org} list="statements" />}
      />
      <SpendTabs org={org} current="statements" />
      <div className="grid gap-4">
        {list.years.length > 1 && (
          <LinkSegments
            label="Year"
            items={list.years.map(one => ({
              href: `${base}?${new URLSearchParams({ year: one })}`,
              label: one,
              current: one === list.year,
            }))}
          />
        )}
        {list.months.length === 0 ? (
          <NoMonth org={org} />
        ) : (
          list.months.map(month => (
            <MonthCard key={month.month} {...{ org, base, month, reader }} zone={list.setting.zone} />
          ))
        )}
        <ArrangeCard {...{ org, list, reader }} lists={keys.lists} />
      </div>
    </>
  )
}

function NoMonth({ org }: { org: string }) {
  return (
    <Card>
      <EmptyState
        headingLevel={2}
        icon={<ReceiptText aria-hidden />}
        title="There is nothing to state yet"
        action={
          <>
            <Button variant="primary" href={`/${org}/machines`}>
              Add a machine
            </Button>
            <Button href={`/${org}/spend/attribution`}>List tenants</Button>
          </>
        }
      >
        A month has statements as soon as machines report usage in it. Rules of attribution say which of it is whose;
        what fits none stays unattributed and stands here apart.
      </EmptyState>
    </Card>
  )
}
