import NextAuth, { type NextAuthOptions } from 'next-auth'
import type { Adapter } from 'next-auth/adapters'
import { isAppError } from '#core/error.ts'
import { env, subkey } from '../env.ts'
import { log } from '../log.ts'
import { type CookieName, cookieFlags, cookieName, parseCookies } from './cookies.ts'

/**
 * The one module that knows next-auth (4.24). It is used for one thing: the OpenID Connect dance with an organisation's
 * provider (discovery, PKCE, state, nonce, code exchange, checks of the id token). It never sees a session of ours: it is
 * handed its own cookies only, so it can neither link an account to whoever is signed in nor take a look-only session for
 * one. Who is signed in, and as whom, is decided by `accept`; the session row is ours.
 */
export type Provider = { id: string; name: string; issuer: string; clientId: string; clientSecret: string }

/** What the provider asserted; the library has checked signature, audience, nonce and expiry. */
export type Asserted = { iss: string; sub: string; email?: unknown; email_verified?: unknown; auth_time?: unknown }

export type Accept = (
  claims: Asserted,
) => Promise<{ token: string; expiresAt: Date; memberId: string; orgSlug: string }>

/** Where a sign-in through a provider can end for the page that says it in words. */
export type OidcRefusal =
  | 'provider_unreachable'
  | 'provider_refused'
  | 'issuer'
  | 'unverified'
  | 'domain'
  | 'no_member'
  | 'no_sso'

const OWN: readonly CookieName[] = ['oidcCsrf', 'oidcNext', 'oidcPkce', 'oidcState', 'oidcNonce']

/** Runs one of the library's actions on a request: `['csrf']`, `['signin', id]`, `['callback', id]`. */
export async function runOidc(
  request: Request,
  action: readonly string[],
  provider: Provider | undefined,
  accept: Accept,
  form: Record<string, string> = {},
): Promise<Response> {
  // The library takes its own address from here and from nowhere else, never from a Host header.
  process.env.NEXTAUTH_URL = env().publicUrl
  const reply = new Reply()
  const cookies = parseCookies(request.headers.get('cookie'))
  const own = OWN.map(cookieName).flatMap(name =>
    cookies.has(name) ? [[name, decodeURIComponent(cookies.get(name)!)]] : [],
  )
  const call = {
    method: request.method,
    query: { ...Object.fromEntries(new URL(request.url).searchParams), nextauth: [...action] },
    body: form,
    cookies: Object.fromEntries(own),
    headers: { host: new URL(env().publicUrl).host },
  }
  await NextAuth(call as never, reply as never, options(provider, accept))
  return reply.toResponse()
}

function options(provider: Provider | undefined, accept: Accept): NextAuthOptions {
  const cookie = (name: CookieName) => ({ name: cookieName(name), options: cookieFlags() })
  const begun: Begun = {}
  return {
    secret: subkey('next-auth').toString('base64url'),
    session: { strategy: 'database' },
    adapter: adapterOf(begun),
    pages: { signIn: '/sign-in', error: '/sign-in' },
    cookies: {
      sessionToken: cookie('session'),
      csrfToken: cookie('oidcCsrf'),
      callbackUrl: cookie('oidcNext'),
      pkceCodeVerifier: cookie('oidcPkce'),
      state: cookie('oidcState'),
      nonce: cookie('oidcNonce'),
    },
    callbacks: {
      async signIn({ profile }) {
        try {
          begun.session = await accept(profile as unknown as Asserted)
          return true
        } catch (error) {
          if (!isAppError(error)) throw error
          return `/sign-in?error=${encodeURIComponent(String(error.details?.why ?? 'provider_refused'))}`
        }
      },
    },
    logger: {
      // Its metadata holds tokens and claims: only the code and an error's own words are written.
      error: (code, meta) => log.warn('oidc.failed', { code, message: wordsOf(meta) }),
      warn: () => {},
      debug: () => {},
    },
    providers: provider ? [providerOf(provider)] : [],
  }
}

