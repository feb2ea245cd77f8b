import { ChevronRight } from 'lucide-react'
import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { Button } from '#app/_ui/button.tsx'
import { type Asked, organisationOf, pathWith, readAsked } from '#app/asked.ts'
import { methodName } from '#core/permission.ts'
import { api } from '#server/api/caller.ts'
import { Frame } from '../../frame.tsx'
import { HiddenFields } from '../../hidden-fields.tsx'
import { RefusalBanner } from '../../refusal-banner.tsx'

export const metadata: Metadata = { title: 'Choose an organisation' }

/** `org` is the organisation of a page that was opened while signed in to another one. */
export default async function OrganisationPage({ searchParams }: { searchParams: Asked }) {
  const { next, error, org: wanted } = await readAsked(searchParams, 'next', 'error', 'org')
  const session = await (await api()).session.current()
  if (!session) redirect(pathWith('/sign-in', { next }))
  const { organisations, org: here, member } = session
  const reachable = wanted === undefined || organisations.some(({ slug }) => slug === wanted)
  return (
    <Frame
      title={wanted ? 'That page is of another organisation' : 'Which organisation?'}
      sub={
        wanted ? (
          <>
            You work in <strong>{here.name}</strong>; the page you opened is of{' '}
            <strong>{organisations.find(({ slug }) => slug === wanted)?.name ?? wanted}</strong>. One session sees one
            organisation.
          </>
        ) : organisations.length > 1 ? (
          `${member.email} belongs to more than one. You can change over later, at the top of the navigation.`
        ) : (
          `${member.email} belongs to this one only.`
        )
      }
      notice={<RefusalBanner code={error} />}
    >
      {reachable ? (
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-2">
          {organisations.map(({ slug, name }) => (
            <li key={slug}>
              <form method="post" action="/auth/organisation">
                <HiddenFields
                  fields={{
                    org: slug,
                    next: organisationOf(next) === undefined || organisationOf(next) === slug ? next : undefined,
                  }}
                />
                <button
                  type="submit"
                  className="flex min-h-12 w-full items-center gap-3 rounded-lg border border-line-strong px-4 py-2 text-left hover:border-control hover:bg-raised"
                >
                  <span className="min-w-0 flex-1">
                    <span className="block truncate font-medium" title={name}>
                      {name}
                    </span>
                    <span className="block truncate text-ink-3 text-xs">
                      {slug}
                      {slug === here.slug && ', where you are now'}
                    </span>
                  </span>
                  <ChevronRight aria-hidden className="size-4 text-ink-3" />
                </button>
              </form>
            </li>
          ))}
        </ul>
      ) : (
        <>
          <p className="text-ink-2">
            This session began with {methodName(member.method)}, which is good for {here.name} only. Sign in anew to
            open the page.
          </p>
          <div className="flex flex-wrap gap-2">
            <Button variant="primary" href={pathWith('/sign-in', { next })}>
              Sign in
            </Button>
            <Button href={`/${here.slug}`}>
              <span className="truncate" title={here.name}>
                Stay in {here.name}
              </span>
            </Button>
          </div>
        </>
      )}
    </Frame>
  )
}
