import { Plus, Tag } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { PRICE_AXES, type PriceAxis } from '#core/pricing.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { OwnPrices } from '../../outputs.ts'
import { AXIS_NAMES, daysWords, priceOf, priceText, providerName } from './words.ts'

type Row = OwnPrices['overrides'][number]

/** The organisation's own prices, as the signed rules have them. */
export function OwnCard({ org, own, mayEdit }: { org: string; own: OwnPrices; mayEdit: boolean }) {
  const price = (axis: PriceAxis): Column<Row> => ({
    key: axis,
    head: AXIS_NAMES[axis],
    numeric: true,
    nowrap: true,
    wideOnly: axis === 'webSearches',
    cell: ({ was }) => {
      const text = priceOf(was, axis)
      return text === undefined ? <span className="text-ink-3">{NONE}</span> : priceText(text)
    },
  })
  return (
    <Card
      title="Your own prices"
      sub="dollars per million tokens"
      aside={
        <>
          <CsvLink org={org} list="own-prices" />
          {mayEdit && (
            <Button size="sm" href={`/${org}/spend/edit-rate`} icon={<Plus aria-hidden />}>
              Add a price
            </Button>
          )}
        </>
      }
      note={
        own.overrides.length > 0 &&
        'Each holds from its day on, instead of the list price. A cache price that is left out falls to the input price, never to nothing.'
      }
    >
      <Table
        caption="Your own prices"
        rows={own.overrides}
        rowKey={({ index }) => String(index)}
        empty={
          <EmptyState headingLevel={3} icon={<Tag aria-hidden />} title="The list prices hold">
            A price of your own, from a day on: for a model that no list has, or for what a contract says.
          </EmptyState>
        }
        columns={[
          {
            key: 'model',
            head: 'Model',
            cell: ({ index, was, ended, begins }) => (
              <div className="min-w-0">
                <Name inTable className="font-medium font-mono text-sm">
                  {String(was.model)}
                </Name>
                <div className="flex flex-wrap gap-x-2 text-ink-3 text-xs">
                  {providerName(String(was.provider))},{' '}
                  {daysWords(
                    was.from === undefined ? null : String(was.from),
                    was.until === undefined ? null : String(was.until),
                  )}
                  {ended && <Pill state="neutral">ended</Pill>}
                  {begins && <Pill state="shadow">not yet</Pill>}
                </div>
                {Array.isArray(was.aliases) && (
                  <div className="text-ink-3 text-xs">also {(was.aliases as string[]).join(', ')}</div>
                )}
                {mayEdit && (
                  <Button
                    size="sm"
                    variant="ghost"
                    className="-ml-2"
                    href={`/${org}/spend/edit-rate?index=${index}`}
                    aria-label={`Change or end the price of ${String(was.model)}`}
                  >
                    Change or end
                  </Button>
                )}
              </div>
            ),
          },
          ...PRICE_AXES.map(price),
        ]}
      />
    </Card>
  )
}
