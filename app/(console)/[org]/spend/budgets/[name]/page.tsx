import { Pencil } from 'lucide-react'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { Disclosure } from '#app/_ui/disclosure.tsx'
import { formatPercent } from '#app/_ui/format.ts'
import { KeyValue, type KeyValueItem } from '#app/_ui/key-value.tsx'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { StatTile, StatTiles } from '#app/_ui/stat-tile.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { readAsked } from '#app/asked.ts'
import { dateAt } from '#core/budget/window.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { columnText, moneyText, roundParts } from '#core/spend/round.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode } from '../../../app-error.ts'
import { BackLink } from '../../../back-link.tsx'
import { whyReadOnly } from '../../../boundaries/why-read-only.ts'
import { titled } from '../../../page-title.ts'
import { LinkSegments } from '../../link-segments.tsx'
import { startWords } from '../../period.ts'
import { BurnChart } from '../burn-chart.tsx'
import { burnData } from '../burn-data.ts'
import { StoppedCard } from '../stopped-card.tsx'
import { StepPill } from '../use-cell.tsx'
import {
  amountWords,
  type BudgetDetail,
  basisWords,
  forecastNote,
  forecastWords,
  forWords,
  moneyOf,
  ownersWords,
  type Share,
} from '../words.ts'

type Params = { org: string; name: string }
type Props = { params: Promise<Params>; searchParams: Promise<Record<string, string | string[] | undefined>> }

/** Values that are offered beside one another; more are reached from the list. */
const VALUES_MOST = 12

const load = cache(async (org: string, name: string, value: string | undefined): Promise<BudgetDetail> => {
  const call = await api()
  try {
    return await call.budget.get({ org, name, ...(value === undefined ? {} : { value }) })
  } catch (error) {
    if (errorCode(error) === 'NOT_FOUND' || errorCode(error) === 'BAD_INPUT' || name.length > 63) notFound()
    throw error
  }
})

export const generateMetadata = titled<Params>(
  ({ name }) => `Budget ${decodeURIComponent(name)}`,
  ({ org, name }) => load(org, decodeURIComponent(name), undefined),
)

export default async function BudgetPage({ params, searchParams }: Props) {
  const { org, name } = await params
  const actor = await requireActor(org)
  const { value } = await readAsked(searchParams, 'value')
  const budget = await load(org, decodeURIComponent(name), value?.slice(0, 100))
  const { share } = budget
  const base = `/${org}/spend/budgets`
  return (
    <>
      <PageHeader
        above={<BackLink href={base}>Budgets</BackLink>}
        title={
          <>
            Budget <Name>{budget.name}</Name>
          </>
        }
        facts={share && <StepPill share={share} />}
        sub={`${amountWords(budget)} for ${forWords(budget)}, ${basisWords(budget.basis)}; ${budget.label}.`}
        actions={
          whyReadOnly(actor) === undefined && (
            <Button
              href={`/${org}/spend/edit-budget?${new URLSearchParams({ name: budget.name })}`}
              icon={<Pencil aria-hidden />}
            >
              Change
            </Button>
          )
        }
      />
      <div className="grid gap-4">
        {budget.shares.length > 1 && budget.shares.length <= VALUES_MOST && (
          <LinkSegments
            label="Of whom"
            items={budget.shares.map(one => ({
              href: `${base}/${budget.name}?${new URLSearchParams({ value: one.value })}`,
              label: one.label,
              current: one.value === share?.value,
            }))}
          />
        )}
        {share ? (
          <Burn budget={budget} share={share} />
        ) : (
          <Banner kind="note" title="You may not see these figures.">
            The budget is of one person or their machine. An owner can open them to you, with a reason that they see.
          </Banner>
        )}
        <StoppedCard org={org} budget={budget.name} stopped={budget.stopped} />
        <Card title="The budget">
          <KeyValue items={factsOf(budget)} />
        </Card>
      </div>
    </>
  )
}

