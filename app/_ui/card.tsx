import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

type CardProps = {
  title?: ReactNode
  /** Small grey words after the title. */
  sub?: ReactNode
  /** Right end of the head: a pill, a button, a count. */
  aside?: ReactNode
  /** Last line, ruled off: what to know about the figures above. */
  note?: ReactNode
  /** Put padding around the content; leave it off for tables and key lists, which bring their own. */
  padded?: boolean
  headingLevel?: 2 | 3
  id?: string
  className?: string
  children?: ReactNode
}

/** A bordered panel: head, content, note. */
export function Card({ title, sub, aside, note, padded, headingLevel = 2, id, className, children }: CardProps) {
  const Heading = headingLevel === 2 ? 'h2' : 'h3'
  return (
    <section id={id} className={cn('min-w-0 rounded-lg border bg-panel', className)}>
      {(title || aside) && (
        <div className="flex min-h-10.25 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
          {title && <Heading className="min-w-0 text-sm">{title}</Heading>}
          {sub && <span className="text-ink-3 text-xs">{sub}</span>}
          {aside && <div className="ml-auto flex items-center gap-2 text-ink-3 text-xs">{aside}</div>}
        </div>
      )}
      {padded ? <div className="p-4">{children}</div> : children}
      {note && <div className="border-t px-4 py-2 text-ink-2 text-sm">{note}</div>}
    </section>
  )
}
