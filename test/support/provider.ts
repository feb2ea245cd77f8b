import { generateKeyPairSync } from 'node:crypto'
import http from 'node:http'
import Provider from 'oidc-provider'

/** Who signs in at a provider: claims as the test wants them asserted. */
export type Person = {
  sub: string
  email?: string
  email_verified?: unknown
  name?: string
  /** When they typed their password there, seconds since 1970; just now when absent. */
  signedInAt?: number
}

/**
 * A real OpenID Connect provider on loopback, one client. Its accounts are what the test says; signing in at it means
 * following its redirects with {@link signInAt}.
 */
export async function startProvider(options: { claimsInIdToken?: boolean } = {}): Promise<{
  issuer: string
  clientId: string
  clientSecret: string
  person: Person
  /** Registers the address that browsers are sent back to; known only once the connection is made. */
  allow(redirect: string): void
  close(): Promise<void>
}> {
  const server = http.createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const client = { client_id: 'holdpoint', client_secret: 'a-secret-of-the-provider' }
  const running = {
    issuer,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    person: { sub: 'nobody' } as Person,
    allow: (redirect: string) => {
      provider = make([redirect])
    },
    close: () =>
      new Promise<void>(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  const key = {
    ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
    kid: issuer,
    alg: 'RS256',
    use: 'sig',
  }
  const make = (redirects: string[]) =>
    new Provider(issuer, {
      clients: [{ ...client, redirect_uris: redirects, grant_types: ['authorization_code'], response_types: ['code'] }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: options.claimsInIdToken === false,
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ ...running.person, sub: id }) }),
      // Every provider has a key of its own, as in life.
      jwks: { keys: [key] },
      ttl: { Interaction: 60, Session: 60, Grant: 60, AccessToken: 60, IdToken: 60, AuthorizationCode: 60 },
      pkce: { required: () => true },
      cookies: { keys: ['test'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    } as never)
  let provider = make(['http://localhost/nowhere'])
  server.on('request', async (request, response) => {
    const match = /^\/interaction\/[\w-]+/.exec(request.url ?? '')
    if (!match) return provider.callback()(request, response)
    // The person is signed in and consents at once: what a provider with a session does.
    const { prompt, params } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, {
        login: {
          accountId: running.person.sub,
          ...(running.person.signedInAt ? { ts: running.person.signedInAt } : {}),
        },
      })
    const grant = new provider.Grant({ accountId: running.person.sub, clientId: params.client_id as string })
    grant.addOIDCScope('openid email profile')
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
  })
  return running
}

/** Follows a provider's redirects with a cookie jar of its own, up to the address it sends the browser back to. */
export async function signInAt(start: string, back: string): Promise<string> {
  const jar = new Map<string, string>()
  let at = start
  for (let hops = 0; hops < 12; hops++) {
    const response = await fetch(at, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const to = response.headers.get('location')
    if (!to) throw new Error(`the provider answered ${response.status}: ${(await response.text()).slice(0, 500)}`)
    at = new URL(to, at).href
    if (at.startsWith(back)) return at
  }
  throw new Error('the provider never sent the browser back')
}