function Burn({ budget, share }: { budget: BudgetDetail; share: Share }) {
  const { currency, zone } = budget
  const amount = parseDecimal(budget.amount) ?? 0n
  const used = parseDecimal(share.used) ?? 0n
  const left = amount - used
  const now = new Date()
  const [first, last] = [budget.start.getTime(), budget.end.getTime() - 1].map(ms =>
    startWords(dateAt(zone, ms), 'day'),
  )
  const whose = share.label ? `, ${share.label}` : ''
  return (
    <>
      <StatTiles count={4}>
        <StatTile
          label="Used"
          value={moneyOf(share.used, currency)}
          note={`${formatPercent(share.usedPct / 100)} of ${moneyOf(budget.amount, currency)}`}
        />
        <StatTile
          label={left < 0n ? 'Over' : 'Left'}
          value={moneyText(left < 0n ? -left : left, { currency })}
          note={Number(share.reserved) > 0 ? `${moneyOf(share.reserved, currency)} of it set aside by runs` : undefined}
        />
        <StatTile
          label="At its end"
          value={forecastWords(share.forecast, currency)}
          note={forecastNote(share, currency)}
        />
        <StatTile
          label={budget.window.startsWith('rolling') ? 'Moves on' : 'Begins anew'}
          value={startWords(budget.next.slice(0, 10), 'day')}
          note={`${budget.next.slice(11)} ${zone}`}
        />
      </StatTiles>
      <Card title="What is left, day by day" sub={`${first} to ${last}`}>
        <BurnChart
          data={burnData(budget, share, now)}
          currency={currency}
          title={`What is left of budget ${budget.name}${whose}, ${first} to ${last}`}
          description={`${moneyText(left < 0n ? 0n : left, { currency })} of ${moneyOf(budget.amount, currency)} is left. Expected at the end: ${forecastWords(share.forecast, currency)}. The table beneath holds every figure.`}
          steps={share.steps.map(({ step }) => step)}
          first={first!}
          last={last!}
        />
        <DayTable budget={budget} />
      </Card>
      <Card title="Steps" sub="each told once in a window">
        <Table
          caption="Steps of the budget"
          rows={share.steps}
          rowKey={({ step }) => String(step)}
          columns={[
            { key: 'step', head: 'Step', cell: ({ step }) => `${step} %` },
            {
              key: 'amount',
              head: 'That is',
              numeric: true,
              cell: ({ step }) => moneyText((amount * BigInt(step)) / 100n, { currency }),
            },
            {
              key: 'told',
              head: 'Owners told',
              numeric: true,
              cell: ({ toldAt, reached }) =>
                toldAt ? (
                  <Time at={toldAt} />
                ) : reached ? (
                  'reached; within a minute'
                ) : (
                  <span className="text-ink-3">not reached</span>
                ),
            },
          ]}
        />
      </Card>
    </>
  )
}

/** Spend of each day; the column adds up to what is used. */
function DayTable({ budget }: { budget: BudgetDetail }) {
  const { currency } = budget
  const amount = parseDecimal(budget.amount) ?? 0n
  const exact = budget.days.map(({ cost }) => parseDecimal(cost) ?? 0n)
  const spent = columnText(exact, { currency })
  // What is left is reckoned from the days as they are shown, so that the columns agree to the cent.
  const { parts } = roundParts(exact, spent.places)
  const money = (pico: bigint) => moneyText(pico, { currency, places: spent.places })
  let left = amount
  const rows = budget.days.map(({ date }, i) => {
    left -= parts[i]!
    return { date, spent: spent.cells[i]!, left: money(left) }
  })
  return (
    <Disclosure summary="The same as a table" className="border-t">
      <Table
        caption={`Spend of each day, budget ${budget.name}`}
        stack={false}
        rows={rows}
        rowKey={({ date }) => date}
        columns={[
          { key: 'date', head: 'Day', nowrap: true, cell: ({ date }) => startWords(date, 'day') },
          { key: 'spent', head: 'Spent', numeric: true, nowrap: true, cell: ({ spent: text }) => text },
          {
            key: 'left',
            head: 'Left at its end',
            numeric: true,
            nowrap: true,
            cell: ({ left: text }) => text,
          },
        ]}
        total={{
          date: 'Total',
          spent: spent.total,
          left: money(left),
        }}
      />
    </Disclosure>
  )
}

function factsOf(budget: BudgetDetail): KeyValueItem[] {
  const { share } = budget
  const items: KeyValueItem[] = [
    { key: 'Amount', value: amountWords(budget) },
    { key: 'Of whom', value: forWords(budget) },
    {
      key: 'Basis',
      value:
        budget.basis === 'billed'
          ? 'Billed: what is paid for by use. Calls under a flat plan count nothing.'
          : 'List price: what the tokens cost whatever plan covers them.',
    },
    { key: 'Window', value: `${budget.window}, by the clock of ${budget.zone}: ${budget.label}` },
    ...(budget.currency === 'USD'
      ? []
      : [{ key: 'Currency', value: `${budget.currency}: dollars of each UTC day at the exchange rate of that day.` }]),
    { key: 'Told', value: ownersWords(budget) },
    {
      key: 'Figures',
      value: 'Self-reported by machines, priced here. A machine adds what it has spent since the last count by itself.',
    },
  ]
  if (share && (parseDecimal(share.bound) ?? 0n) > 0n)
    items.push({
      key: 'Unpriced',
      value: `${moneyOf(share.bound, budget.currency)} of what is used is a bound: models without a price count at the dearest one, so that a budget is never passed unseen.`,
    })
  if (share && (parseDecimal(share.unknown) ?? 0n) > 0n)
    items.push({
      key: 'Cover unknown',
      value: `${moneyOf(formatDecimal(parseDecimal(share.unknown)!), budget.currency)} that may or may not be billed is not counted. Say with covered: in the rule set whether a plan covers it.`,
    })
  return items
}
