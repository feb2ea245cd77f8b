import type { Metadata } from 'next'
import { Button } from '#app/_ui/button.tsx'
import { KeyValue } from '#app/_ui/key-value.tsx'
import { Time } from '#app/_ui/time.tsx'
import { ROLE_WORDS } from '#app/(console)/[org]/members/role-words.ts'
import { type Asked, readAsked } from '#app/asked.ts'
import { api } from '#server/api/caller.ts'
import { currentActor } from '#server/auth/current.ts'
import { Frame } from '../frame.tsx'
import { HiddenFields } from '../hidden-fields.tsx'
import { RefusalBanner } from '../refusal-banner.tsx'

export const metadata: Metadata = { title: 'Invitation' }

export default async function InvitationPage({ searchParams }: { searchParams: Asked }) {
  const { t, error } = await readAsked(searchParams, 't', 'error')
  const invitation = t ? await (await api()).session.invitation({ token: t.slice(0, 100) }) : null
  if (!invitation) {
    return (
      <Frame
        title="This invitation is not open"
        sub="It was accepted already, withdrawn, replaced by a newer one, or is older than a week. Whoever invited you can send a new one."
      >
        <Button href="/sign-in" size="lg">
          Go to sign-in
        </Button>
      </Frame>
    )
  }
  const actor = await currentActor()
  const { org, role, email, invitedBy, expiresAt } = invitation
  return (
    <Frame
      title={`${invitedBy} invites you to ${org.name}`}
      sub="Holdpoint sets limits for coding agents before work starts, and keeps a record of who let an agent go further."
      notice={<RefusalBanner code={error} />}
      below={<p>Opening this page accepted nothing. If you did not expect it, close it.</p>}
    >
      <KeyValue
        className="-mx-4 border-y"
        items={[
          { key: 'Organisation', value: org.name },
          {
            key: 'Your role',
            value: (
              <>
                <span className="font-medium">{role}</span>
                <div className="text-ink-2">{ROLE_WORDS[role]}</div>
              </>
            ),
          },
          { key: 'Your account', value: <span className="break-all">{email}</span> },
          { key: 'Open until', value: <Time at={expiresAt} /> },
        ]}
      />
      <form method="post" action="/auth/invitation" className="grid gap-3">
        <HiddenFields fields={{ t }} />
        <Button type="submit" variant="primary" size="lg">
          Accept: send me a code
        </Button>
        <p className="text-ink-2 text-sm">
          We send a code to <strong className="break-all font-medium">{email}</strong>; typing it accepts the invitation
          and signs you in.
          {actor && actor.email !== email && ` You are signed in as ${actor.email} now; that session ends then.`}
        </p>
      </form>
    </Frame>
  )
}
