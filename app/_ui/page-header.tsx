import type { ReactNode } from 'react'

type Props = {
  title: ReactNode
  /** One sentence: what this page is, for somebody who has not read the docs. */
  sub?: ReactNode
  actions?: ReactNode
  /** Stands above the title: a state and an id, or the way back. */
  above?: ReactNode
  /** Small facts left of the actions ("In force: version 12"). */
  facts?: ReactNode
}

/** The head of a page; holds its only h1. */
export function PageHeader({ title, sub, actions, above, facts }: Props) {
  return (
    <header className="mb-5">
      {above && <div className="mb-2 flex flex-wrap items-center gap-3 text-ink-3 text-xs">{above}</div>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="mr-auto min-w-0 text-xl [overflow-wrap:anywhere] tracking-[-0.015em]">{title}</h1>
        {facts && <div className="text-ink-3 text-xs max-sm:order-1 max-sm:w-full">{facts}</div>}
        {actions && <div className="flex flex-wrap items-center gap-2 max-sm:order-2 max-sm:w-full">{actions}</div>}
        {sub && (
          // The box takes the whole line, however narrow the words are set: otherwise they would stand beside a short title.
          <div className="w-full sm:-mt-1.5">
            <p className="max-w-3xl text-pretty text-ink-2 [overflow-wrap:anywhere]">{sub}</p>
          </div>
        )}
      </div>
    </header>
  )
}
