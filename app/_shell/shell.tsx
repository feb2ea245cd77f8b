import type { ReactNode } from 'react'
import { MemberMenu, type ShellMember } from './member-menu.tsx'
import { NavLinks } from './nav-links.tsx'
import { type Organisation, OrganisationSwitch } from './organisation-switch.tsx'
import { PhoneBar } from './phone-bar.tsx'

type Props = {
  org: Organisation
  member: ShellMember
  /** Approvals that wait for an answer. */
  waiting: number
  organisations: readonly Organisation[]
  /** Standing notices over every page. */
  banners?: ReactNode
  children: ReactNode
}

/** The frame of every console page: navigation left, or a bar and a sheet on phones. Gets all it shows as props. */
export function Shell({ org, member, waiting, organisations, banners, children }: Props) {
  return (
    <div className="grid min-h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[auto_1fr] md:grid-cols-[13.5rem_minmax(0,1fr)] md:grid-rows-1 print:block">
      <a
        href="#main"
        className="fixed top-2 left-2 z-60 -translate-y-16 rounded-md border border-accent bg-panel px-3 py-1.5 font-medium focus:translate-y-0"
      >
        Skip to the page
      </a>
      <PhoneBar {...{ org, member, waiting, organisations }} />
      <header className="sticky top-0 hidden h-dvh flex-col border-r bg-panel px-3 py-4 md:flex print:hidden">
        <div className="mb-3">
          <OrganisationSwitch org={org} organisations={organisations} />
        </div>
        <div className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1">
          <NavLinks slug={org.slug} waiting={waiting} />
        </div>
        <div className="-mx-3 mt-2 border-t px-3 pt-2">
          <MemberMenu member={member} />
        </div>
      </header>
      <main
        id="main"
        tabIndex={-1}
        className="min-w-0 max-w-295 px-4 pt-5 pb-10 outline-0 sm:px-8 sm:pt-6 print:max-w-none print:p-0"
      >
        {banners && <div className="mb-5 grid gap-2 empty:hidden print:hidden">{banners}</div>}
        {children}
      </main>
    </div>
  )
}
