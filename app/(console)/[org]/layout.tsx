import { redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { Shell } from '#app/_shell/shell.tsx'
import { methodName } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { StandingNotices } from './standing-notices.tsx'

type Props = { children: ReactNode; params: Promise<{ org: string }> }

/** The frame around every page of one organisation. */
export default async function OrganisationLayout({ children, params }: Props) {
  const { org } = await params
  await requireActor(org)
  const session = await (await api()).session.current()
  if (!session) redirect(`/sign-in?next=/${org}`)
  const { member, organisations, waiting } = session
  return (
    <Shell
      org={session.org}
      member={{ name: member.name, email: member.email, role: member.role, method: methodName(member.method) }}
      waiting={waiting}
      organisations={organisations}
      banners={<StandingNotices session={session} />}
    >
      {children}
    </Shell>
  )
}
