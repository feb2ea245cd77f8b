import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatCount } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { parseDecimal } from '#core/decimal.ts'
import { moneyText } from '#core/spend/round.ts'
import type { SpendAsked } from './asked.ts'
import { figureOfShown, type Report, roundInto } from './figures.ts'

const MOST = 5

type Props = {
  org: string
  asked: SpendAsked
  /** The usage without a value of the key, by machine and by client. */
  byMachine: Report
  byClient: Report
  /** What they come to in the page's table; both lists add up to it. */
  none: { amount: bigint; places: number }
  /** What stood under values that are on no list; a decimal. */
  unlisted: string | undefined
}

/** Why usage has no value of a key, where it comes from, and what to write so that it has one. */
export function UnattributedCard({ org, asked, byMachine, byClient, none, unlisted }: Props) {
  const key = asked.by.slice(4)
  const from = (report: Report, kind: string) => {
    const exact = report.rows.map(({ total }) => figureOfShown(total, asked.basis).amount)
    const parts = roundInto(exact, none.amount, none.places)
    return report.rows
      .map(({ value, label, total }, i) => ({
        kind,
        value,
        label,
        calls: total.calls,
        amount: moneyText(parts[i]!, { currency: report.currency, places: none.places, exact: exact[i]! }),
      }))
      .slice(0, MOST)
  }
  const rows = [...from(byMachine, 'Machine'), ...from(byClient, 'Client')]
  return (
    <Card
      title="Unattributed"
      sub="why, and from where"
      note={
        <>
          A{' '}
          <Link className="link" href={`/${org}/spend/attribution?key=${key}`}>
            rule of attribution
          </Link>{' '}
          gives later calls their {key}; a person can also set it for a repository or a run.
        </>
      }
    >
      <p className="border-b px-4 py-2.5 text-ink-2">
        No rule matches the repository, folder, machine or person of these calls, and nobody set the {key} by hand. They
        stand here by machine, and the same ones once more by client.
        {unlisted !== undefined && (
          <>
            {' '}
            {moneyText(parseDecimal(unlisted) ?? 0n, { currency: byMachine.currency })} of this period’s usage had a{' '}
            {key} that is on no list of yours; such names stay on the machine.
          </>
        )}
      </p>
      <Table
        caption={`Where usage without a ${key} comes from`}
        rows={rows}
        stack={false}
        rowKey={({ kind, value }) => `${kind} ${value}`}
        columns={[
          {
            key: 'name',
            head: 'From',
            cell: ({ kind, value, label }) => (
              <span className="flex min-w-0 items-baseline gap-2">
                <span className="shrink-0 text-ink-3 text-xs">{kind}</span>
                <Name className="max-w-24 sm:max-w-44">
                  {(kind === 'Client' && CLIENT_NAMES[value as Client]) || (label ?? value ?? '')}
                </Name>
              </span>
            ),
          },
          { key: 'calls', head: 'Calls', numeric: true, cell: ({ calls }) => formatCount(calls) },
          {
            key: 'amount',
            head: 'Spend',
            numeric: true,
            nowrap: true,
            cell: ({ amount }) => amount,
          },
        ]}
      />
    </Card>
  )
}
