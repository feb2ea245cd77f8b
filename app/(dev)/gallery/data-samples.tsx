import { Laptop } from 'lucide-react'
import { Button } from '#app/_ui/button.tsx'
import { Card } from '#app/_ui/card.tsx'
import { CodeBlock } from '#app/_ui/code-block.tsx'
import { CodeLine } from '#app/_ui/code-line.tsx'
import { DiffView } from '#app/_ui/diff-view.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { ErrorState } from '#app/_ui/error-state.tsx'
import { formatCount, formatPercent } from '#app/_ui/format.ts'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Money } from '#app/_ui/money.tsx'
import { Pager } from '#app/_ui/pager.tsx'
import { Pill, type PillState } from '#app/_ui/pill.tsx'
import { ProgressBar } from '#app/_ui/progress-bar.tsx'
import { SkeletonRows, SkeletonTile } from '#app/_ui/skeleton.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { AFTER, BEFORE } from './sample-text.ts'

type Row = { name: string; used: number; tone: 'accent' | 'waiting'; calls: number; spend: string; at: string }
const ROWS: Row[] = [
  { name: 'Billing', used: 0.62, tone: 'accent', calls: 18204, spend: '3104.88', at: '2026-07-22T10:12:00Z' },
  { name: 'Search', used: 0.91, tone: 'waiting', calls: 12930, spend: '2730.02', at: '2026-07-22T23:40:00Z' },
  { name: 'Research', used: 0.2, tone: 'accent', calls: 3008, spend: '0.0042', at: '2026-07-01T00:00:00Z' },
]
const BINDS: { client: string; level: string; state: PillState; machines: number }[] = [
  { client: 'Claude Code', level: 'managed', state: 'passed', machines: 31 },
  { client: 'Codex', level: 'user hook', state: 'waiting', machines: 9 },
  { client: 'Cursor', level: 'advice only', state: 'shadow', machines: 3 },
]

/** Tables, lists, text and what stands in their place. */
export function DataSamples() {
  return (
    <>
      <Card title="Table" note="Every grouping adds up to the same total.">
        <Table
          caption="Spend by tenant"
          rows={ROWS}
          rowKey={row => row.name}
          total={{ name: 'Total', calls: '34,142', spend: <Money amount="5834.9042" currency="USD" /> }}
          columns={[
            { key: 'name', head: 'Tenant', cell: row => row.name },
            {
              key: 'used',
              head: 'Budget',
              wideOnly: true,
              className: 'w-1/4',
              cell: row => <ProgressBar label={`${row.name}, budget used`} fraction={row.used} tone={row.tone} />,
            },
            { key: 'share', head: 'Used', numeric: true, cell: row => formatPercent(row.used) },
            { key: 'calls', head: 'Calls', numeric: true, cell: row => formatCount(row.calls) },
            { key: 'spend', head: 'Spend', numeric: true, cell: row => <Money amount={row.spend} currency="USD" /> },
            { key: 'at', head: 'Last call', cell: row => <Time at={row.at} /> },
            { key: 'open', head: 'Open', hideHead: true, numeric: true, cell: () => <Button size="sm">Open</Button> },
          ]}
        />
        <div className="border-t">
          <Pager label="Pages of tenants" nextHref="/gallery?after=3">
            1–3 of 214
          </Pager>
        </div>
      </Card>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card
          title="What was crossed"
          note="You see numbers and names from fixed lists. No prompt, path or code left the machine."
        >
          <KeyValue
            items={[
              { key: 'Rule', value: <code>org:session-spend</code> },
              { key: 'Action', value: 'continue' },
              { key: 'Asked', value: <Time at="2026-07-22T10:12:00Z" /> },
              { key: 'Why the rule exists', value: 'Long sessions get a second pair of eyes.' },
            ]}
          />
        </Card>
        <Card title="Where it binds" aside="43 machines">
          <Table
            caption="How far each client is bound"
            hideHead
            stack={false}
            rows={BINDS}
            rowKey={row => row.client}
            columns={[
              { key: 'client', head: 'Client', cell: row => row.client },
              { key: 'level', head: 'Level', cell: row => <Pill state={row.state}>{row.level}</Pill> },
              { key: 'machines', head: 'Machines', numeric: true, cell: row => `${row.machines} machines` },
            ]}
          />
        </Card>
      </div>
      <Card title="Changes" sub="version 12 and the draft">
        <DiffView before={BEFORE} after={AFTER} label="version 12 and the draft" />
      </Card>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Card title="Commands" padded>
          <div className="grid gap-3">
            <CodeLine command text="curl -fsSL https://holdpoint.acme.example/o/acme | sh -s -- 3f9a1c77d2" />
            <CodeLine text="sha256:1a2b3c4d5e6f" label="Copy digest" />
          </div>
        </Card>
        <Card title="Version 12">
          <CodeBlock label="Version 12, YAML" text={BEFORE} />
        </Card>
        <Card>
          <EmptyState
            icon={<Laptop aria-hidden />}
            title="No machine has joined yet"
            action={<Button variant="primary">Add a machine</Button>}
          >
            Rules reach an agent through a connector on its machine. Adding one takes a minute and one line in a
            terminal.
          </EmptyState>
        </Card>
        <Card>
          <ErrorState title="The page could not be loaded" reference="req-7f3a" action={<Button>Try again</Button>}>
            Nothing was changed. Machines keep the rules they have.
          </ErrorState>
        </Card>
        <Card title="Loading">
          <SkeletonRows rows={3} />
        </Card>
        <SkeletonTile />
      </div>
    </>
  )
}
