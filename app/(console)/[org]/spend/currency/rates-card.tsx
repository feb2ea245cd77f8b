import { ArrowLeftRight, Plus } from 'lucide-react'
import Link from 'next/link'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatPlural, NONE } from '#app/_ui/format.ts'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import { CsvLink } from '../../csv-link.tsx'
import type { CurrencyRates } from '../../outputs.ts'
import { currencyName } from './words.ts'

const STATES = {
  now: { word: 'in force', tone: 'passed' },
  later: { word: 'not yet', tone: 'shadow' },
  past: { word: 'past', tone: 'neutral' },
} as const

/** Every exchange rate of the signed rules, by currency, the newest first. */
export function RatesCard({ org, view, mayEdit }: { org: string; view: CurrencyRates; mayEdit: boolean }) {
  const { rates, budgets, currency } = view
  const usedBy = (code: string) => {
    const own = budgets.filter(budget => budget.currency === code)
    return { billing: code === currency, budgets: own.length }
  }
  return (
    <Card
      title="Exchange rates"
      sub="what one US dollar is"
      aside={
        <>
          <CsvLink org={org} list="exchange-rates" />
          {mayEdit && (
            <Button size="sm" href={`/${org}/spend/edit-exchange`} icon={<Plus aria-hidden />}>
              Add a rate
            </Button>
          )}
        </>
      }
      note={
        rates.length > 0 &&
        'Each holds from its day on, until the next of its currency. Changing one of a past day changes every report and open statement of the days it holds for, and no closed month.'
      }
    >
      <Table
        caption="Exchange rates"
        rows={rates}
        rowKey={({ index }) => String(index)}
        empty={
          <EmptyState headingLevel={3} icon={<ArrowLeftRight aria-hidden />} title="Everything is in US dollars">
            With a rate of another currency, budgets can be set in it, and an owner can have the organisation billed in
            it.
          </EmptyState>
        }
        columns={[
          {
            key: 'currency',
            head: 'Currency',
            cell: rate => (
              <div className="min-w-0">
                <span className="font-medium">{rate.currency}</span>{' '}
                <span className="text-ink-2">{currencyName(rate.currency)}</span>
              </div>
            ),
          },
          { key: 'from', head: 'From (UTC)', nowrap: true, cell: ({ from }) => from },
          {
            key: 'rate',
            head: 'One dollar is',
            numeric: true,
            nowrap: true,
            cell: ({ perUsd, currency: code }) => `${perUsd} ${code}`,
          },
          {
            key: 'state',
            head: 'State',
            nowrap: true,
            cell: ({ state }) => <Pill state={STATES[state].tone}>{STATES[state].word}</Pill>,
          },
          {
            key: 'used',
            head: 'Used by',
            wideOnly: true,
            cell: ({ currency: code }) => {
              const { billing, budgets: count } = usedBy(code)
              if (!billing && count === 0) return <span className="text-ink-3">{NONE}</span>
              return (
                <>
                  {billing && 'billing'}
                  {billing && count > 0 && ', '}
                  {count > 0 && (
                    <Link href={`/${org}/spend/budgets`} className="hover:underline">
                      {formatPlural(count, 'budget')}
                    </Link>
                  )}
                </>
              )
            },
          },
          ...(mayEdit
            ? [
                {
                  key: 'edit',
                  head: 'Change',
                  hideHead: true,
                  nowrap: true,
                  numeric: true,
                  className: '@max-[35rem]:justify-end',
                  cell: ({ index, currency: code, from }: CurrencyRates['rates'][number]) => (
                    <Button
                      size="sm"
                      variant="ghost"
                      href={`/${org}/spend/edit-exchange?index=${index}`}
                      aria-label={`Change the rate of ${code} from ${from}`}
                    >
                      Change
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
    </Card>
  )
}
