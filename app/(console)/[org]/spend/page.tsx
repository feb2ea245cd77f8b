import { Coins, SearchX } from 'lucide-react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { cn } from '#app/_ui/class-names.ts'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import type { MemberActor } from '#core/actor.ts'
import { dateAt } from '#core/budget/window.ts'
import { monthWords } from '#core/day.ts'
import type { Dimension } from '#core/spend/group.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode, errorRemedy } from '../app-error.ts'
import { CsvLink } from '../csv-link.tsx'
import { titled } from '../page-title.ts'
import { askedPath, csvFields, dimensionName, noneName, readSpendAsked, reportInput, type SpendAsked } from './asked.ts'
import { chartData } from './chart-data.ts'
import { ChartTable } from './chart-table.tsx'
import { Controls } from './controls.tsx'
import { byAmount, figureOfShown, isComparable, type Report, shownAmount } from './figures.ts'
import { FocusLink } from './focus-link.tsx'
import { MoversCard } from './movers-card.tsx'
import { monthOf, periodBefore, periodWords, startsOf, stepFor } from './period.ts'
import { ReachCard } from './reach-card.tsx'
import { SightNote } from './sight-note.tsx'
import { SpendTable } from './spend-table.tsx'
import { SpendTabs } from './spend-tabs.tsx'
import { StackedChart } from './stacked-chart.tsx'
import { Tiles } from './tiles.tsx'
import { UnattributedCard } from './unattributed-card.tsx'

export const generateMetadata = titled('Spend')

type Props = {
  params: Promise<{ org: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}

const OWN: readonly Dimension[] = ['model', 'client', 'machine', 'member', 'cover']

export default async function SpendPage({ params, searchParams }: Props) {
  const { org } = await params
  const actor = await requireActor(org)
  const call = await api()
  const keys = await call.spend.keys({ org })
  const now = Date.now()
  const today = dateAt(keys.zone, now)
  const asked = readSpendAsked(await searchParams, today)
  const base = `/${org}/spend`
  const dimensions = [...keys.tags.map((key): Dimension => `tag:${key}`), ...OWN]
  const grants = await call.spend.grants({ org })
  const loaded = await load(org, asked, keys.zone, now).catch((error: Error) => {
    if (errorCode(error) !== 'FORBIDDEN' && errorCode(error) !== 'BAD_INPUT') throw error
    return error
  })
  const refused = loaded instanceof Error ? loaded : undefined
  const names = loaded instanceof Error ? new Map<string, string>() : loaded.names
  return (
    <>
      <PageHeader
        title="Spend"
        facts={<Pill state="shadow">{asked.basis === 'billed' ? 'billed' : 'list price'}, self-reported</Pill>}
        sub={
          asked.basis === 'billed'
            ? 'What is paid for by use. Calls under a flat plan count nothing here; what nobody knows to be billed stands beside the total.'
            : 'What the tokens cost at list price, whatever plan covers them. Every grouping adds up to the same total.'
        }
        actions={
          <>
            <CsvLink org={org} list="spend" query={csvFields(asked)} />
            <FocusLink org={org} period={asked.period} />
          </>
        }
      />
      <SpendTabs org={org} current="chargeback" />
      <Controls {...{ base, asked, today, dimensions, names }} zone={keys.zone} firstMonth={keys.firstMonth} />
      {refused ? (
        <Card>
          <EmptyState
            headingLevel={2}
            icon={<SearchX aria-hidden />}
            title="This cannot be shown"
            action={<Button href={base}>Show this month</Button>}
          >
            {refused.message} {errorRemedy(refused)}
          </EmptyState>
        </Card>
      ) : keys.firstMonth === null ? (
        <NoUsage org={org} />
      ) : (
        <Figures {...{ org, base, asked, today, actor }} {...(loaded as Loaded)} />
      )}
      <div className="mt-4">
        <SightNote org={org} grants={grants} me={actor.memberId} now={new Date(now)} />
      </div>
    </>
  )
}

type Loaded = Awaited<ReturnType<typeof load>>

/** Everything that the page shows, read at once. */
async function load(org: string, asked: SpendAsked, zone: string, now: number) {
  const call = await api()
  const before = periodBefore(asked.period, zone, now)
  const input = { org, ...reportInput(asked) }
  const none = asked.by.startsWith('tag:')
    ? { ...input, filter: { ...input.filter, [reportInput(asked).by]: [null] } }
    : undefined
  const [report, earlier, byCover, byMachine, byClient] = await Promise.all([
    call.spend.report({ ...input, step: stepFor(asked.period) }),
    call.spend.report({ ...input, from: before.from, to: before.to }),
    call.spend.report({ ...input, by: 'cover' }),
    none && call.spend.report({ ...none, by: 'machine' }),
    none && call.spend.report({ ...none, by: 'client' }),
  ])
  return { report: byAmount(report), earlier, before, byCover, byMachine, byClient, names: await namesOf(org, asked) }
}

/** What the filters' values are called. */
async function namesOf(org: string, { filters, period }: SpendAsked): Promise<Map<string, string>> {
  const call = await api()
  const names = new Map<string, string>()
  await Promise.all(
    filters
      .filter(
        ({ dimension, value }) => value !== null && ['tag:tenant', 'machine', 'member', 'cover'].includes(dimension),
      )
      .map(async one => {
        const { by, filter } = reportInput({ period, by: one.dimension, basis: 'equivalent', filters: [one] })
        const { rows } = await call.spend.report({ org, ...period, by, filter })
        const label = rows.find(({ value }) => value === one.value)?.label
        if (label) names.set(`${one.dimension} ${one.value}`, label)
      }),
  )
  return names
}

type FiguresProps = { org: string; base: string; asked: SpendAsked; today: string; actor: MemberActor } & Loaded

function Figures({ org, base, asked, today, report, earlier, before, byCover, byMachine, byClient }: FiguresProps) {
  const step = stepFor(asked.period)
  const data = chartData(report, asked.basis, startsOf(asked.period, step), noneName(asked.by))
  const key = dimensionName(asked.by).toLowerCase()
  const when = periodWords(asked.period)
  const isMonth = monthOf(asked.period) !== undefined
  const beforeName = isMonth ? monthWords(before.from).split(' ')[0]! : 'the days before'
  const beforeWords = before.soFar && isMonth ? `the same part of ${beforeName}` : beforeName
  const none = report.rows.find(({ value }) => value === null)
  const unattributed = asked.by.startsWith('tag:') && none !== undefined && none.total.calls > 0
  const withheld = report.rows.some(({ value }) => value === 'withheld')
  if (report.total.calls === 0 && earlier.total.calls === 0) return <NothingThen {...{ base, asked, today, when }} />
  return (
    <div className="grid gap-4">
      <Tiles {...{ org, asked, report, earlier, before, when, beforeWords }} />
      {report.lacking && <Lacking org={org} lacking={report.lacking} />}
      {withheld && (
        <Banner kind="note" title="Others stand together.">
          You see your own figures; an owner can open somebody’s to you, with a reason that they see. The total is
          everybody’s.
        </Banner>
      )}
      <Card title={`Each ${step}, by ${key}`} sub={asked.basis === 'billed' ? 'billed' : 'at list price'}>
        <StackedChart
          data={data}
          step={step}
          title={`Spend for each ${step}, ${when}, stacked by ${key}`}
          description={inWords(report, asked, when)}
        />
        <ChartTable data={data} step={step} caption={`Spend for each ${step} by ${key}, ${when}`} />
      </Card>
      <Card title={`By ${key}`} sub={when}>
        <SpendTable {...{ base, asked, today, report }} />
      </Card>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1.15fr)_minmax(0,1fr)]">
        {isComparable(earlier, report) && (
          <MoversCard asked={asked} before={earlier} after={report} beforeWords={beforeWords} />
        )}
        {unattributed && byMachine && byClient && (
          <UnattributedCard
            org={org}
            asked={asked}
            byMachine={byMachine}
            byClient={byClient}
            none={shownAmount(report, null)!}
            unlisted={report.coverage.unlisted[asked.by.slice(4)]}
          />
        )}
        <ReachCard
          org={org}
          report={report}
          byCover={byCover}
          coverPath={askedPath(base, { ...asked, by: 'cover' }, today)}
          className={cn(unattributed && 'lg:col-span-2')}
        />
      </div>
    </div>
  )
}

