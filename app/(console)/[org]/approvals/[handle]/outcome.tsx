import type { ReactNode } from 'react'
import { Card } from '#app/_ui/card.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import { ceilingText, figureTitle } from '#core/approval/describe.ts'
import { methodName } from '#core/permission.ts'
import type { ApprovalDetail } from '../../outputs.ts'
import { endedBy } from './ending-words.ts'
import { RevokeButton } from './revoke-button.tsx'
import { SUBJECT_WORDS } from './subject-words.ts'

/** How a settled request ended: who let it go on or refused it, how, when, up to what figure. */
export function Outcome({ approval, org }: { approval: ApprovalDetail; org: string }) {
  const granted = approval.scope !== undefined
  const items: { key: string; value: ReactNode }[] = approval.answeredBy.map(by => ({
    key: by.decision === 'approve' ? 'Approved by' : 'Denied by',
    value: (
      <>
        <div>
          <strong>{by.name}</strong> <span className="text-ink-3 text-xs">{by.role}</span>
          {by.self && <span className="text-ink-3 text-xs"> · own request</span>}
          {by.demo && <span className="text-ink-3 text-xs"> · in demo mode</span>}
        </div>
        <div className="text-ink-2">
          {by.how === 'team-cli' ? 'with the command' : 'on this page'}, signed in with {methodName(by.method as never)}
        </div>
        {/* A line of its own: the reader's time may be wider or narrower than UTC's, and nothing below may move. */}
        <div className="text-ink-2">
          <Time at={by.at} seconds />
        </div>
        {by.reason && <blockquote className="mt-1 border-l-2 pl-3 text-ink-2">{by.reason}</blockquote>}
      </>
    ),
  }))
  if (granted) {
    items.push({
      key: 'Lets through',
      value: SUBJECT_WORDS[approval.subject.kind].lets[approval.scope === 'step' ? 'step' : 'session'],
    })
    for (const ceiling of approval.until ?? []) {
      items.push({
        key: 'Up to',
        value: `${figureTitle({ name: ceiling.figure, qualifier: ceiling.qualifier })} below ${ceilingText(ceiling)}; reaching it asks again`,
      })
    }
  }
  if (approval.standsUntil)
    items.push({ key: granted ? 'At most until' : 'Stands until', value: <Time at={approval.standsUntil} /> })
  if ((approval.state === 'withdrawn' || approval.state === 'revoked') && approval.ended)
    items.push({
      key: approval.state === 'withdrawn' ? 'Withdrawn by' : 'Taken back by',
      value: endedBy(approval.ended, approval.state),
    })
  if (approval.state === 'expired')
    items.push({
      key: 'Expired',
      value: 'Nobody answered in time. No person denied it; the agent files a new request at its next try.',
    })
  if (approval.settledAt) items.push({ key: 'Settled', value: <Time at={approval.settledAt} seconds /> })
  return (
    <Card
      title="How it ended"
      aside={
        approval.mayRevoke ? (
          <RevokeButton org={org} handle={approval.handle} kind={approval.subject.kind} />
        ) : undefined
      }
    >
      <KeyValue items={items} />
    </Card>
  )
}
