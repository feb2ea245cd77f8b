import type { ReactNode } from 'react'
import { Button } from './button.tsx'

type Props = {
  /** Names the form for screen readers: "Filter approvals". */
  label: string
  /** Where the form goes by GET; the page itself when absent. */
  action?: string
  /** Fields; give each a `name`. */
  children: ReactNode
  /** Shown when a filter is set: the address without filters. */
  clearHref?: string
  /** Right end: a CSV link, a count. */
  aside?: ReactNode
}

/** A GET form above a list: filters live in the address, so they can be shared and work without script. */
export function FilterBar({ label, action, children, clearHref, aside }: Props) {
  return (
    <search className="mb-4">
      <form aria-label={label} action={action} method="get" className="flex flex-wrap items-end gap-3">
        {children}
        <div className="flex items-center gap-2">
          <Button type="submit">Filter</Button>
          {clearHref && (
            <Button href={clearHref} variant="ghost">
              Clear
            </Button>
          )}
        </div>
        {aside && <div className="ml-auto flex min-h-8 items-center gap-2 text-ink-3 text-xs">{aside}</div>}
      </form>
    </search>
  )
}
