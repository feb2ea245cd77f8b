import { AppError } from '#core/error.ts'
import { env } from '../env.ts'

/**
 * Whether a state-changing request was sent by a page of ours. The Origin must be the public address, to the port: SameSite
 * alone lets every other port of localhost through, and an agent can serve a page there. Browsers send Origin with every POST.
 */
export function isOwnOrigin(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  return request.headers.get('origin') === new URL(env().publicUrl).origin && (site === null || site === 'same-origin')
}

/** {@link isOwnOrigin}, or a refusal that says what to open. */
export function demandOwnOrigin(request: Request): void {
  if (!isOwnOrigin(request)) {
    throw new AppError('FORBIDDEN', 'This came from another address than the one Holdpoint is at.', {
      remedy: `Open ${env().publicUrl} and try again.`,
      details: { why: 'origin' },
    })
  }
}

/** A path of ours to go to after signing in; anything that could lead elsewhere becomes undefined. */
export function safePath(text: string | null | undefined): string | undefined {
  if (!text || text.length > 500 || !/^\/[^/\\]/.test(text) || /[\u0000-\u001f\\]/.test(text)) return undefined
  const base = 'http://own.invalid'
  const url = new URL(text, base)
  // `/.//elsewhere` is ours until its dots are taken out, and names another host then.
  return url.origin === base && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : undefined
}
