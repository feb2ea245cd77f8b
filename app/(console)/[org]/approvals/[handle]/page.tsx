import Link from 'next/link'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { LiveRefresh } from '#app/_client/live-refresh.tsx'
import { Card } from '#app/_ui/card.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { PageHeader } from '#app/_ui/page-header.tsx'
import { StatTile, StatTiles } from '#app/_ui/stat-tile.tsx'
import { Time } from '#app/_ui/time.tsx'
import { limitText } from '#core/approval/limit.ts'
import type { CrossedFigure } from '#core/approval/request.ts'
import { ACTION_WORDS } from '#core/boundary/describe.ts'
import { CLIENT_NAMES } from '#core/client.ts'
import { isAppError } from '#core/error.ts'
import { HANDLE } from '#core/id.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { BackLink } from '../../back-link.tsx'
import type { ApprovalDetail } from '../../outputs.ts'
import { titled } from '../../page-title.ts'
import { ApprovalTable } from '../approval-table.tsx'
import { StatePill } from '../state-pill.tsx'
import { AnswerForm } from './answer-form.tsx'
import { Decision } from './decision.tsx'
import { endingLine } from './ending-words.ts'
import { Outcome } from './outcome.tsx'
import { soFar, whoCan } from './waiting-words.ts'

export const generateMetadata = titled<{ org: string; handle: string }>('Approval', ({ org, handle }) =>
  load(org, handle),
)

type Props = { params: Promise<{ org: string; handle: string }> }

export default async function ApprovalPage({ params }: Props) {
  const { org, handle } = await params
  await requireActor(org)
  const { approval, seen } = await load(org, handle)
  const waiting = approval.state === 'pending'
  const ending = endingLine(approval)
  const tiles = approval.crossed.slice(0, 2)
  return (
    <>
      <LiveRefresh org={org} seen={seen} />
      <div className="grid max-w-3xl gap-4">
        <PageHeader
          above={
            <>
              <BackLink href={`/${org}/approvals`}>Approvals</BackLink>
              <StatePill state={approval.state} expiresAt={approval.expiresAt} />
              <code className="text-ink-3">{approval.handle}</code>
            </>
          }
          title={waiting ? approval.question : approval.situation}
          sub={waiting ? waitingWords(approval) : ending}
        />
        <StatTiles count={tiles.length + 1} className="-mt-4">
          {tiles.map(({ title, value, figure }) => (
            <StatTile key={title} label={title} value={value} note={thresholdOf(approval, figure)} />
          ))}
          <StatTile
            label="Asked in the last day"
            value={approval.askedBefore.length}
            note={
              approval.askedBefore.length > 0
                ? 'by this session, below'
                : approval.subject.kind === 'session'
                  ? 'this session has not asked before'
                  : 'nothing else was asked here'
            }
          />
        </StatTiles>
        <Decision state={approval.state} ending={ending}>
          {waiting ? <AnswerForm org={org} approval={approval} /> : <Outcome approval={approval} org={org} />}
        </Decision>
        <Card
          title="What was crossed"
          note="You see numbers and names from fixed lists. No prompt, path or code left the machine."
        >
          <KeyValue
            items={[
              ...approval.rulesInForce.map((rule, i) => ({
                key: i === 0 ? 'Rule' : 'And rule',
                value: (
                  <>
                    <div>
                      <code>org:{rule.name}</code>{' '}
                      <span className="text-ink-3 text-xs">version {approval.ruleVersion}</span>
                    </div>
                    <div className="text-ink-2">{rule.words}</div>
                    {rule.note && <div className="text-ink-2">Why it exists: {rule.note}</div>}
                  </>
                ),
              })),
              {
                key: 'Action',
                value: (
                  <>
                    {approval.action}: {ACTION_WORDS[approval.action]}
                  </>
                ),
              },
              ...approval.crossed.map(({ title, value, figure }) => ({
                key: title,
                value: (
                  <>
                    <span className="tabular-nums">{value}</span>{' '}
                    {figure.observedAt && (
                      <span className="text-ink-3 text-xs">
                        read <Time at={figure.observedAt} seconds />
                      </span>
                    )}
                  </>
                ),
              })),
              {
                key: 'Client',
                value: (
                  <>
                    {CLIENT_NAMES[approval.client]} on{' '}
                    <Link className="link" href={`/${org}/machines/${approval.machine.id}`}>
                      {approval.machine.label}
                    </Link>
                  </>
                ),
              },
              { key: 'Member', value: approval.member.name },
              { key: 'Made', value: <Time at={approval.createdAt} seconds /> },
              {
                key: waiting
                  ? 'Waits until'
                  : approval.state === 'expired'
                    ? 'Waited until'
                    : 'Would have waited until',
                value: <Time at={approval.expiresAt} seconds />,
              },
              {
                key: 'Digest of the request',
                value: <code className="break-all text-ink-2 text-xs">{approval.requestDigest}</code>,
              },
            ]}
          />
        </Card>
        {approval.askedBefore.length > 0 && (
          <Card title="Asked before by this session" sub="in the last day">
            <ApprovalTable
              org={org}
              rows={approval.askedBefore}
              caption="Earlier requests of this session"
              empty={null}
            />
          </Card>
        )}
      </div>
    </>
  )
}

/** Once per request: the title asks, too. */
const load = cache(async (org: string, handle: string): Promise<{ approval: ApprovalDetail; seen: number }> => {
  if (!HANDLE.test(handle)) notFound()
  try {
    const caller = await api()
    const seen = await caller.approval.position({ org })
    return { approval: await caller.approval.get({ org, handle }), seen }
  } catch (error) {
    if (isAppError((error as Error).cause) && ((error as Error).cause as { code: string }).code === 'NOT_FOUND')
      notFound()
    throw error
  }
})

function waitingWords(approval: ApprovalDetail) {
  const several = approval.approvals > 1
  return (
    <>
      It is {approval.subject.kind === 'session' ? 'stopped' : 'held'} until{' '}
      {several ? `${approval.approvals} people` : 'somebody'} with the role <strong>{approval.role}</strong> or above{' '}
      {several ? 'answer' : 'answers'}. {soFar(approval)} {whoCan(approval)}
    </>
  )
}

/** What the rule says of a crossed figure: "rule: $20.00 or more". */
function thresholdOf(approval: ApprovalDetail, figure: CrossedFigure): string | undefined {
  const limit = limitText(approval.rulesInForce, figure)
  return limit === undefined ? undefined : `rule: ${limit}`
}
