import { Card } from '#app/_ui/card.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { BudgetDetail } from './words.ts'

/** Whom the budget has stopped in this window: oneself, and those whose figures one sees; the others as a number. */
export function StoppedCard({
  org,
  budget,
  stopped,
}: {
  org: string
  budget: string
  stopped: BudgetDetail['stopped']
}) {
  const { people, withheld } = stopped
  if (people.length === 0 && withheld === 0) return null
  return (
    <Card
      title="Stopped by it in this window"
      sub="the first time of each person"
      aside={people.length > 0 && <CsvLink org={org} list="budget-stops" query={{ name: budget }} />}
      note={
        withheld > 0 &&
        `${formatPlural(withheld, people.length > 0 ? 'other person' : 'person', people.length > 0 ? 'other people' : 'people')} whose figures you do not see ${withheld === 1 ? 'was' : 'were'} stopped${people.length > 0 ? ' too' : ''}.`
      }
    >
      {people.length > 0 && (
        <Table
          caption="Who was stopped by this budget"
          rows={people}
          rowKey={({ memberId }) => memberId}
          columns={[
            {
              key: 'who',
              head: 'Who',
              cell: ({ name, own }) => (
                <div className="min-w-0">
                  <Name inTable className="font-medium">
                    {name}
                  </Name>
                  {own && <span className="text-ink-3"> (you)</span>}
                </div>
              ),
            },
            { key: 'when', head: 'When', nowrap: true, cell: ({ at }) => <Time at={at} /> },
            {
              key: 'what',
              head: 'What happened',
              cell: ({ did, client, rule }) => (
                <>
                  {CLIENT_NAMES[client as Client] ?? client} was {did === 'refused' ? 'refused' : 'held'} by{' '}
                  <Name inTable>{rule}</Name>
                </>
              ),
            },
            {
              key: 'used',
              head: 'Used then',
              numeric: true,
              nowrap: true,
              cell: ({ usedPct }) => (usedPct === null ? '' : usedPct === 'unread' ? 'unread' : `${usedPct} %`),
            },
          ]}
        />
      )}
    </Card>
  )
}