const wordsOf = (meta: unknown): string => {
  const error = meta instanceof Error ? meta : (meta as { error?: unknown })?.error
  return error instanceof Error ? error.message.slice(0, 300) : ''
}

function providerOf({ id, name, issuer, clientId, clientSecret }: Provider): NextAuthOptions['providers'][number] {
  return {
    id,
    name,
    type: 'oauth',
    wellKnown: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    clientId,
    clientSecret,
    authorization: { params: { scope: 'openid email profile' } },
    checks: ['pkce', 'state', 'nonce'],
    idToken: true,
    httpOptions: { timeout: 10_000 },
    userinfo: {
      // The id token decides; where it carries no address the userinfo endpoint is asked (the library compares `sub`).
      async request({ tokens, client }) {
        const claims = (tokens as unknown as { claims(): Record<string, unknown> }).claims()
        if (claims.email !== undefined || !client.issuer.metadata.userinfo_endpoint) return claims as never
        const { email, email_verified } = (await client.userinfo(tokens as never)) as Record<string, unknown>
        return { ...claims, email, email_verified } as never
      },
    },
    profile: claims => ({
      id: String(claims.sub),
      email: typeof claims.email === 'string' ? claims.email : null,
      name: null,
    }),
  }
}

type Begun = { session?: Awaited<ReturnType<Accept>> }

/**
 * What the library asks its adapter for, answered from what `accept` decided. Everything by which it would make users or link
 * accounts by itself refuses.
 */
function adapterOf(begun: Begun): Adapter {
  const never = async (): Promise<never> => {
    throw new Error('next-auth tried to change accounts by itself')
  }
  const user = () => (begun.session ? { id: begun.session.memberId, email: '', emailVerified: null } : null)
  return {
    getUserByAccount: async () => user(),
    getUser: async () => null,
    getUserByEmail: async () => null,
    getSessionAndUser: async () => null,
    createSession: async () => {
      const { token, memberId, expiresAt } = begun.session!
      return { sessionToken: token, userId: memberId, expires: expiresAt }
    },
    createUser: never,
    updateUser: never,
    linkAccount: never,
    updateSession: never,
    deleteSession: never,
  }
}

/** The library's errors in our words. */
const CODES: Record<string, OidcRefusal> = { OAuthSignin: 'provider_unreachable' }
const OURS: readonly string[] = ['provider_unreachable', 'issuer', 'unverified', 'domain', 'no_member', 'no_sso']

/** The response object that next-auth writes to, gathered into a Response. */
class Reply {
  private status_ = 200
  private readonly headers = new Headers({ 'cache-control': 'no-store' })
  private body: string | null = null

  status(code: number): this {
    this.status_ = code
    return this
  }
  getHeader(name: string): string | string[] | undefined {
    return name.toLowerCase() === 'set-cookie' ? this.headers.getSetCookie() : (this.headers.get(name) ?? undefined)
  }
  setHeader(name: string, value: string | readonly string[]): this {
    this.headers.delete(name)
    for (const each of Array.isArray(value) ? value : [value]) this.headers.append(name, String(each))
    return this
  }
  json(value: unknown): void {
    this.headers.set('content-type', 'application/json')
    this.body = JSON.stringify(value)
  }
  send(value: unknown): void {
    if (value === undefined) return
    if (typeof value === 'object') this.json(value)
    else this.body = String(value)
  }
  end(): void {}

  toResponse(): Response {
    const to = this.headers.get('location')
    if (to) this.headers.set('location', this.where(to))
    return new Response(this.body, { status: to ? 303 : this.status_, headers: this.headers })
  }
  /** Errors all lead to the sign-in page with a short code of ours. */
  private where(to: string): string {
    const url = new URL(to, env().publicUrl)
    const error = url.searchParams.get('error')
    if (url.origin !== new URL(env().publicUrl).origin || error === null) return url.href
    const code = OURS.includes(error) ? error : (CODES[error] ?? 'provider_refused')
    return `${env().publicUrl}/sign-in?error=${code}`
  }
}
