import type { Upstream } from '#core/routing.ts'
import { parseRunTags } from '#core/usage/tag-text.ts'
import { NO_TAGS, type Tags } from '#core/usage/tags.ts'

/** The requests whose answers tell of usage; everything else is relayed and not looked at. */
export type Protocol = 'messages' | 'responses' | 'chat'

/** Where a request goes. `path` is what the upstream is asked for, its query included, as the client wrote it. */
export type Target = { upstream: Upstream; path: string; protocol: Protocol | undefined; tags: Tags }

const PROTOCOLS: readonly [RegExp, Protocol][] = [
  [/\/messages$/, 'messages'],
  [/\/responses(\/compact)?$/, 'responses'],
  [/\/chat\/completions$/, 'chat'],
]

/**
 * Reads `/<upstream>/…` and `/s/<tag=value,…>/<upstream>/…`; undefined for a path that names no upstream. What follows is not
 * changed in any letter.
 */
export function targetOf(method: string, url: string, upstreams: readonly Upstream[]): Target | undefined {
  const tagged = /^\/s\/([^/?#]*)(\/.*)$/.exec(url)
  const tags = tagged ? parseRunTags(decoded(tagged[1]!)).tags : NO_TAGS
  const [, name, rest = ''] = /^\/([a-z0-9_-]+)((?:[/?].*)?)$/.exec(tagged?.[2] ?? url) ?? []
  const upstream = upstreams.find(one => one.name === name)
  if (upstream === undefined) return undefined
  const path = `${new URL(upstream.url).pathname.replace(/\/$/, '')}${rest.startsWith('/') ? '' : '/'}${rest}`
  const plain = rest.split('?')[0]!
  const protocol = method === 'POST' ? PROTOCOLS.find(([end]) => end.test(plain))?.[1] : undefined
  return { upstream, path, protocol, tags }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
