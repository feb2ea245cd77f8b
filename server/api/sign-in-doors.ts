import { randomBytes } from 'node:crypto'
import { AppError, isAppError } from '#core/error.ts'
import { clientAddress } from '../auth/client-address.ts'
import { dropCookie, readCookie, setCookie } from '../auth/cookies.ts'
import { isDemoMode } from '../auth/demo-mode.ts'
import { safePath } from '../auth/origin.ts'
import { readActor } from '../auth/session.ts'
import { openVisit, type Visit } from '../features/context.ts'
import { readInvitation } from '../features/invitation.ts'
import { redeemOneTime } from '../features/one-time-sign-in.ts'
import { demandRate, type RateName } from '../features/rate.ts'
import { type BegunSession, endSessions, switchOrganisation } from '../features/session.ts'
import { redeemCode, redeemLink, startSignIn } from '../features/sign-in.ts'
import { type Outcome, webDoor } from './web-door.ts'

/** The nonce outlives its attempt a little, so that a late code is told "expired" and not "another browser". */
const NONCE_MS = 30 * 60_000

/** `name=value` pairs that are there, as a query. */
const query = (fields: Record<string, string | undefined>): string => {
  const found = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]))
  return found.length > 0 ? `?${new URLSearchParams(found)}` : ''
}

/** The organisation that a path is of, such as `acme` of `/acme/approvals/bnd-…`. */
const slugOf = (path: string | undefined) => path?.split(/[/?]/)[1]

const limit = (visit: Visit, name: RateName, request: Request) =>
  demandRate(visit, name, clientAddress(request.headers))

async function begin(
  visit: Visit,
  request: Request,
  input: { email: string; next?: string | undefined; invitationId?: string },
): Promise<Outcome> {
  await limit(visit, 'signInByAddress', request)
  const nonce = readCookie(request, 'attempt') ?? randomBytes(32).toString('base64url')
  const { attempt } = await startSignIn(visit, { ...input, nonce, demo: isDemoMode() })
  return {
    to: `/sign-in/code${query({ a: attempt, next: input.next })}`,
    cookies: [setCookie('attempt', nonce, new Date(visit.now.getTime() + NONCE_MS))],
  }
}

/** Ask for a code: `email`, `next`. */
export const emailDoor = webDoor(
  'email',
  async (form, request) => {
    const next = safePath(form.get('next'))
    try {
      return await begin(openVisit(), request, { email: form.get('email'), next })
    } catch (error) {
      if (isAppError(error) && error.code === 'BAD_INPUT')
        throw new AppError('BAD_INPUT', error.message, { details: { why: 'address' } })
      throw error
    }
  },
  form => `/sign-in${query({ next: safePath(form.get('next')) })}`,
)

/** Accept an invitation: `t`, its token. Signs in as the invited address; the code's redemption makes the member. */
export const invitationDoor = webDoor(
  'invitation',
  async (form, request) => {
    const visit = openVisit()
    const invitation = await readInvitation(visit, form.get('t'))
    if (!invitation)
      throw new AppError('FORBIDDEN', 'This invitation is not open any more.', { details: { why: 'invitation' } })
    return begin(visit, request, { email: invitation.email, invitationId: invitation.id })
  },
  form => `/invitation${query({ t: form.get('t') })}`,
)

/** Where somebody who just signed in goes: on to what they wanted, or first to choose an organisation. */
function signedIn(begun: BegunSession & { choices?: number }, next: string | undefined): Outcome {
  return {
    to: (begun.choices ?? 1) > 1 ? `/sign-in/organisation${query({ next })}` : homeOf(begun.orgSlug, next),
    cookies: [setCookie('session', begun.token, begun.expiresAt), dropCookie('look'), dropCookie('attempt')],
  }
}

/** What was wanted, where it is of the session's organisation or of none; the organisation's overview otherwise. */
function homeOf(orgSlug: string, next: string | undefined): string {
  return next && [orgSlug, 'device', 'mailbox'].includes(slugOf(next) ?? '') ? next : `/${orgSlug}`
}

/** Type the code: `a` the attempt, `code`, `next`. */
export const codeDoor = webDoor(
  'code',
  async (form, request) => {
    const visit = openVisit()
    await limit(visit, 'redeemByAddress', request)
    const next = safePath(form.get('next'))
    const begun = await redeemCode(visit, {
      nonce: readCookie(request, 'attempt'),
      attempt: form.get('a') || undefined,
      code: form.get('code'),
      wanted: slugOf(next),
      replaces: readCookie(request, 'session'),
    })
    return signedIn(begun, next)
  },
  form => `/sign-in/code${query({ a: form.get('a'), next: safePath(form.get('next')) })}`,
)

/** Press the button of a mailed link's page: `a` the link's secret, `next`. */
export const linkDoor = webDoor(
  'link',
  async (form, request) => {
    const visit = openVisit()
    await limit(visit, 'redeemByAddress', request)
    const next = safePath(form.get('next'))
    const begun = await redeemLink(visit, {
      nonce: readCookie(request, 'attempt'),
      link: form.get('a'),
      wanted: slugOf(next),
      replaces: readCookie(request, 'session'),
    })
    return signedIn(begun, next)
  },
  form => `/sign-in${query({ next: safePath(form.get('next')) })}`,
)

/** Press the button of the one-time address that the server printed: `t`. */
export const consoleDoor = webDoor('console', async (form, request) => {
  const visit = openVisit()
  await limit(visit, 'redeemByAddress', request)
  return signedIn(
    await redeemOneTime(visit, { token: form.get('t'), kind: 'console', replaces: readCookie(request, 'session') }),
    undefined,
  )
})

/** Press the button of a machine's link: `t`. Gives a look-only session in a cookie of its own. */
export const deviceLinkDoor = webDoor('device-link', async (form, request) => {
  const visit = openVisit()
  await limit(visit, 'redeemByAddress', request)
  const begun = await redeemOneTime(visit, {
    token: form.get('t'),
    kind: 'deviceLink',
    replaces: readCookie(request, 'look'),
  })
  return { to: `/${begun.orgSlug}`, cookies: [setCookie('look', begun.token, begun.expiresAt)] }
})

/** Change over to another organisation of the same address: `org`, `next`. */
export const organisationDoor = webDoor(
  'organisation',
  async (form, request) => {
    const visit = openVisit()
    const token = readCookie(request, 'session')
    const actor = token ? await readActor(visit.db, { session: token }, visit.now) : null
    if (!actor || !token) throw new AppError('NOT_SIGNED_IN', 'Sign in first.', { details: { why: 'signed_out' } })
    const next = safePath(form.get('next'))
    if (actor.orgSlug === form.get('org')) return { to: homeOf(actor.orgSlug, next) }
    return signedIn(await switchOrganisation({ ...visit, actor }, { org: form.get('org'), token }), next)
  },
  form => `/sign-in/organisation${query({ next: safePath(form.get('next')) })}`,
)

/** Sign out of both kinds of session. */
export const signOutDoor = webDoor('sign-out', async (_, request) => {
  const tokens = [readCookie(request, 'session'), readCookie(request, 'look')].filter(token => token !== undefined)
  await endSessions(openVisit().db, tokens)
  return { to: '/sign-in?signed-out=1', cookies: [dropCookie('session'), dropCookie('look')] }
})
