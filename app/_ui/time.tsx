'use client'

import { cn } from './class-names.ts'
import { formatDateTime, formatDay, formatRelative, formatTimeLeft } from './format.ts'
import { useHydrated, useNow } from './now.ts'

type Props = {
  /** A Date or an ISO string. */
  at: Date | string
  /** `moment` 30 Nov 2026, 13:23; `day` 30 Nov 2026; `relative` 3 min ago. */
  show?: 'moment' | 'day' | 'relative'
  seconds?: boolean
  className?: string
}

/**
 * A moment in the reader's zone, with UTC on hover. The server writes UTC and says so; the browser puts the reader's
 * time in the same box, so that nothing moves.
 */
export function Time({ at, show = 'moment', seconds, className }: Props) {
  const when = typeof at === 'string' ? new Date(at) : at
  return show === 'relative' ? (
    <Relative when={when} className={className} />
  ) : (
    <Moment {...{ when, show, seconds, className }} />
  )
}

function Moment({
  when,
  show,
  seconds,
  className,
}: {
  when: Date
  show: 'moment' | 'day'
  seconds?: boolean
  className?: string
}) {
  const hydrated = useHydrated()
  const zone = hydrated ? undefined : 'UTC'
  return (
    <time
      dateTime={when.toISOString()}
      title={inUtc(when)}
      className={cn('inline-flex items-baseline gap-1 whitespace-nowrap tabular-nums', className)}
    >
      {show === 'day' ? formatDay(when, zone) : formatDateTime(when, zone, seconds)}
      {show === 'moment' && (
        <span className={cn('text-ink-3 text-xs', hydrated && 'invisible')} aria-hidden={hydrated}>
          UTC
        </span>
      )}
    </time>
  )
}

function Relative({ when, className }: { when: Date; className?: string }) {
  const now = useNow(15_000)
  const hydrated = useHydrated()
  const title = hydrated ? `${formatDateTime(when, undefined, true)} here, ${inUtc(when)}` : inUtc(when)
  return (
    <time
      dateTime={when.toISOString()}
      title={title}
      className={cn('whitespace-nowrap', className)}
      suppressHydrationWarning
    >
      {formatRelative(when, now)}
    </time>
  )
}

/** What is left until a moment, ticking: "47 min left". Not a live region: a screen reader reads it when it comes by. */
export function Countdown({ until, className }: { until: Date | string; className?: string }) {
  const end = typeof until === 'string' ? new Date(until) : until
  const now = useNow(1000)
  return (
    <time
      dateTime={end.toISOString()}
      title={inUtc(end)}
      className={cn('whitespace-nowrap', className)}
      suppressHydrationWarning
    >
      {formatTimeLeft(end, now)}
    </time>
  )
}

function inUtc(when: Date): string {
  return `${formatDateTime(when, 'UTC', true)} UTC`
}
