import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

/** `label` stands in place of the key's own words. */
export type KeyValueItem = { key: string; label?: ReactNode; value: ReactNode }

/** Facts as name and value, ruled like a table; values go below their names where it is narrow. */
export function KeyValue({ items, className }: { items: readonly KeyValueItem[]; className?: string }) {
  return (
    <dl className={cn('@container', className)}>
      {items.map(item => (
        <div
          key={item.key}
          className="grid gap-x-4 border-b px-4 py-2.25 last:border-b-0 @md:grid-cols-[minmax(8rem,1fr)_2fr]"
        >
          <dt className="text-ink-3 text-xs leading-5">{item.label ?? item.key}</dt>
          <dd className="min-w-0 break-words">{item.value}</dd>
        </div>
      ))}
    </dl>
  )
}
