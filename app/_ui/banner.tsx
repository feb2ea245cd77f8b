import { CircleAlert, Clock, DatabaseBackup, FlaskConical, Info } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import { cn } from './class-names.ts'

export type BannerKind = 'demo' | 'restored' | 'stale' | 'problem' | 'note'

const LOOK: Record<BannerKind, { Icon: ComponentType<{ className?: string }>; colours: string }> = {
  demo: { Icon: FlaskConical, colours: 'border-shadow/30 bg-shadow-soft [&>svg]:text-shadow' },
  restored: { Icon: DatabaseBackup, colours: 'border-waiting/30 bg-waiting-soft [&>svg]:text-waiting' },
  stale: { Icon: Clock, colours: 'border-waiting/30 bg-waiting-soft [&>svg]:text-waiting' },
  problem: { Icon: CircleAlert, colours: 'border-held/30 bg-held-soft [&>svg]:text-held' },
  note: { Icon: Info, colours: 'border-line-strong bg-raised [&>svg]:text-ink-2' },
}

type Props = { kind: BannerKind; title: ReactNode; children?: ReactNode; action?: ReactNode; className?: string }

/** A standing notice: demo data, a restored database, stale figures. Says what it means for the reader. */
export function Banner({ kind, title, children, action, className }: Props) {
  const { Icon, colours } = LOOK[kind]
  return (
    <div
      role={kind === 'problem' ? 'alert' : 'note'}
      className={cn('flex flex-wrap items-start gap-x-2.5 gap-y-2 rounded-lg border px-4 py-2.5', colours, className)}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        <strong className="font-semibold">{title}</strong> {children && <span className="text-ink-2">{children}</span>}
      </div>
      {action && <div className="flex gap-2">{action}</div>}
    </div>
  )
}
