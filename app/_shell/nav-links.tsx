'use client'

import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { cn } from '#app/_ui/class-names.ts'
import { currentHref, navItems } from './nav-items.tsx'

type Props = { slug: string; waiting: number; onNavigate?: () => void }

/** The places of the organisation; the one shown is marked for the eye and by aria-current. */
export function NavLinks({ slug, waiting, onNavigate }: Props) {
  const items = navItems(slug, waiting)
  const current = currentHref(items, usePathname())
  return (
    <nav aria-label="Main">
      <ul className="grid gap-0.5">
        {items.map(item => (
          <li key={item.href} className={cn(item.startsGroup && 'mt-2.5 border-t pt-2.5')}>
            <Link
              href={item.href}
              onClick={onNavigate}
              aria-current={item.href === current ? 'page' : undefined}
              className={cn(
                'flex min-h-8 items-center gap-2.5 rounded-md px-2 text-ink-2 hover:text-ink pointer-coarse:min-h-11 [&_svg]:size-4 [&_svg]:shrink-0',
                item.href === current && 'bg-raised font-medium text-ink [&_svg]:text-accent',
              )}
            >
              {item.icon}
              {item.label}
              {item.count ? <WaitingCount count={item.count} /> : null}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** A number in the waiting colour, with its word for screen readers. */
export function WaitingCount({ count, className }: { count: number; className?: string }) {
  return (
    <span className={cn('ml-auto rounded-full bg-waiting-soft px-1.5 font-medium text-waiting text-xs', className)}>
      {count > 99 ? '99+' : count}
      <span className="sr-only"> waiting</span>
    </span>
  )
}
