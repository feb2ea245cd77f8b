import { redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { api } from '#server/api/caller.ts'
import { requireActor } from '#server/auth/current.ts'
import { OrganisationFrame } from './organisation-frame.tsx'

type Props = { children: ReactNode; params: Promise<{ org: string }> }

/** Around every page of one organisation, for its members only. */
export default async function OrganisationLayout({ children, params }: Props) {
  const { org } = await params
  await requireActor(org)
  const session = await (await api()).session.current()
  if (!session) redirect(`/sign-in?next=/${org}`)
  return <OrganisationFrame session={session}>{children}</OrganisationFrame>
}
