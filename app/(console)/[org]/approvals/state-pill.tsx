import { Ban, CircleCheck, CircleSlash, Hourglass, TimerOff, Undo2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Pill, type PillState } from '#app/_ui/pill.tsx'
import { Countdown } from '#app/_ui/time.tsx'
import { type ApprovalState, STATE_WORDS } from '#core/approval/state.ts'

const LOOK: Record<ApprovalState, { pill: PillState; icon?: ReactNode }> = {
  pending: { pill: 'waiting' },
  approved: { pill: 'passed' },
  used: { pill: 'passed', icon: <CircleCheck aria-hidden /> },
  revoked: { pill: 'held', icon: <Ban aria-hidden /> },
  lapsed: { pill: 'neutral', icon: <Hourglass aria-hidden /> },
  denied: { pill: 'held' },
  expired: { pill: 'neutral', icon: <TimerOff aria-hidden /> },
  withdrawn: { pill: 'neutral', icon: <Undo2 aria-hidden /> },
}

/** A request's state in one word, with what is left of the wait while it waits. */
export function StatePill({ state, expiresAt }: { state: ApprovalState; expiresAt?: Date }) {
  const { pill, icon } = LOOK[state]
  const word = STATE_WORDS[state]
  return (
    <Pill state={pill} icon={icon ?? (state === 'denied' ? <CircleSlash aria-hidden /> : undefined)}>
      <span className="first-letter:uppercase">{word}</span>
      {state === 'pending' && expiresAt && (
        <>
          <span aria-hidden>·</span>
          <Countdown until={expiresAt} />
        </>
      )}
    </Pill>
  )
}
