import { CircleCheck } from 'lucide-react'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatCount } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { Table } from '#app/_ui/table.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { parseDecimal } from '#core/decimal.ts'
import { moneyText } from '#core/spend/round.ts'
import { CsvLink } from '../../csv-link.tsx'
import type { Unattributed, Unlisted } from '../../outputs.ts'
import { roundColumn } from '../figures.ts'
import { LinkSegments } from '../link-segments.tsx'
import { startWords } from '../period.ts'
import { providerName } from '../rates/words.ts'
import { keyName } from './words.ts'

const SHOWN = 50

type Props = {
  org: string
  tag: string
  keys: readonly string[]
  period: { from: string; to: string; days: number }
  why: Unattributed
}

/** Where usage without a tag comes from, as far as machines tell: what it was done in stays on them. */
export function WhyCard({ org, tag, keys, period, why }: Props) {
  const costs = why.rows.map(({ cost }) => parseDecimal(cost) ?? 0n)
  const column = roundColumn(costs, 'USD')
  const shown = why.rows.slice(0, SHOWN)
  return (
    <Card
      id="why"
      title={`Without a ${tag}`}
      sub={`where it comes from, ${period.days} days`}
      aside={
        <>
          <LinkSegments
            label="Tag"
            items={keys.map(key => ({
              href: `/${org}/spend/attribution?key=${key}#why`,
              label: keyName(key),
              current: key === tag,
            }))}
          />
          <CsvLink org={org} list="unattributed" query={{ key: tag, from: period.from, to: period.to }} />
        </>
      }
      note={
        why.rows.length > 0 &&
        'No rule matched, and nobody set it by hand. Which repository and folder it was stays on the machine: “holdpoint history --by repository” and “--by directory” show it there. Bounds of models without a price are in these amounts.'
      }
    >
      <Table
        caption={`Usage without a ${tag}`}
        rows={shown}
        rowKey={({ machine, client, provider, model }) => `${machine?.id} ${client} ${provider} ${model}`}
        empty={
          <EmptyState headingLevel={3} icon={<CircleCheck aria-hidden />} title={`All usage has a ${tag}`}>
            Usage that no rule matches will stand here with its machine, client and model.
          </EmptyState>
        }
        columns={[
          {
            key: 'machine',
            head: 'Machine',
            cell: ({ machine, member }) =>
              machine ? (
                <div className="min-w-0">
                  <Name inTable className="font-medium">
                    {machine.label}
                  </Name>
                  {member && (
                    <div className="text-ink-3 text-xs">
                      <Name inTable>{member}</Name>
                    </div>
                  )}
                </div>
              ) : (
                <span className="text-ink-2">Others</span>
              ),
          },
          {
            key: 'model',
            head: 'Client and model',
            cell: ({ client, provider, model }) => (
              <div className="min-w-0">
                <div>{CLIENT_NAMES[client as Client] ?? client}</div>
                <div className="text-ink-3 text-xs">
                  <Name inTable>{`${providerName(provider)}, ${model}`}</Name>
                </div>
              </div>
            ),
          },
          {
            key: 'first',
            head: 'First seen',
            nowrap: true,
            wideOnly: true,
            cell: ({ first }) => startWords(first, 'day'),
          },
          { key: 'calls', head: 'Calls', numeric: true, cell: ({ calls }) => formatCount(calls) },
          {
            key: 'cost',
            head: 'Spend',
            numeric: true,
            nowrap: true,
            cell: row => {
              const at = why.rows.indexOf(row)
              return moneyText(column.parts[at]!, { places: column.places, exact: costs[at]! })
            },
          },
          { key: 'share', head: 'Of all', numeric: true, nowrap: true, cell: ({ sharePct }) => `${sharePct} %` },
        ]}
        {...(shown.length === why.rows.length &&
          why.rows.length > 0 && {
            total: { machine: 'Total', cost: moneyText(column.total, { places: column.places }) },
          })}
      />
    </Card>
  )
}

/** What machines hold back because it is on no list, and what helps. */
export function UnlistedCard({ org, rows, period }: { org: string; rows: Unlisted; period: Props['period'] }) {
  return (
    <Card
      title="Kept on machines"
      sub={`values on no list, ${period.days} days`}
      aside={<CsvLink org={org} list="unlisted" query={{ from: period.from, to: period.to }} />}
      note={
        rows.length > 0 &&
        'On that machine “holdpoint history --by” and the tag names the value. Either list it above, or correct it there: in the repository’s .holdpoint.yaml or in HOLDPOINT_TAGS.'
      }
    >
      <Table
        caption="Usage whose tag is on no list"
        rows={rows.slice(0, SHOWN)}
        stack={false}
        rowKey={({ key, machine }) => `${key} ${machine?.id}`}
        empty={
          <p className="px-4 py-3 text-ink-2">
            Nothing: every value that machines know is on a list, or they know none.
          </p>
        }
        columns={[
          {
            key: 'machine',
            head: 'Machine',
            cell: ({ machine, key }) => (
              <div className="min-w-0">
                <Name inTable className="font-medium">
                  {machine?.label ?? 'Others'}
                </Name>
                <div className="text-ink-3 text-xs">{keyName(key)}</div>
              </div>
            ),
          },
          {
            key: 'cost',
            head: 'Spend',
            numeric: true,
            nowrap: true,
            cell: ({ cost }) => moneyText(parseDecimal(cost) ?? 0n),
          },
          { key: 'share', head: 'Of its all', numeric: true, nowrap: true, cell: ({ sharePct }) => `${sharePct} %` },
        ]}
      />
    </Card>
  )
}
