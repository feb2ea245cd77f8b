import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

type Props = {
  title: ReactNode
  children?: ReactNode
  action?: ReactNode
  icon?: ReactNode
  headingLevel?: 1 | 2 | 3
  className?: string
}

/** Nothing here yet: says why, and what to do next. */
export function EmptyState({ title, children, action, icon, headingLevel = 3, className }: Props) {
  const Heading = `h${headingLevel}` as const
  return (
    <div className={cn('grid justify-items-center gap-1 px-6 py-10 text-center', className)}>
      {icon && <span className="mb-2 text-ink-3 [&_svg]:size-6">{icon}</span>}
      <Heading className="text-base">{title}</Heading>
      {children && <div className="max-w-prose text-pretty text-ink-2">{children}</div>}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}
