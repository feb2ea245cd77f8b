import type { ReactNode } from 'react'
import { Banner } from '#app/_ui/banner.tsx'
import { Button } from '#app/_ui/button.tsx'
import { pathWith } from '#app/asked.ts'

/** A sign-in that is too old for some acts: why, and where to renew it. */
export type TooOld = { why: string; again: string }

/** The address that signs in anew and leads back to a page of the organisation. */
export const againAt = (org: string, page: string): string =>
  pathWith('/sign-in', { next: `/${org}/${page}`, org, fresh: '1' })

/** Beside acts that take a sign-in of the last minutes; `children` names them. */
export function SignInAgain({ tooOld, children }: { tooOld: TooOld; children: ReactNode }) {
  return (
    <Banner
      kind="stale"
      title={tooOld.why}
      action={
        <Button size="sm" href={tooOld.again}>
          Sign in again
        </Button>
      }
    >
      {children}
    </Banner>
  )
}
