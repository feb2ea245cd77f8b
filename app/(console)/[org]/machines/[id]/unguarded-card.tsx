import { Card } from '#app/_ui/card.tsx'
import { formatCount } from '#app/_ui/format.ts'
import { Table } from '#app/_ui/table.tsx'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import type { MachineDetail } from '../../outputs.ts'

/** Tool calls without a decision; nothing where there are none. */
export function UnguardedCard({ machine }: { machine: MachineDetail }) {
  if (machine.unguarded.length === 0) return null
  return (
    <Card
      title="Calls that nobody judged"
      sub="found afterwards in the agents’ own transcripts"
      note="The daemon was down or the hook was missing then. The calls ran."
    >
      <Table
        caption="Tool calls without a decision, by day"
        stack={false}
        rows={machine.unguarded}
        rowKey={row => `${row.client}${row.day.toISOString()}`}
        columns={[
          { key: 'day', head: 'Day (UTC)', cell: row => row.day.toISOString().slice(0, 10) },
          { key: 'client', head: 'Agent', cell: row => CLIENT_NAMES[row.client as Client] ?? row.client },
          { key: 'calls', head: 'Calls', numeric: true, cell: row => formatCount(row.calls) },
        ]}
      />
    </Card>
  )
}
