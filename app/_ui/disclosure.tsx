import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

/** A line that opens to more. Works without script. */
export function Disclosure({
  summary,
  className,
  children,
}: {
  summary: ReactNode
  className?: string
  children: ReactNode
}) {
  return (
    <details className={cn('group/disclosure', className)}>
      <summary className="flex min-h-10.25 cursor-pointer list-none items-center gap-2 px-4 text-ink-2 -outline-offset-2 hover:text-ink">
        <ChevronRight
          aria-hidden
          className="size-4 shrink-0 text-ink-3 transition-transform group-open/disclosure:rotate-90"
        />
        {summary}
      </summary>
      <div className="border-t">{children}</div>
    </details>
  )
}
