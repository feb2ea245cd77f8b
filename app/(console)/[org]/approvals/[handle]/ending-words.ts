import { formatList } from '#app/_ui/format.ts'
import type { ApprovalDetail } from '../../outputs.ts'
import { SUBJECT_WORDS } from './subject-words.ts'

type Ending = NonNullable<ApprovalDetail['ended']>
type Settled = Pick<ApprovalDetail, 'state' | 'scope' | 'subject' | 'answeredBy' | 'ended'>

/** What the requester's or an admin's act was, or why the machine took its request back. */
const ACTS: Record<string, string> = {
  left: 'which left the organisation',
  revoked: 'who revoked the machine',
  laptop_lost: 'who reported the laptop lost',
  member_removed: 'who removed the member',
}
const REASONS: Record<string, string> = {
  session_ended: 'its session had ended',
  denied_here: 'somebody at its keyboard said no',
  rule_gone: 'the rule is not in force there any more',
  restored: 'it was restored from an older copy',
}

/** Who withdrew a request, or took its grant back, and by which act. */
export function endedBy({ by, why }: Ending, state: 'withdrawn' | 'revoked'): string {
  const act = why === undefined ? undefined : ACTS[why]
  const reason = why === undefined ? undefined : REASONS[why]
  const who =
    by === 'admin'
      ? 'an admin'
      : by === 'system'
        ? 'the control plane'
        : by === 'member'
          ? // Without a machine's end behind it, a grant is taken back by whoever holds the role.
            state === 'withdrawn' || act
            ? 'the requester'
            : 'somebody who may answer it'
          : 'the machine'
  return act ? `${who}, ${act}` : reason ? `${who}: ${reason}` : who
}

/** How a request ended, in one line under its question; undefined while it waits. */
export function endingLine({ state, scope, subject, answeredBy, ended }: Settled): string | undefined {
  const names = (decision: 'approve' | 'deny') =>
    formatList(answeredBy.filter(by => by.decision === decision).map(by => by.name))
  const approved = `Approved for ${SUBJECT_WORDS[subject.kind].approvedFor[scope === 'session' ? 'session' : 'step']} by ${names('approve')}`
  switch (state) {
    case 'pending':
      return undefined
    case 'approved':
      return `${approved}.`
    case 'used':
      return `${approved}, and used.`
    case 'lapsed':
      return `${approved}; its time is over.`
    case 'revoked':
      return `${approved}, and taken back.`
    case 'denied':
      return `Denied for a day by ${names('deny')}.`
    case 'expired':
      return 'Expired without an answer.'
    case 'withdrawn':
      if (ended?.by === 'member' && ended.why === 'withdrawn') return 'Withdrawn by its requester.'
      return ended ? `Withdrawn by ${endedBy(ended, 'withdrawn')}.` : 'Withdrawn before anybody answered.'
  }
}
