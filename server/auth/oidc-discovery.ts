import { AppError } from '#core/error.ts'

/**
 * Reads a provider's published configuration (OpenID Connect Discovery 1.0, section 4) and compares what it calls itself, so
 * that a wrong issuer is told to the owner who types it and not to a member who signs in.
 */
export async function discoverProvider(issuer: string): Promise<void> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const failed = (message: string, cause?: unknown) =>
    new AppError('BAD_INPUT', message, {
      remedy: `Open ${address} in a browser; it must show the provider's configuration.`,
      details: { why: 'discovery' },
      cause,
    })
  let found: Record<string, unknown>
  try {
    const answer = await fetch(address, {
      redirect: 'error',
      signal: AbortSignal.timeout(8000),
      headers: { accept: 'application/json' },
    })
    if (!answer.ok) throw failed(`The provider answered ${answer.status} when asked for its configuration.`)
    found = (await answer.json()) as Record<string, unknown>
  } catch (error) {
    if (error instanceof AppError) throw error
    throw failed('The provider could not be reached, or what it answered is not its configuration.', error)
  }
  if (found.issuer !== issuer) {
    throw failed(
      typeof found.issuer === 'string' && found.issuer.length < 300
        ? `The provider calls itself ${found.issuer}; write the issuer exactly so.`
        : 'The provider does not say what it is called.',
    )
  }
  const missing = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].find(name => typeof found[name] !== 'string')
  if (missing) throw failed(`The provider's configuration has no ${missing}.`)
  const signing = found.id_token_signing_alg_values_supported
  if (Array.isArray(signing) && !signing.includes('RS256'))
    throw failed('The provider does not sign with RS256, which every provider must offer (section 3).')
}
