import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

type Props = {
  title: ReactNode
  /** What happened and what still holds. */
  children?: ReactNode
  action?: ReactNode
  /** The id under which the log knows this failure. */
  reference?: string
  headingLevel?: 1 | 2 | 3
  className?: string
}

/** Something failed: says what, what still holds, and what to do. */
export function ErrorState({ title, children, action, reference, headingLevel = 2, className }: Props) {
  const Heading = `h${headingLevel}` as const
  return (
    <div role="alert" className={cn('grid justify-items-center gap-1 px-6 py-10 text-center', className)}>
      <TriangleAlert aria-hidden className="mb-2 size-6 text-held" />
      <Heading className="text-base">{title}</Heading>
      {children && <div className="max-w-prose text-pretty text-ink-2">{children}</div>}
      {reference && (
        <p className="text-ink-3 text-xs">
          Reference <code>{reference}</code>
        </p>
      )}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}
