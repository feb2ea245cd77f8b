import { Gauge, Inbox, Laptop, ScrollText, Settings, Shield, Users } from 'lucide-react'
import type { ReactNode } from 'react'

export type NavItem = { href: string; label: string; icon: ReactNode; count?: number; startsGroup?: boolean }

/** The places of one organisation, in order. `waiting` is how many approvals wait for an answer. */
export function navItems(slug: string, waiting: number): NavItem[] {
  return [
    { href: `/${slug}`, label: 'Overview', icon: <Gauge aria-hidden /> },
    { href: `/${slug}/boundaries`, label: 'Boundaries', icon: <Shield aria-hidden /> },
    { href: `/${slug}/approvals`, label: 'Approvals', icon: <Inbox aria-hidden />, count: waiting },
    { href: `/${slug}/machines`, label: 'Machines', icon: <Laptop aria-hidden />, startsGroup: true },
    { href: `/${slug}/members`, label: 'Members', icon: <Users aria-hidden /> },
    { href: `/${slug}/audit`, label: 'Audit', icon: <ScrollText aria-hidden /> },
    { href: `/${slug}/settings`, label: 'Settings', icon: <Settings aria-hidden /> },
  ]
}

/** The item whose page, or a page beneath it, is shown. The overview only when it is shown itself. */
export function currentHref(items: readonly NavItem[], pathname: string): string | undefined {
  const [overview, ...rest] = items
  if (pathname === overview?.href) return overview.href
  return rest.find(item => pathname === item.href || pathname.startsWith(`${item.href}/`))?.href
}
