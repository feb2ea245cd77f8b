import { LiveRefresh } from '#app/_client/live-refresh.tsx'
import { formatPlural } from '#app/_ui/format.ts'
import { Name } from '#app/_ui/name.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { StatTile, StatTiles } from '#app/_ui/stat-tile.tsx'
import { Time } from '#app/_ui/time.tsx'
import { dateAt } from '#core/budget/window.ts'
import { daysOfMonth } from '#core/day.ts'
import { type Right, rightsOf } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BiteCard } from './bite-card.tsx'
import { RefreshWhileOpen } from './machines/refresh-while-open.tsx'
import type { Overview } from './outputs.ts'
import { titled } from './page-title.ts'
import { RecentCard } from './recent-card.tsx'
import { SetupCard } from './setup-card.tsx'
import { SpendTile } from './spend-tile.tsx'
import { WaitingCard } from './waiting-card.tsx'

export const generateMetadata = titled('Overview')

export default async function OverviewPage({ params }: { params: Promise<{ org: string }> }) {
  const { org } = await params
  const actor = await requireActor(org)
  const caller = await api()
  const seen = await caller.approval.position({ org })
  const [overview, spend, fullest] = await Promise.all([
    caller.overview.get({ org }),
    spendThisMonth(org),
    caller.budget.fullest({ org }),
  ])
  const rights: readonly Right[] = rightsOf(actor)
  const { hasMachine, hasMembers, hasRules } = overview.setup
  return (
    <>
      <LiveRefresh org={org} seen={seen} />
      <RefreshWhileOpen seconds={30} />
      <PageHeader
        title="Overview"
        sub="What waits for a person, which rules are in force and where, what they have done lately and what was spent."
      />
      <div className="grid gap-4">
        {!(hasMachine && hasMembers && hasRules) && <SetupCard org={org} setup={overview.setup} rights={rights} />}
        <StatTiles count={5}>
          <StatTile
            label="Waiting for an answer"
            value={overview.waiting.length}
            href={`/${org}/approvals`}
            note={waitingNote(overview)}
          />
          <StatTile
            label="Rules in force"
            value={overview.ruleSet ? `version ${overview.ruleSet.version}` : 'none'}
            href={`/${org}/boundaries`}
            note={rulesNote(overview)}
          />
          <StatTile
            label="Machines current"
            value={
              overview.machines.total === 0 ? 'none' : `${overview.machines.current} of ${overview.machines.total}`
            }
            href={`/${org}/machines`}
            note={machinesNote(overview)}
          />
          <SpendTile org={org} report={spend} fullest={fullest} />
          <StatTile
            label="Met in the last 7 days"
            value={formatPlural(
              overview.bite.reduce((sum, row) => sum + row.calls, 0),
              'call',
            )}
            note={
              overview.bite.some(row => row.stage === 'shadow' && row.calls > 0)
                ? 'by a rule, shadow ones included'
                : 'by a rule'
            }
          />
        </StatTiles>
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)]">
          <div className="grid min-w-0 gap-4">
            <WaitingCard org={org} rows={overview.waiting} />
            <BiteCard org={org} rows={overview.bite} hasRules={hasRules} />
          </div>
          <RecentCard org={org} rows={overview.recent} />
        </div>
      </div>
    </>
  )
}

/** This month's spend, on the organisation's clock. */
async function spendThisMonth(org: string) {
  const caller = await api()
  const { zone } = await caller.spend.keys({ org })
  return caller.spend.report({ org, ...daysOfMonth(dateAt(zone, Date.now()).slice(0, 7)), by: 'tenant' })
}

function waitingNote({ waiting }: Overview) {
  if (waiting.length === 0) return 'no agent is stopped'
  const mine = waiting.filter(row => row.mayAnswer).length
  return mine === 0 ? 'none that you may answer' : mine === waiting.length ? 'you may answer' : `you may answer ${mine}`
}

function rulesNote({ ruleSet }: Overview) {
  if (!ruleSet) return 'nothing binds yet'
  return (
    <>
      {ruleSet.publishedBy ? <Name className="max-w-32">{ruleSet.publishedBy}</Name> : 'first start'},{' '}
      <Time at={ruleSet.publishedAt} show="relative" />
    </>
  )
}

function machinesNote({ machines }: Overview) {
  const parts = [
    machines.lost > 0 && `${machines.lost} with a hook gone or broken`,
    machines.alarm > machines.lost && `${machines.alarm - machines.lost} to look at`,
    machines.behind > 0 && `${machines.behind} behind`,
    machines.silent > 0 && `${machines.silent} silent`,
    machines.left > 0 && `${machines.left} gone`,
  ].filter(Boolean)
  if (machines.total === 0) return 'rules bind where a connector runs'
  return parts.length === 0 ? 'all obey what is in force' : parts.join(', ')
}
