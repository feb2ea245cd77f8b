import { cookies, headers } from 'next/headers'
import { notFound, redirect } from 'next/navigation'
import { cache } from 'react'
import type { MemberActor } from '#core/actor.ts'
import { database } from '../db.ts'
import { cookieName } from './cookies.ts'
import { isDirectLocal } from './demo-mode.ts'
import { PATH_HEADER } from './path-header.ts'
import { readActor } from './session.ts'

/** Who is signed in, for server components: one look-up per request. */
export const currentActor = cache(async (): Promise<MemberActor | null> => {
  const jar = await cookies()
  const value = (cookie: 'session' | 'look') => jar.get(cookieName(cookie))?.value
  return readActor(database().prisma, { session: value('session'), look: value('look') }, new Date())
})

/**
 * The signed-in member of an organisation's page. Nobody signed in: to the sign-in page, and back here afterwards. Somebody
 * of another organisation: not found, unless they belong to this one too; then they are asked whether to change over.
 */
export async function requireActor(slug: string): Promise<MemberActor> {
  const actor = await currentActor()
  const here = (await headers()).get(PATH_HEADER) ?? `/${slug}`
  if (!actor) redirect(`/sign-in?next=${encodeURIComponent(here)}`)
  if (actor.orgSlug === slug) return actor
  const elsewhere = await database().prisma.member.count({
    where: { email: actor.email, removedAt: null, org: { slug } },
  })
  if (elsewhere === 0) notFound()
  redirect(`/sign-in/organisation?org=${encodeURIComponent(slug)}&next=${encodeURIComponent(here)}`)
}

/** Whether this request may see the demo mailbox. */
export const mayReadDemoMail = cache(async (): Promise<boolean> => isDirectLocal(await headers()))
