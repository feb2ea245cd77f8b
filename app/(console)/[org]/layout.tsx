import { headers } from 'next/headers'
import { notFound, redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { isPlace } from '#app/_shell/places.ts'
import { Shell } from '#app/_shell/shell.tsx'
import { organisationOf } from '#app/asked.ts'
import { methodName } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { currentActor, requireActor } from '#server/auth/current.ts'
import { PATH_HEADER } from '#server/auth/path-header.ts'
import { StandingNotices } from './standing-notices.tsx'

type Props = { children: ReactNode; params: Promise<{ org: string }> }

/** The frame around every page of one organisation. */
export default async function OrganisationLayout({ children, params }: Props) {
  const { org } = await params
  const path = (await headers()).get(PATH_HEADER) ?? ''
  // An address that leads nowhere is told so at once; signing in would not help.
  if (organisationOf(`/${org}`) === undefined || (!isPlace(org, path) && !(await currentActor()))) notFound()
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
