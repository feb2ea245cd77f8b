import { SearchX } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Field } from '#app/_ui/field.tsx'
import { formatCount, NONE } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Pager } from '#app/_ui/pager.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { Select } from '#app/_ui/select.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { PRICE_AXES, type PriceAxis } from '#core/pricing.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { PriceList } from '../../outputs.ts'
import { AXIS_NAMES, daysWords, priceText, providerName } from './words.ts'

type Row = PriceList['models'][number]
type Props = { org: string; list: PriceList; search: string; provider: string; card: string }

/** Every model that has a price, with what it costs today and the days on which it changes. */
export function CardList({ org, list, search, provider, card }: Props) {
  const base = `/${org}/spend/rates`
  const href = (page: number) => {
    const query = new URLSearchParams({
      ...(search && { q: search }),
      ...(provider && { provider }),
      ...(page > 1 && { page: String(page) }),
    })
    return `${base}${query.size > 0 ? `?${query}` : ''}#card`
  }
  const price = (axis: PriceAxis): Column<Row> => ({
    key: axis,
    head: AXIS_NAMES[axis],
    numeric: true,
    nowrap: true,
    wideOnly: axis === 'webSearches',
    cell: ({ entries }) => {
      const now = entries.find(entry => entry.now)
      if (!now) return <span className="text-ink-3">{NONE}</span>
      return axis === 'webSearches' && now.prices[axis] === '0' ? NONE : priceText(now.prices[axis])
    },
  })
  return (
    <Card
      id="card"
      title="Prices in force"
      sub={`dollars per million tokens, today; list prices of ${card}`}
      aside={<CsvLink org={org} list="rate-card" />}
      note="A model is priced by its exact id or one of these names, never by a part of one. Prices are laid down here and not fetched: nothing changes unless this server is updated or you publish a price."
    >
      <search className="block border-b px-4 py-3">
        <form
          key={`${search} ${provider}`}
          aria-label="Find a model"
          action={`${base}#card`}
          method="get"
          className="flex flex-wrap items-end gap-3"
        >
          <Field label="Model" className="w-56">
            <TextInput name="q" defaultValue={search} maxLength={100} placeholder="part of an id" />
          </Field>
          <Field label="Provider" className="w-40">
            <Select
              name="provider"
              defaultValue={provider}
              placeholder="All"
              options={list.providers.map(value => ({ value, label: providerName(value) }))}
            />
          </Field>
          <Button type="submit">Find</Button>
          {(search || provider) && (
            <Button href={`${base}#card`} variant="ghost">
              Clear
            </Button>
          )}
          <span className="ml-auto self-center text-ink-3 text-xs">
            {formatCount(list.found)} of {formatCount(list.all)} models
          </span>
        </form>
      </search>
      <Table
        caption="Prices in force"
        rows={list.models}
        rowKey={({ provider: of, id }) => `${of} ${id}`}
        empty={
          <EmptyState headingLevel={3} icon={<SearchX aria-hidden />} title="No model is called like that">
            Usage of a model that is not here counts as set above, and is listed at the top of this page.
          </EmptyState>
        }
        columns={[{ key: 'model', head: 'Model', cell: row => <ModelCell row={row} /> }, ...PRICE_AXES.map(price)]}
      />
      {list.pages > 1 && (
        <div className="border-t">
          <Pager
            label="Pages of prices"
            {...(list.page > 1 && { previousHref: href(list.page - 1) })}
            {...(list.page < list.pages && { nextHref: href(list.page + 1) })}
          >
            Page {list.page} of {list.pages}
          </Pager>
        </div>
      )}
    </Card>
  )
}

function ModelCell({ row: { id, provider, aliases, entries } }: { row: Row }) {
  const now = entries.find(entry => entry.now)
  const more = entries.length > 1 || now?.long
  return (
    <div className="min-w-0">
      <div className="flex min-w-0 flex-wrap items-center gap-x-2">
        <Name inTable className="font-medium font-mono text-sm">
          {id}
        </Name>
        {now?.whose === 'override' && <Pill state="shadow">your price</Pill>}
      </div>
      <div className="text-ink-3 text-xs">{providerName(provider)}</div>
      {aliases.length > 0 && (
        <div title={aliases.join(', ')} className="max-w-56 truncate text-ink-3 text-xs @max-[35rem]:max-w-full">
          also {aliases.join(', ')}
        </div>
      )}
      {more && (
        <details className="mt-0.5 text-xs">
          <summary className="link cursor-pointer">
            {entries.length > 1 ? `${entries.length} dated prices` : 'large calls cost more'}
          </summary>
          <ul className="mt-1 grid gap-1 text-ink-2">
            {entries.map(({ from, until, whose, prices, long }) => (
              <li key={`${from} ${whose}`}>
                {daysWords(from, until)}
                {whose === 'override' && ', your price'}: {priceText(prices.input)} in, {priceText(prices.output)} out
                {long &&
                  `; above ${formatCount(long.above)} input tokens ${priceText(long.prices.input)} in, ${priceText(long.prices.output)} out`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
