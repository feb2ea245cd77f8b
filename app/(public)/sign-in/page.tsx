import { KeyRound, Mail } from 'lucide-react'
import type { Metadata } from 'next'
import Link from 'next/link'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { Field } from '#app/_ui/field.tsx'
import { TextInput } from '#app/_ui/text-input.tsx'
import { type Asked, organisationOf, pathWith, readAsked } from '#app/asked.ts'
import { api } from '#server/api/caller.ts'
import { currentActor, mayReadDemoMail } from '#server/auth/current.ts'
import { Frame } from '../frame.tsx'
import { HiddenFields } from '../hidden-fields.tsx'
import { RefusalBanner } from '../refusal-banner.tsx'
import { DemoMembers } from './demo-members.tsx'

export const metadata: Metadata = { title: 'Sign in' }

/**
 * `org` names an organisation, whose providers are offered; `sso` says that a person typed it here; `fresh` has a provider
 * ask for the password again.
 */
export default async function SignInPage({ searchParams }: { searchParams: Asked }) {
  const {
    next,
    error,
    org: named,
    sso,
    fresh,
    'signed-out': signedOut,
  } = await readAsked(searchParams, 'next', 'error', 'org', 'sso', 'fresh', 'signed-out')
  const org = named ?? organisationOf(next)
  const [actor, demoMail, connections] = await Promise.all([
    currentActor(),
    mayReadDemoMail(),
    org ? (await api()).session.connections({ org: org.slice(0, 64) }) : [],
  ])
  const looked = named !== undefined && sso !== undefined
  const noneThere = looked && connections.length === 0 && error === undefined
  const demoMembers = demoMail ? await (await api()).session.demoMembers({ org }) : []
  return (
    <Frame
      title="Sign in"
      sub={
        connections.length > 0
          ? 'Through your organisation’s provider, or with a code that we send to your e-mail address.'
          : 'We send a code to your e-mail address. There is no password.'
      }
      notice={
        <>
          <RefusalBanner code={error ?? (noneThere ? 'no_sso' : undefined)} />
          {signedOut && !actor && <Banner kind="note" title="You are signed out." />}
          {actor && (
            <Banner
              kind="note"
              title={`You are signed in as ${actor.name}.`}
              action={
                <Button size="sm" href={`/${actor.orgSlug}`}>
                  Go on
                </Button>
              }
            >
              Signing in again replaces that session.
            </Banner>
          )}
          {next && !actor && !error && <Banner kind="note" title="Sign in to go on to the page you opened." />}
        </>
      }
      below={
        <>
          {demoMail && (
            <p>
              This start sends no mail: what it would send lies in the{' '}
              <Link className="link" href="/mailbox">
                demo mailbox
              </Link>
              .
            </p>
          )}
          {demoMembers.length > 0 && <DemoMembers members={demoMembers} next={next} />}
          <p>Not a member yet? An owner or admin of your organisation invites you.</p>
        </>
      }
    >
      {connections.length > 0 && (
        <>
          <div className="grid gap-2">
            {connections.map(({ id, name }) => (
              <form key={id} method="post" action="/auth/sso">
                <HiddenFields fields={{ org, connection: id, next, fresh }} />
                <Button type="submit" variant="primary" size="lg" className="w-full" icon={<KeyRound aria-hidden />}>
                  <span className="truncate" title={name}>
                    Go on with {name}
                  </span>
                </Button>
              </form>
            ))}
          </div>
          <div
            aria-hidden
            className="flex items-center gap-3 text-ink-3 text-xs before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line"
          >
            or
          </div>
        </>
      )}
      <form method="post" action="/auth/email" className="grid gap-4">
        <HiddenFields fields={{ next }} />
        <Field label="E-mail address" required>
          <TextInput
            name="email"
            type="email"
            autoComplete="email"
            inputMode="email"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={320}
            autoFocus={connections.length === 0}
          />
        </Field>
        <Button
          type="submit"
          size="lg"
          variant={connections.length > 0 ? 'secondary' : 'primary'}
          icon={<Mail aria-hidden />}
        >
          Send me a code
        </Button>
      </form>
      {connections.length === 0 && (
        <details className="group border-t pt-4" open={looked}>
          <summary className="w-fit cursor-pointer list-none rounded-sm text-ink-2 underline decoration-line-strong underline-offset-3 hover:text-ink">
            Your organisation has single sign-on?
          </summary>
          <form method="get" action="/sign-in" className="mt-3 flex items-end gap-2">
            <HiddenFields fields={{ next, fresh, sso: '1' }} />
            <Field label="Organisation’s short name" hint={undefined} className="flex-1" required>
              <TextInput
                name="org"
                defaultValue={looked ? named : undefined}
                autoComplete="organization"
                autoCapitalize="off"
                spellCheck={false}
                maxLength={64}
                placeholder="acme"
              />
            </Field>
            <Button type="submit">Look it up</Button>
          </form>
        </details>
      )}
      {org && connections.length > 0 && (
        <p className="text-ink-3 text-sm">
          For the organisation <strong className="font-medium text-ink-2">{org}</strong>.{' '}
          <Link className="link" href={pathWith('/sign-in', { next: organisationOf(next) === org ? undefined : next })}>
            Use another organisation
          </Link>
        </p>
      )}
    </Frame>
  )
}
