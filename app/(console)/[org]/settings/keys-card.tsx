import { Card } from '#app/_ui/card.tsx'
import { CopyButton } from '#app/_ui/copy-button.tsx'
import { Disclosure } from '#app/_ui/disclosure.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Pill } from '#app/_ui/pill.tsx'
import { type Column, Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { CsvLink } from '../csv-link.tsx'
import type { Settings } from '../outputs.ts'
import { RotateKey } from './rotate-key.tsx'
import { type ShownKey, shownKeys } from './setting-words.ts'

/** The keys whose public halves every machine pins, and the number and digest by which people compare them. */
export function KeysCard({ org, settings, mayRotate }: { org: string; settings: Settings; mayRotate: boolean }) {
  const { root } = settings
  const { current, retired, committed } = shownKeys(settings.keys)
  const columns = (withAct: boolean): Column<ShownKey>[] => [
    {
      key: 'name',
      head: 'Key',
      cell: ({ words }) => (
        <div>
          <div className="font-medium">{words.name}</div>
          <div className="font-normal text-ink-3 text-xs">signs {words.signs}</div>
        </div>
      ),
    },
    { key: 'kid', head: 'Thumbprint', cell: ({ kid }) => <code className="break-all text-xs">{kid}</code> },
    {
      key: 'since',
      head: withAct ? 'Since' : 'Retired',
      nowrap: true,
      cell: key => <Time at={withAct ? key.createdAt : key.retiredAt!} show="day" />,
    },
    ...(withAct && mayRotate
      ? [
          {
            key: 'act',
            head: 'Act',
            hideHead: true,
            numeric: true,
            className: '@max-[35rem]:justify-end',
            cell: (key: ShownKey) => (
              <RotateKey org={org} role={key.role} name={key.words.name} rotating={key.words.rotating} />
            ),
          },
        ]
      : []),
  ]
  return (
    <Card
      id="keys"
      title="Keys"
      aside={
        <>
          <Pill state="neutral">
            {root.custody === 'server' ? 'attested by the control plane' : 'held by the owners'}
          </Pill>
          <CsvLink org={org} list="keys" />
        </>
      }
      note={
        root.custody === 'server'
          ? 'The control plane keeps these keys itself, sealed with a secret outside the database. Whoever runs it could sign in its name; machines notice two documents with one number.'
          : undefined
      }
    >
      <KeyValue
        className="border-b"
        items={[
          { key: 'Root document', value: `number ${root.seq}` },
          {
            key: 'Its digest',
            value: (
              <>
                <span className="flex items-start gap-2">
                  <code className="min-w-0 break-all py-1">{root.digest}</code>
                  <CopyButton text={root.digest} iconOnly label="Copy the digest of the root document" />
                </span>
                <span className="text-ink-2 text-sm">
                  <code>holdpoint team status</code> shows the one that a machine has pinned. Compare the two by another
                  way than this page: a bad control plane would show you what you hope to see.
                </span>
              </>
            ),
          },
          ...(committed
            ? [{ key: 'Next owner key', value: <code className="break-all text-xs">{committed.kid}</code> }]
            : []),
        ]}
      />
      <Table caption="Keys in use" columns={columns(true)} rows={current} rowKey={key => key.kid} />
      {retired.length > 0 && (
        <Disclosure
          className="border-t"
          summary={`${formatPlural(retired.length, 'retired key')}, refused by machines`}
        >
          <Table caption="Retired keys" columns={columns(false)} rows={retired} rowKey={key => key.kid} />
        </Disclosure>
      )}
    </Card>
  )
}
