import Link from 'next/link'
import { Card } from '#app/_ui/card.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import type { MachineDetail } from '../../outputs.ts'
import { platformWords } from '../machine-words.ts'

export function FactsCard({ org, machine }: { org: string; machine: MachineDetail }) {
  const never = <span className="text-ink-3">not yet</span>
  return (
    <Card title="As it reports itself">
      <KeyValue
        items={[
          { key: 'Member', value: machine.member.name },
          { key: 'Last heard of', value: machine.lastSeenAt ? <Time at={machine.lastSeenAt} seconds /> : never },
          {
            key: 'Rules',
            value:
              machine.rulesVersion === 0 ? (
                never
              ) : (
                <Link className="link" href={`/${org}/boundaries/history/${machine.rulesVersion}`}>
                  version {machine.rulesVersion}
                </Link>
              ),
          },
          { key: 'Rules known fresh', value: machine.freshAt ? <Time at={machine.freshAt} seconds /> : never },
          {
            key: 'Digest of the rules',
            value: machine.rulesDigest ? (
              <code className="break-all text-ink-2 text-xs">{machine.rulesDigest}</code>
            ) : (
              never
            ),
          },
          {
            key: 'Root of keys',
            value: machine.rootSeq ? (
              <>
                number {machine.rootSeq}
                {machine.firstUsePin ? ', pinned at first use' : ', pinned by the digest'}
              </>
            ) : (
              never
            ),
          },
          {
            key: 'Digest of the root',
            value: machine.rootDigest ? (
              <code className="break-all text-ink-2 text-xs">{machine.rootDigest}</code>
            ) : (
              never
            ),
          },
          {
            key: 'Journal',
            value: machine.journal ? (
              <>
                {formatPlural(machine.journal.seq, 'entry', 'entries')}{' '}
                <code className="block break-all text-ink-2 text-xs">{machine.journal.head}</code>
              </>
            ) : (
              never
            ),
          },
          { key: 'Connector', value: machine.connector },
          { key: 'Platform', value: platformWords(machine.platform) },
          { key: 'Joined', value: <Time at={machine.joinedAt} /> },
        ]}
      />
    </Card>
  )
}
