import Link from 'next/link'
import type { ReactNode } from 'react'
import { cn } from './class-names.ts'

type Props = { label: ReactNode; value: ReactNode; note?: ReactNode; href?: string; className?: string }

/** One figure with its name above and its bearing below. With `href` the whole tile leads on. */
export function StatTile({ label, value, note, href, className }: Props) {
  return (
    <div
      className={cn(
        'relative min-w-0 rounded-lg border bg-panel px-4 py-3.5',
        href && 'hover:border-control',
        className,
      )}
    >
      <div className="text-ink-3 text-xs">{href ? <TileLink href={href}>{label}</TileLink> : label}</div>
      <div className="truncate font-semibold text-2xl tabular-nums tracking-[-0.02em]">{value}</div>
      {note && <div className="mt-0.5 text-ink-3 text-xs">{note}</div>}
    </div>
  )
}

function TileLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} className="after:absolute after:inset-0 after:rounded-lg">
      {children}
    </Link>
  )
}

/** Tiles beside one another, no place left empty: `count` of them fill whole rows at every width. */
export function StatTiles({ count, className, children }: { count: number; className?: string; children: ReactNode }) {
  return (
    <div
      className={cn(
        'grid grid-cols-2 gap-3 sm:gap-4',
        count === 1 && 'grid-cols-1',
        count === 3 && 'max-sm:[&>:last-child]:col-span-2 sm:grid-cols-3',
        count === 4 && 'xl:grid-cols-4',
        count === 5 && 'max-xl:[&>:last-child]:col-span-2 xl:grid-cols-5',
        className,
      )}
    >
      {children}
    </div>
  )
}
