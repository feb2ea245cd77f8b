import { ScanSearch } from 'lucide-react'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { figureText, figureTitle } from '#core/approval/describe.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import type { MachineDetail } from '../../outputs.ts'
import { didWords } from '../machine-words.ts'

export function OutcomesCard({ machine }: { machine: MachineDetail }) {
  return (
    <Card
      title="What the organisation’s rules did here"
      sub="the newest hundred"
      note={
        machine.own
          ? 'You see the figures because it is your machine. Others see the rule and what it did.'
          : 'Figures of single calls are shown to the member whose machine it is.'
      }
    >
      <Table
        caption="Outcomes of organisation rules on this machine"
        rows={machine.outcomes}
        rowKey={row => `${row.handle}${row.rule}`}
        columns={[
          {
            key: 'rule',
            head: 'Rule',
            cell: row => (
              <div>
                <code>org:{row.rule}</code>
                <div className="text-ink-3 text-xs">
                  {CLIENT_NAMES[row.client as Client] ?? row.client}, {row.action}
                </div>
              </div>
            ),
          },
          { key: 'did', head: 'What it did', cell: row => didWords(row) },
          ...(machine.own
            ? [
                {
                  key: 'figures',
                  head: 'Figures',
                  cell: (row: MachineDetail['outcomes'][number]) =>
                    row.figures?.map(figure => `${figureTitle(figure)} ${figureText(figure)}`).join(', ') ?? null,
                },
              ]
            : []),
          {
            key: 'at',
            head: 'When',
            numeric: true,
            nowrap: true,
            cell: row => (
              <>
                <Time at={row.at} />
                <code className="block text-ink-3 text-xs">{row.handle}</code>
              </>
            ),
          },
        ]}
        empty={
          <EmptyState icon={<ScanSearch aria-hidden />} title="No rule has been met here">
            As soon as a rule’s conditions hold at a call, in shadow or enforced, it stands here.
          </EmptyState>
        }
      />
    </Card>
  )
}
