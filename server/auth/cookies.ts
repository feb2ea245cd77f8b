import { env } from '../env.ts'

/**
 * Every cookie of the product, its name and its flags: the writer and the reader cannot disagree. On https all of
 * them carry the `__Host-` prefix (Secure, Path=/, no Domain: no sibling host can plant one); on plain http, which is
 * loopback only, browsers would refuse the prefix.
 *
 * SameSite is Lax and not Strict, because a mailed link to a request must open signed in. Nothing changes state on GET, and
 * every POST checks its Origin, which also holds between ports of localhost, where SameSite does not.
 *
 * `look` holds a `device_link` session. It is a cookie of its own that the sign-in library is never shown, and no name of
 * ours is the beginning of another: the library takes every cookie that begins with its session's name for a part of it.
 */
const COOKIES = {
  session: 'holdpoint-session',
  look: 'holdpoint-look',
  /** The browser's nonce: an e-mail code or link works only where it is. */
  attempt: 'holdpoint-attempt',
  oidcCsrf: 'holdpoint-oidc-csrf',
  oidcNext: 'holdpoint-oidc-next',
  oidcPkce: 'holdpoint-oidc-pkce',
  oidcState: 'holdpoint-oidc-state',
  oidcNonce: 'holdpoint-oidc-nonce',
} as const
export type CookieName = keyof typeof COOKIES

const isSecure = (): boolean => env().publicUrl.startsWith('https:')

/** The name on the wire. */
export const cookieName = (cookie: CookieName): string => `${isSecure() ? '__Host-' : ''}${COOKIES[cookie]}`

/** The flags that all of them share, as the sign-in library wants them. */
export const cookieFlags = () => ({ httpOnly: true, sameSite: 'lax' as const, path: '/', secure: isSecure() })

/** A `Set-Cookie` line. Without `expires` the cookie ends with the browser. */
export function setCookie(cookie: CookieName, value: string, expires?: Date): string {
  const end = expires ? `; Expires=${expires.toUTCString()}` : ''
  return `${cookieName(cookie)}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure() ? '; Secure' : ''}${end}`
}

/** A `Set-Cookie` line that takes a cookie away. */
export const dropCookie = (cookie: CookieName): string => `${setCookie(cookie, '')}; Max-Age=0`

/** The cookies of a request's header by their names on the wire; of two with one name the first. */
export function parseCookies(header: string | null): Map<string, string> {
  const found = new Map<string, string>()
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0)).trim()
    if (name !== '' && !found.has(name)) found.set(name, part.slice(at + 1).trim())
  }
  return found
}

/** The value of one of ours in a request, if it is there. */
export const readCookie = (request: Request, cookie: CookieName): string | undefined =>
  parseCookies(request.headers.get('cookie')).get(cookieName(cookie)) || undefined
