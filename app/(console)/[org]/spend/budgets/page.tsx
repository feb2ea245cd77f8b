import { PiggyBank, Plus } from 'lucide-react'
import Link from 'next/link'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Table } from '#app/_ui/table.tsx'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { whyReadOnly } from '../../boundaries/why-read-only.ts'
import { CsvLink } from '../../csv-link.tsx'
import { titled } from '../../page-title.ts'
import { SpendTabs } from '../spend-tabs.tsx'
import { CoverageCard } from './coverage-card.tsx'
import { StepPill, UseCell } from './use-cell.tsx'
import {
  type Budget,
  basisWords,
  forecastNote,
  forecastWords,
  forWords,
  ownersWords,
  type Share,
  windowWords,
} from './words.ts'

export const generateMetadata = titled('Budgets')

type Row = { budget: Budget; share: Share | undefined }

export default async function BudgetsPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const { budgets, coverage } = await (await api()).budget.list({ org })
  const readOnly = whyReadOnly(actor)
  const base = `/${org}/spend/budgets`
  const rows = budgets.flatMap((budget): Row[] =>
    budget.shares.length === 0 ? [{ budget, share: undefined }] : budget.shares.map(share => ({ budget, share })),
  )
  const withheld = budgets.reduce((sum, budget) => sum + budget.withheld, 0)
  return (
    <>
      <PageHeader
        title="Budgets"
        sub="What may be spent in a window of time, and how much of it is. Owners get a mail at each step; a boundary that names a budget holds agents by it."
        actions={
          <>
            {rows.length > 0 && <CsvLink org={org} list="budgets" />}
            {readOnly === undefined && (
              <Button href={`/${org}/spend/edit-budget`} icon={<Plus aria-hidden />} variant="primary">
                New budget
              </Button>
            )}
          </>
        }
      />
      <SpendTabs org={org} current="budgets" />
      <div className="grid gap-4">
        <Card
          note={
            withheld > 0 &&
            `${formatPlural(withheld, 'share')} of people and machines whose figures you may not see ${withheld === 1 ? 'is' : 'are'} left out.`
          }
        >
          <Table
            caption="Budgets in force"
            rows={rows}
            rowKey={({ budget, share }) => `${budget.name} ${share?.value ?? ''}`}
            empty={
              <EmptyState
                headingLevel={2}
                icon={<PiggyBank aria-hidden />}
                title="No budget is set"
                action={
                  readOnly === undefined ? (
                    <Button variant="primary" href={`/${org}/spend/edit-budget`}>
                      Set the first budget
                    </Button>
                  ) : undefined
                }
              >
                A budget by itself only tells: its owners get a mail at half, three quarters, nine tenths and all of it.
                A boundary with <code>budget_used_pct</code> makes it hold.{readOnly && ` ${readOnly}`}
              </EmptyState>
            }
            columns={[
              {
                key: 'name',
                head: 'Budget',
                cell: ({ budget, share }) => <BudgetName base={base} budget={budget} share={share} />,
              },
              {
                key: 'use',
                head: 'Used',
                className: 'w-1/4',
                cell: ({ budget, share }) =>
                  share ? (
                    <UseCell budget={budget} share={share} />
                  ) : (
                    <span className="text-ink-3">not shown to you</span>
                  ),
              },
              {
                key: 'step',
                head: 'Step',
                nowrap: true,
                cell: ({ share }) => (share ? <StepPill share={share} /> : null),
              },
              {
                key: 'forecast',
                head: 'At its end',
                numeric: true,
                className: 'min-w-44',
                cell: ({ budget, share }) =>
                  share ? (
                    <>
                      <div className="whitespace-nowrap">{forecastWords(share.forecast, budget.currency)}</div>
                      <div className="text-ink-3 text-xs">{forecastNote(share, budget.currency)}</div>
                    </>
                  ) : null,
              },
              {
                key: 'owners',
                head: 'Told',
                wideOnly: true,
                className: 'min-w-32',
                cell: ({ budget }) => <span className="text-ink-2 text-sm">{ownersWords(budget)}</span>,
              },
            ]}
          />
        </Card>
        <CoverageCard org={org} coverage={coverage} />
      </div>
    </>
  )
}

function BudgetName({ base, budget, share }: { base: string; budget: Budget; share: Share | undefined }) {
  const href = `${base}/${budget.name}${share?.value ? `?${new URLSearchParams({ value: share.value })}` : ''}`
  return (
    <div className="min-w-0">
      <Link href={href} className="font-medium hover:underline">
        <Name inTable>{budget.name}</Name>
      </Link>
      {share?.value && (
        <>
          {' '}
          <Name inTable className="text-ink-2">
            {share.label}
          </Name>
        </>
      )}
      <div className="text-ink-3 text-xs">
        {windowWords(budget)}, {forWords(budget)}, {basisWords(budget.basis)}
      </div>
      <div className="text-ink-3 text-xs @min-[35rem]:whitespace-nowrap">{budget.label}</div>
    </div>
  )
}