/** Why amounts are in dollars though the organisation is billed in another currency. */
function Lacking({ org, lacking: { currency, from } }: { org: string; lacking: NonNullable<Report['lacking']> }) {
  return (
    <Banner
      kind="note"
      title={`These figures are in US dollars, not in ${currency}.`}
      action={
        <Button size="sm" href={`/${org}/spend/currency`}>
          Exchange rates
        </Button>
      }
    >
      {from === null
        ? `There is no exchange rate for ${currency}.`
        : `The first exchange rate for ${currency} is from ${from}, and this period has usage of before.`}{' '}
      Two currencies never stand in one figure; enter a rate for the earlier days, or show a later period.
    </Banner>
  )
}

function inWords(report: Report, asked: SpendAsked, when: string): string {
  const [first] = report.rows
  const largest = first && (first.label ?? noneName(asked.by))
  const { amount } = figureOfShown(report.total, asked.basis)
  if (amount === 0n || !largest) return `No spend in ${when}.`
  return `The largest part is ${largest}. The table beneath holds every figure.`
}

function NothingThen({ base, asked, today, when }: { base: string; asked: SpendAsked; today: string; when: string }) {
  return (
    <Card>
      <EmptyState
        headingLevel={2}
        icon={<SearchX aria-hidden />}
        title={asked.filters.length > 0 ? 'Nothing fits these filters' : `No usage in ${when}`}
        action={
          asked.filters.length > 0 ? (
            <Button href={askedPath(base, { ...asked, filters: [] }, today)}>Leave the filters out</Button>
          ) : (
            <Button href={base}>Show this month</Button>
          )
        }
      >
        Machines that were offline send what they counted when they are back; figures of past days can still come.
      </EmptyState>
    </Card>
  )
}

function NoUsage({ org }: { org: string }) {
  return (
    <Card>
      <EmptyState
        headingLevel={2}
        icon={<Coins aria-hidden />}
        title="No machine has sent usage yet"
        action={
          <>
            <Button variant="primary" href={`/${org}/machines`}>
              Add a machine
            </Button>
            <Button href={`/${org}/spend/budgets`}>Set a budget</Button>
          </>
        }
      >
        A machine that has joined counts its agents’ calls and sends sums each hour, never words of a conversation.{' '}
        <code>holdpoint team preview</code> shows what would be sent, <code>holdpoint team sync</code> sends it now.
      </EmptyState>
    </Card>
  )
}
