import { ScanSearch } from 'lucide-react'
import Link from 'next/link'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Card } from '#app/_ui/card.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { formatCount, formatPlural } from '#app/_ui/format.ts'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { Table } from '#app/_ui/table.tsx'
import { Time } from '#app/_ui/time.tsx'
import { figureText, figureTitle } from '#core/approval/describe.ts'
import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { may } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { errorCode } from '../../app-error.ts'
import { LevelPill } from '../../level-pill.tsx'
import { LEVEL_WORDS } from '../../level-words.ts'
import type { MachineDetail } from '../../outputs.ts'
import { titled } from '../../page-title.ts'
import {
  alarmWords,
  didWords,
  MACHINE_STATES,
  platformWords,
  refusalWords,
  switchedOffWords,
} from '../machine-words.ts'
import { RefreshWhileOpen } from '../refresh-while-open.tsx'
import { MachineStatePill } from '../state-pill.tsx'
import { RevokeMachine } from './revoke-machine.tsx'

export const generateMetadata = titled<{ org: string; id: string }>('Machine', ({ org, id }) => load(org, id))

export default async function MachinePage({ params }: { params: Promise<{ org: string; id: string }> }) {
  const { org, id } = await params
  const actor = await requireActor(org)
  const machine = await load(org, id)
  const gone = machine.state === 'left' || machine.state === 'revoked'
  const mayRevoke = !gone && may(actor, machine.own ? 'machine.add' : 'machine.revoke')
  return (
    <>
      <RefreshWhileOpen />
      <PageHeader
        above={
          <>
            <Link className="link" href={`/${org}/machines`}>
              Machines
            </Link>
            <MachineStatePill state={machine.state} />
          </>
        }
        title={machine.label}
        sub={`${machine.member.name}'s machine. ${MACHINE_STATES[machine.state].help}`}
        actions={mayRevoke && <RevokeMachine org={org} id={machine.id} label={machine.label} />}
      />
      <div className="mb-4 grid gap-2 empty:hidden">
        <Notices machine={machine} />
      </div>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)]">
        <div className="grid min-w-0 gap-4">
          <Agents machine={machine} />
          <Outcomes machine={machine} />
          <NotJudged machine={machine} />
        </div>
        <div className="grid min-w-0 gap-4">
          <Facts org={org} machine={machine} />
          <Alarms machine={machine} />
        </div>
      </div>
    </>
  )
}

/** Once per request: the title asks, too. */
const load = cache(async (org: string, id: string): Promise<MachineDetail> => {
  try {
    return await (await api()).machine.get({ org, id })
  } catch (error) {
    if (errorCode(error) === 'NOT_FOUND') notFound()
    throw error
  }
})

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function Notices({ machine }: { machine: MachineDetail }) {
  return (
    <>
      {machine.equivocation && (
        <Banner kind="problem" title="It was shown rules or keys that do not fit together.">
          Somebody between this machine and you, or whoever runs this control plane, presented two versions of one
          thing. It kept the last good rules. Compare digests over another channel.
        </Banner>
      )}
      {machine.clonedAt && (
        <Banner kind="problem" title="Two machines use its key.">
          Noticed <Time at={machine.clonedAt} />. Its home folder was probably copied: revoke it, and join both anew.
        </Banner>
      )}
      {machine.lastError && (
        <Banner kind="stale" title="Its last attempt to fetch rules failed.">
          {upper(refusalWords(machine.lastError))}. It keeps the last good ones.{' '}
          {machine.lastErrorAt && <Time at={machine.lastErrorAt} show="relative" />}
        </Banner>
      )}
      {machine.firstUsePin && (
        <Banner kind="stale" title="It trusted whatever it saw first.">
          It joined without the root's digest, so nobody checked the first keys that it was shown. Compare the digest
          below with one from elsewhere, or join it anew with a full line.
        </Banner>
      )}
      {machine.unsupported.length > 0 && (
        <Banner kind="stale" title={`${formatPlural(machine.unsupported.length, 'rule')} that it cannot read.`}>
          Its connector is too old for: {machine.unsupported.join(', ')}. They hold or pass there as their own
          on_unknown says.
        </Banner>
      )}
    </>
  )
}

function Agents({ machine }: { machine: MachineDetail }) {
  return (
    <Card title="Agents on it" sub="how far each is bound, as the machine proved it">
      {machine.hooks.length === 0 ? (
        <p className="px-4 py-3 text-ink-2">
          No agent is wired. On the machine, run <code>holdpoint hooks install</code>.
        </p>
      ) : (
        <ul>
          {machine.hooks.map(hook => (
            <li key={hook.client} className="grid gap-1 border-b px-4 py-3 last:border-b-0">
              <div className="flex flex-wrap items-center gap-2">
                <span className="font-medium">{CLIENT_NAMES[hook.client as Client] ?? hook.client}</span>
                {hook.version && <span className="text-ink-3 text-xs">{hook.version}</span>}
                <span className="ml-auto">
                  <LevelPill level={hook.level} />
                </span>
              </div>
              <p className="text-ink-2 text-sm">{LEVEL_WORDS[hook.level]?.help}</p>
              {hook.off.length > 0 && (
                <p className="text-sm text-waiting">To know: {hook.off.map(switchedOffWords).join('; ')}.</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Outcomes({ machine }: { machine: MachineDetail }) {
  return (
    <Card
      title="What the organisation's rules did here"
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
            As soon as a rule's conditions hold at a call, in shadow or enforced, it stands here.
          </EmptyState>
        }
      />
    </Card>
  )
}

function NotJudged({ machine }: { machine: MachineDetail }) {
  if (machine.unguarded.length === 0) return null
  return (
    <Card
      title="Calls that nobody judged"
      sub="found afterwards in the agents' own transcripts"
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

function Facts({ org, machine }: { org: string; machine: MachineDetail }) {
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

function Alarms({ machine }: { machine: MachineDetail }) {
  if (machine.alarms.length === 0) return null
  return (
    <Card title="What it raised">
      <ul>
        {machine.alarms.map(alarm => (
          <li
            key={`${alarm.what}${alarm.at.toISOString()}`}
            className="grid grid-cols-[1fr_auto] items-baseline gap-x-3 border-b px-4 py-2.25 last:border-b-0"
          >
            <span className={alarm.serious ? 'min-w-0 font-medium text-held' : 'min-w-0'}>
              {alarmWords(alarm.what)}
              {alarm.count > 1 && ` (${formatCount(alarm.count)} times)`}
            </span>
            <span className="text-ink-3 text-xs">
              <Time at={alarm.at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
