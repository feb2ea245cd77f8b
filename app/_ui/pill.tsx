import { CircleDashed, CircleDot, Clock, Hand, Minus, ShieldCheck } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import { cn } from './class-names.ts'

export type PillState = 'waiting' | 'held' | 'passed' | 'shadow' | 'partly' | 'neutral'

const LOOK: Record<PillState, { Icon: ComponentType<{ className?: string }>; colours: string }> = {
  waiting: { Icon: Clock, colours: 'bg-waiting-soft text-waiting' },
  held: { Icon: Hand, colours: 'bg-held-soft text-held' },
  passed: { Icon: ShieldCheck, colours: 'bg-passed-soft text-passed' },
  shadow: { Icon: CircleDashed, colours: 'bg-shadow-soft text-shadow' },
  // Neither good nor bad: an edge instead of a colour.
  partly: { Icon: CircleDot, colours: 'bg-panel text-ink-2 ring-1 ring-inset ring-line-strong' },
  neutral: { Icon: Minus, colours: 'bg-raised text-ink-2' },
}

type Props = { state: PillState; children: ReactNode; icon?: ReactNode; className?: string }

/** A state as icon and word; the colour only repeats them. `icon` replaces the state's own picture. */
export function Pill({ state, children, icon, className }: Props) {
  const { Icon, colours } = LOOK[state]
  return (
    <span
      className={cn(
        'inline-flex items-center gap-1 whitespace-nowrap rounded-full px-2 font-medium text-xs [&_svg]:size-3 [&_svg]:shrink-0',
        colours,
        className,
      )}
    >
      {icon ?? <Icon aria-hidden />}
      {children}
    </span>
  )
}
