import { headers } from 'next/headers'
import { ApiProvider } from '#app/_client/trpc.tsx'
import { isPlace } from '#app/_shell/places.ts'
import { Button } from '#app/_ui/button.tsx'
import { EmptyState } from '#app/_ui/empty-state.tsx'
import { Logo } from '#app/_ui/logo.tsx'
import { organisationOf } from '#app/asked.ts'
import { api } from '#server/api/caller.ts'
import { currentActor } from '#server/auth/current.ts'
import { PATH_HEADER } from '#server/auth/path-header.ts'
import NotFoundHere from './(console)/[org]/not-found.tsx'
import { OrganisationFrame } from './(console)/[org]/organisation-frame.tsx'
import type { Session } from './(console)/[org]/outputs.ts'

export const metadata = { title: 'Not found' }

/**
 * For every address that leads nowhere, and for what this reader may not see: the two look alike on purpose. Beneath the
 * reader's own organisation the navigation stays.
 */
export default async function NotFound() {
  const session = await sessionHere()
  if (session) {
    return (
      <ApiProvider>
        <OrganisationFrame session={session}>
          <NotFoundHere />
        </OrganisationFrame>
      </ApiProvider>
    )
  }
  return (
    <main className="grid min-h-dvh place-content-center justify-items-center p-6">
      <Logo />
      <EmptyState headingLevel={1} title="There is nothing here" action={<Button href="/">Go to the start</Button>}>
        The address is wrong, the thing is gone, or your account may not see it.
      </EmptyState>
    </main>
  )
}

/**
 * Whoever is signed in, where the address lies beneath their organisation and no page has it. Next makes this part of every
 * page in case it is needed, so for the addresses that exist it asks nothing.
 */
async function sessionHere(): Promise<Session | null> {
  const path = (await headers()).get(PATH_HEADER) ?? ''
  const org = organisationOf(path)
  if (org === undefined || isPlace(org, path)) return null
  try {
    if ((await currentActor())?.orgSlug !== org) return null
    return await (await api()).session.current()
  } catch {
    return null // the plain page needs no database
  }
}
