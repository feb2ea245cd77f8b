import { redirect } from 'next/navigation'
import { currentActor } from '#server/auth/current.ts'

/** The way in: to one's organisation, or to the sign-in. */
export default async function Start() {
  const actor = await currentActor()
  redirect(actor ? `/${actor.orgSlug}` : '/sign-in')
}
