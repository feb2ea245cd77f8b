'use client'

import { Menu as MenuIcon } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { IconButton } from '#app/_ui/icon-button.tsx'
import { LogoMark } from '#app/_ui/logo.tsx'
import { Name } from '#app/_ui/name.tsx'
import { Sheet } from '#app/_ui/sheet.tsx'
import { MemberMenu, type ShellMember } from './member-menu.tsx'
import { NavLinks, WaitingCount } from './nav-links.tsx'
import { type Organisation, OrganisationSwitch } from './organisation-switch.tsx'

type Props = { org: Organisation; member: ShellMember; waiting: number; organisations: readonly Organisation[] }

/** The bar at the top of a phone: the sheet with the navigation, where one is, and what waits. */
export function PhoneBar({ org, member, waiting, organisations }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <header className="sticky top-0 z-30 flex min-h-13 items-center gap-2 border-b bg-panel px-2 md:hidden print:hidden">
      <Sheet
        title="Navigation"
        open={open}
        onOpenChange={setOpen}
        trigger={<IconButton label="Open navigation" icon={<MenuIcon aria-hidden />} side="bottom" />}
        head={<OrganisationSwitch org={org} organisations={organisations} />}
      >
        <NavLinks slug={org.slug} waiting={waiting} onNavigate={() => setOpen(false)} />
        <div className="-mx-3 mt-auto border-t px-3 pt-2">
          <MemberMenu member={member} />
        </div>
      </Sheet>
      <Link href={`/${org.slug}`} className="flex min-w-0 items-center gap-2 rounded-md px-1 py-1.5">
        <LogoMark />
        <Name className="font-semibold">{org.name}</Name>
        <span className="sr-only">, overview</span>
      </Link>
      {waiting > 0 && (
        <Link
          href={`/${org.slug}/approvals`}
          className="ml-auto flex min-h-10 shrink-0 items-center rounded-md px-2 text-sm text-waiting"
        >
          <WaitingCount count={waiting} className="ml-0 px-2" />
          <span aria-hidden className="ml-1.5">
            waiting
          </span>
        </Link>
      )}
    </header>
  )
}
