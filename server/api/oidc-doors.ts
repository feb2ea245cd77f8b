import { AppError } from '#core/error.ts'
import { FRESH_SIGN_IN_MS } from '#core/limits.ts'
import { clientAddress } from '../auth/client-address.ts'
import { dropCookie, readCookie } from '../auth/cookies.ts'
import { type Accept, runOidc } from '../auth/oidc.ts'
import { safePath } from '../auth/origin.ts'
import { env } from '../env.ts'
import { offeredConnections, openConnection } from '../features/connection.ts'
import { openVisit } from '../features/context.ts'
import { demandRate } from '../features/rate.ts'
import { signInWithProvider } from '../features/single-sign-on.ts'
import { webDoor } from './web-door.ts'

const refuseAll: Accept = async () => {
  throw new AppError('FORBIDDEN', 'No provider was asked.', { details: { why: 'provider_refused' } })
}

/**
 * Begins a sign-in through an organisation's provider: `org` its slug, `connection` where it has several, `next`, `fresh=1`
 * to have the provider ask again. The same answer for an organisation without a provider and for none at all.
 */
export const singleSignOnDoor = {
  ...webDoor('sso', async () => ({ to: '/sign-in' })),
  async POST(request: Request): Promise<Response> {
    const read = request.clone()
    let going: Response | undefined
    const door = webDoor(
      'sso',
      async form => {
        const visit = openVisit()
        await demandRate(visit, 'singleSignOnByAddress', clientAddress(request.headers))
        const offered = await offeredConnections(visit.db, form.get('org'))
        const chosen = form.get('connection') ? offered.find(each => each.id === form.get('connection')) : offered[0]
        const connection = chosen && (await openConnection(visit.db, chosen.id))
        if (!connection)
          throw new AppError('NOT_FOUND', 'There is no single sign-on under this name.', { details: { why: 'no_sso' } })
        const next = safePath(form.get('next')) ?? `/${form.get('org')}`
        going = pageTo(await startDance(request, connection, next, form.get('fresh') === '1'))
        return { to: '/sign-in' }
      },
      form => `/sign-in${form.get('org') ? `?org=${encodeURIComponent(form.get('org'))}` : ''}`,
    )
    const answer = await door.POST(read)
    return going ?? answer
  },
}

/**
 * A form may lead to ourselves only (`form-action 'self'`, redirects included), so the way to the provider is a small page
 * that goes on by itself, and has a link for whoever it does not.
 */
function pageTo(going: Response): Response {
  const to = going.headers.get('location') ?? ''
  if (to.startsWith(`${env().publicUrl}/`)) return going
  const safe = to.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;')
  const headers = new Headers(going.headers)
  headers.delete('location')
  headers.set('content-type', 'text/html; charset=utf-8')
  headers.set('content-security-policy', "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
  headers.set('referrer-policy', 'no-referrer')
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Going to your sign-in provider</title><meta http-equiv="refresh" content="0;url=${safe}"><p><a href="${safe}">Go on to your sign-in provider</a></p></html>`
  return new Response(html, { status: 200, headers })
}

/** `prompt` has the provider ask; `max_age` obliges it to say when it did (OpenID Connect Core, section 3.1.2.1). */
const ASK_AGAIN = `?prompt=login&max_age=${FRESH_SIGN_IN_MS / 1000}`

/** The library wants its own token back with the form that starts: it is asked for one first, as a page would. */
async function startDance(
  request: Request,
  connection: NonNullable<Awaited<ReturnType<typeof openConnection>>>,
  next: string,
  fresh: boolean,
): Promise<Response> {
  const at = (path: string, cookie: string, method: string) =>
    new Request(`${env().publicUrl}/api/auth/${path}`, { method, headers: cookie ? { cookie } : {} })
  const asked = await runOidc(at('csrf', request.headers.get('cookie') ?? '', 'GET'), ['csrf'], connection, refuseAll)
  const { csrfToken } = (await asked.json()) as { csrfToken: string }
  const jar = [request.headers.get('cookie') ?? '', ...asked.headers.getSetCookie().map(line => line.split(';')[0])]
    .filter(Boolean)
    .reverse()
    .join('; ')
  const form = { csrfToken, callbackUrl: `${env().publicUrl}${next}` }
  const going = await runOidc(
    at(`signin/${connection.id}${fresh ? ASK_AGAIN : ''}`, jar, 'POST'),
    ['signin', connection.id],
    connection,
    refuseAll,
    form,
  )
  const named = new Set(going.headers.getSetCookie().map(nameOf))
  for (const line of asked.headers.getSetCookie())
    if (!named.has(nameOf(line))) going.headers.append('set-cookie', line)
  return going
}

const nameOf = (line: string) => line.slice(0, line.indexOf('='))

/** The provider sends the browser back here. Everything is decided by what the provider asserts; nobody's session is read. */
async function callback(request: Request, id: string): Promise<Response> {
  const visit = openVisit()
  const connection = await openConnection(visit.db, id)
  if (!connection)
    return new Response(null, { status: 303, headers: { location: `${env().publicUrl}/sign-in?error=no_sso` } })
  const replaces = readCookie(request, 'session')
  const answer = await runOidc(request, ['callback', id], connection, claims =>
    signInWithProvider(visit, connection, claims, replaces),
  )
  // A look-only session ends where an own sign-in began.
  if (!answer.headers.get('location')?.includes('/sign-in?error='))
    answer.headers.append('set-cookie', dropCookie('look'))
  return answer
}

const nothing = () => new Response(null, { status: 404, headers: { 'cache-control': 'no-store' } })

/** `/api/auth/…`: the provider's way back and nothing else of the library. Signing out is ours (/auth/sign-out). */
export const libraryDoor = {
  GET: (request: Request, [action, id, ...rest]: readonly string[]): Promise<Response> | Response =>
    action === 'callback' && id && rest.length === 0 ? callback(request, id) : nothing(),
  HEAD: (): Response => new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } }),
}
