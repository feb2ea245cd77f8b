import { DIGEST } from './approval/request.ts'

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
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const path = /^\/o\/([a-z0-9][a-z0-9-]{0,39})$/.exec(url.pathname)
  if (!path || url.search || url.username || url.password) return undefined
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback)) return undefined
  const fragment = new URLSearchParams(url.hash.slice(1))
  const token = fragment.get('e')
  const rootDigest = fragment.get('r')
  if (!token || !/^hpj_[a-z2-7]{52}$/.test(token)) return undefined
  if (rootDigest !== null && !DIGEST.test(rootDigest)) return undefined
  return { origin: url.origin, slug: path[1]!, token, ...(rootDigest === null ? {} : { rootDigest }) }
}
