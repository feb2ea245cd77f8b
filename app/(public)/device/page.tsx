import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { ApiProvider } from '#app/_client/trpc.tsx'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { whyNot } from '#core/permission.ts'
import { currentActor } from '#server/auth/current.ts'
import { Frame } from '../frame.tsx'
import { ConfirmLogin } from './confirm-login.tsx'

export const metadata: Metadata = { title: 'Allow the command' }

/** The code is typed by hand and never stands in the address: whoever follows a link cannot be made to confirm. */
export default async function DevicePage() {
  const actor = await currentActor()
  if (!actor) redirect('/sign-in?next=/device')
  const again = `/sign-in?next=/device&org=${actor.orgSlug}&fresh=1`
  const refusal = whyNot(actor, 'credential.make')
  return (
    <Frame
      title="Allow the command on a machine"
      sub={
        <>
          Somebody typed <code>holdpoint team admin login</code> on a machine; it shows a code of eight letters. Type it
          here only if that was you.
        </>
      }
      below={
        <p>
          You are signed in as {actor.name} ({actor.role}) of {actor.orgSlug}.{' '}
          <a className="link" href={`/${actor.orgSlug}`}>
            Go to the overview
          </a>
        </p>
      }
    >
      {!refusal ? (
        <ApiProvider>
          <ConfirmLogin again={again} />
        </ApiProvider>
      ) : refusal.remedy ? (
        <Banner
          kind="note"
          title={refusal.why}
          action={
            <Button size="sm" href={again}>
              Sign in
            </Button>
          }
        >
          {refusal.remedy}
        </Banner>
      ) : (
        <Banner kind="note" title={refusal.why}>
          The command for admins publishes boundaries and answers requests; what you need on your own machine works
          without it.
        </Banner>
      )}
    </Frame>
  )
}
