import { CircleCheck } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatList, formatPlural } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Table } from '#app/_ui/table.tsx'
import { parseDecimal } from '#core/decimal.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import { moneyText } from '#core/spend/round.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { UnpricedModels } from '../../outputs.ts'
import { roundColumn } from '../figures.ts'
import { LinkSegments } from '../link-segments.tsx'
import { providerName, tokenParts } from './words.ts'

type Model = UnpricedModels['models'][number]
type Props = {
  org: string
  models: readonly Model[]
  period: { from: string; to: string; days: number }
  spans: readonly { days: number; label: string }[]
  /** Whether the reader may publish prices, and may price anew. */
  mayEdit: boolean
  mayReprice: boolean
}

/** Models that usage names and no price knows: what they count as, and the way to a price. */
export function UnpricedCard({ org, models, period, spans, mayEdit, mayReprice }: Props) {
  const base = `/${org}/spend`
  const amounts = roundColumn(
    models.map(({ cost }) => parseDecimal(cost) ?? 0n),
    'USD',
  )
  return (
    <Card
      id="unpriced"
      title="Models without a price"
      sub="never counted as nothing unless you say so"
      aside={
        <>
          <LinkSegments
            label="Period"
            items={spans.map(({ days, label }) => ({
              href: `${base}/rates?days=${days}#unpriced`,
              label,
              current: days === period.days,
            }))}
          />
          <CsvLink org={org} list="unpriced-models" query={{ from: period.from, to: period.to }} />
        </>
      }
      note={
        models.length > 0 &&
        'Until a model has a price, caps and budgets count its calls at the bound, and totals leave them out and say “at most” beside them.'
      }
    >
      <Table
        caption="Models without a price"
        rows={models}
        rowKey={({ model, provider, rate }) => `${provider} ${model} ${rate}`}
        empty={
          <EmptyState headingLevel={3} icon={<CircleCheck aria-hidden />} title="Every model that was used has a price">
            A model that usage names and no price knows will stand here, with what it counts as until it has one.
          </EmptyState>
        }
        columns={[
          {
            key: 'model',
            head: 'Model',
            cell: row => <ModelCell row={row} />,
          },
          {
            key: 'tokens',
            head: 'Calls and tokens',
            cell: ({ calls, tokens, machines }) => (
              <>
                <div>
                  {formatPlural(calls, 'call')} on {formatPlural(machines, 'machine')}
                </div>
                <div className="text-ink-3 text-xs">
                  {PRICE_AXES.some(axis => tokens[axis] > 0) ? tokenParts(tokens) : 'no tokens'}
                </div>
              </>
            ),
          },
          {
            key: 'amount',
            head: 'Counts as',
            numeric: true,
            cell: row => {
              const at = models.indexOf(row)
              const text = moneyText(amounts.parts[at]!, {
                places: amounts.places,
                exact: parseDecimal(row.cost) ?? 0n,
              })
              return (
                <>
                  <div className="whitespace-nowrap font-medium">
                    {row.rate === 'fallback' ? `at most ${text}` : text}
                  </div>
                  <div className="text-ink-3 text-xs">{howCounted(row)}</div>
                </>
              )
            },
          },
          {
            key: 'act',
            head: 'What to do',
            hideHead: true,
            className: 'text-right',
            cell: row => <Act {...{ base, row, mayEdit, mayReprice }} />,
          },
        ]}
      />
    </Card>
  )
}

function ModelCell({ row: { model, provider, didYouMean, first, last, hasPrice } }: { row: Model }) {
  return (
    <div className="min-w-0">
      <Name inTable className="font-medium font-mono text-sm">
        {model}
      </Name>
      <div className="text-ink-3 text-xs">
        {providerName(provider)}, {first === last ? `on ${first}` : `${first} to ${last}`}
      </div>
      {didYouMean && hasPrice === 'no' && (
        <div className="text-ink-2 text-xs">
          Did you mean <code>{didYouMean}</code>? It is not priced as that.
        </div>
      )}
    </div>
  )
}

function howCounted({ rate, setBy }: Model): string {
  if (rate === 'zero') return 'counted as nothing, by your setting'
  if (rate === 'substitute') return 'at another model’s price, by your setting'
  return setBy.length === 0 ? 'at the dearest price' : `the price of ${formatList(setBy)}`
}

type ActProps = { base: string; row: Model; mayEdit: boolean; mayReprice: boolean }

function Act({ base, row: { model, provider, first, hasPrice }, mayEdit, mayReprice }: ActProps) {
  if (hasPrice !== 'no')
    return (
      <div className="flex flex-wrap items-center justify-end gap-2">
        <Pill state="waiting">{hasPrice === 'yes' ? 'has a price now' : 'has a price for a part'}</Pill>
        {mayReprice && (
          <Button size="sm" href={`${base}/reprice?from=${first}`} aria-label={`Reprice ${model}`}>
            Reprice…
          </Button>
        )}
      </div>
    )
  if (!mayEdit || model === 'unknown') return null
  const query = new URLSearchParams({ model, provider, from: first })
  return (
    <Button size="sm" href={`${base}/edit-rate?${query}`} aria-label={`Give ${model} a price`}>
      Give it a price
    </Button>
  )
}
