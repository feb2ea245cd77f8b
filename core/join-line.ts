import { DIGEST } from './approval/request.ts'
import { mayCarrySecrets } from './loopback.ts'
import { SLUG } from './slug.ts'
import { tokenKind } from './token.ts'

/** What a join line says: where to join, as whose machine, and the digest of the root document to pin. */
type JoinLine = { origin: string; slug: string; token: string; rootDigest?: string }

/** `https://host/o/<org>#e=<one-time token>&r=<root digest>`. The fragment is sent to nobody: no proxy and no log has the token. */
export const formatJoinLine = ({ origin, slug, token, rootDigest }: Required<JoinLine>): string =>
  `${origin}/o/${slug}#e=${token}&r=${rootDigest}`

/** The address in what a person pasted: it alone, or the whole command of the Machines page, whose name for the machine counts too. */
export function readPasted(pasted: string): { address: string; label?: string } {
  const address = /https?:\/\/[^\s"'<>#]+\/o\/[^\s"'<>#]+#[^\s"'<>]+/.exec(pasted)?.[0]
  if (address === undefined) return { address: pasted.trim() }
  const label = / --label ([A-Za-z0-9._-]+)/.exec(pasted)?.[1]
  return { address, ...(label === undefined ? {} : { label }) }
}

/** What a line says; undefined for anything else, plain http to another machine included. */
export function parseJoinLine(line: string): JoinLine | undefined {
  let url: URL
  try {
    url = new URL(line.trim())
  } catch {
    return undefined
  }
  const slug = url.pathname.startsWith('/o/') ? url.pathname.slice('/o/'.length) : ''
  if (!SLUG.test(slug) || url.search || url.username || url.password) return undefined
  if (!mayCarrySecrets(url)) return undefined
  const fragment = new URLSearchParams(url.hash.slice(1))
  const token = fragment.get('e')
  const rootDigest = fragment.get('r')
  if (!token || tokenKind(token) !== 'join') return undefined
  if (rootDigest !== null && !DIGEST.test(rootDigest)) return undefined
  return { origin: url.origin, slug, token, ...(rootDigest === null ? {} : { rootDigest }) }
}
