import { AppError, isAppError } from '#core/error.ts'
import { demandOwnOrigin } from '../auth/origin.ts'
import { env } from '../env.ts'
import { log } from '../log.ts'
import { toAppError } from './outage.ts'
import { readText } from './read-text.ts'

/** Where a form leads and what the browser is to keep. */
export type Outcome = { to: string; cookies?: readonly string[] }
type Form = { get(name: string): string }

const BODY_MAX = 16 * 1024

/**
 * A door for plain HTML forms: POST with an Origin check, form-encoded, answered with 303 to a page of ours. Errors go to
 * the page that `back` names with a short code in its query. Anything but POST changes nothing: link scanners send GET
 * and HEAD, and are led to the sign-in page, or told nothing.
 */
export function webDoor(
  name: string,
  post: (form: Form, request: Request) => Promise<Outcome>,
  back: (form: Form) => string = () => '/sign-in',
) {
  async function take(request: Request): Promise<Response> {
    let form: Form = { get: () => '' }
    try {
      demandOwnOrigin(request)
      form = await readForm(request)
      return leadTo(await post(form, request))
    } catch (error) {
      const known = isAppError(error) ? error : toAppError(error)
      const why = known.code === 'INTERNAL' ? 'failed' : String(known.details?.why ?? known.code.toLowerCase())
      if (known.code === 'INTERNAL' || known.code === 'UNAVAILABLE')
        log.error('web.failed', known.cause ?? known, { door: name })
      const page = back(form)
      return leadTo({ to: `${page}${page.includes('?') ? '&' : '?'}error=${encodeURIComponent(why)}` })
    }
  }
  return { POST: take, HEAD: tellNothing, GET: showSignIn }
}

/** Next would answer HEAD with the GET handler. */
const tellNothing = (): Response => new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
const showSignIn = (): Response => leadTo({ to: '/sign-in' })

/** 303, so that the browser goes on with GET. The address is built from the public one, never from a Host header. */
function leadTo({ to, cookies = [] }: Outcome): Response {
  const headers = new Headers({
    location: `${env().publicUrl}${to}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}

async function readForm(request: Request): Promise<Form> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new AppError('BAD_INPUT', 'This takes a form.', { details: { why: 'form' } })
  const text = await readText(request, BODY_MAX)
  if (text === undefined) throw new AppError('TOO_LARGE', 'The form is too large.', { details: { why: 'form' } })
  const fields = new URLSearchParams(text)
  return { get: name => fields.get(name) ?? '' }
}
