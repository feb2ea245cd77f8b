'use client'

import { Coins, Gauge, Inbox, Laptop, ScrollText, Settings, Shield, Users } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import type { ReactNode } from 'react'
import { cn } from '#app/_ui/class-names.ts'
import { currentPlace, type PlaceKey, placesOf } from './places.ts'

const ICONS: Record<PlaceKey, ReactNode> = {
  overview: <Gauge aria-hidden />,
  boundaries: <Shield aria-hidden />,
  approvals: <Inbox aria-hidden />,
  spend: <Coins aria-hidden />,
  machines: <Laptop aria-hidden />,
  members: <Users aria-hidden />,
  audit: <ScrollText aria-hidden />,
  settings: <Settings aria-hidden />,
}

type Props = { slug: string; waiting: number; onNavigate?: () => void }

/** The places of the organisation; the one shown is marked for the eye and by aria-current. */
export function NavLinks({ slug, waiting, onNavigate }: Props) {
  const current = currentPlace(slug, usePathname())
  return (
    <nav aria-label="Main">
      <ul className="grid gap-0.5">
        {placesOf(slug).map(place => (
          <li key={place.key} className={cn(place.startsGroup && 'mt-2.5 border-t pt-2.5')}>
            <Link
              href={place.href}
              onClick={onNavigate}
              aria-current={place.key === current ? 'page' : undefined}
              className={cn(
                'flex min-h-8 items-center gap-2.5 rounded-md px-2 text-ink-2 hover:text-ink pointer-coarse:min-h-11 [&_svg]:size-4 [&_svg]:shrink-0',
                place.key === current && 'bg-raised font-medium text-ink [&_svg]:text-accent',
              )}
            >
              {ICONS[place.key]}
              {place.label}
              {place.key === 'approvals' && waiting > 0 && <WaitingCount count={waiting} />}
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
