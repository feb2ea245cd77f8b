import type { ReactNode } from 'react'
import { Shell } from '#app/_shell/shell.tsx'
import { methodName } from '#core/permission.ts'
import type { Session } from './outputs.ts'
import { StandingNotices } from './standing-notices.tsx'

/** Navigation and standing notices, for whoever is signed in. */
export function OrganisationFrame({ session, children }: { session: Session; children: ReactNode }) {
  const { org, member, organisations, waiting } = session
  return (
    <Shell
      org={org}
      member={{ name: member.name, email: member.email, role: member.role, method: methodName(member.method) }}
      waiting={waiting}
      organisations={organisations}
      banners={<StandingNotices session={session} />}
    >
      {children}
    </Shell>
  )
}
