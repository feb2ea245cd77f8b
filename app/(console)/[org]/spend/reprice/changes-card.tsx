import { Card } from '#app/_ui/card.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { monthWords } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import { moneyText } from '#core/spend/round.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { RepricePreview } from '../../outputs.ts'
import { providerName } from '../rates/words.ts'

type Row = RepricePreview['rows'][number]
type Amounts = Row['old']

/** What pricing anew would make of each model in each month, beside what stands now. */
export function ChangesCard({
  org,
  preview,
  from,
  to,
}: {
  org: string
  preview: RepricePreview
  from: string
  to: string
}) {
  const { rows, version } = preview
  const columns: Column<Row>[] = [
    {
      key: 'model',
      head: 'Model',
      cell: ({ model, provider, month, closed }) => (
        <div className="min-w-0">
          <Name inTable className="font-medium font-mono text-sm">
            {model}
          </Name>
          <div className="flex flex-wrap items-center gap-x-2 text-ink-3 text-xs">
            {providerName(provider)}, {monthWords(month)}
            {closed && <Pill state="waiting">month is closed</Pill>}
          </div>
        </div>
      ),
    },
    { key: 'old', head: 'Now', numeric: true, nowrap: true, cell: row => <Side amounts={row.old} /> },
    { key: 'new', head: 'Then', numeric: true, nowrap: true, cell: row => <Side amounts={row.new} strong /> },
  ]
  return (
    <Card
      title="What would change"
      sub={`by version ${version} of the rules, ${from} to ${to}`}
      aside={<CsvLink org={org} list="reprice-preview" query={{ from, to }} />}
      note="Only what changes is listed; the last row is all usage of these days. “At most” is of models without a price and stands beside totals, never in them."
    >
      <Table
        caption="What would change"
        rows={rows}
        rowKey={({ month, provider, model }) => `${month} ${provider} ${model}`}
        columns={columns}
        total={{
          model: 'All usage of these days',
          old: <Side amounts={preview.old} />,
          new: <Side amounts={preview.new} />,
        }}
      />
    </Card>
  )
}

function Side({ amounts: { priced, atMost }, strong }: { amounts: Amounts; strong?: boolean }) {
  const money = (text: string) => {
    const pico = parseDecimal(text) ?? 0n
    return moneyText(pico)
  }
  return (
    <>
      <div className={strong ? 'font-medium' : undefined}>{money(priced)}</div>
      {atMost !== '0' && <div className="text-ink-3 text-xs">and at most {money(atMost)}</div>}
    </>
  )
}
