import type { Metadata } from 'next'
import { currentActor } from '#server/auth/current.ts'

/**
 * The title of a page of one organisation, as its `generateMetadata`; "Not found" where the page will say so. A title that
 * stood fast would be shown over that page too.
 * @param load what the page itself loads, which its title may name; it throws where there is nothing for this reader
 */
export function titled<P extends { org: string }, T = unknown>(
  title: string | ((params: P, loaded: T) => string),
  load?: (params: P) => Promise<T>,
): (props: { params: Promise<P> }) => Promise<Metadata> {
  return async props => {
    const params = await props.params
    const found = (await currentActor())?.orgSlug === params.org ? await tried(load, params) : undefined
    return { title: !found ? 'Not found' : typeof title === 'string' ? title : title(params, found.loaded) }
  }
}

async function tried<P, T>(
  load: ((params: P) => Promise<T>) | undefined,
  params: P,
): Promise<{ loaded: T } | undefined> {
  try {
    return { loaded: (await load?.(params)) as T }
  } catch {
    return undefined // the page meets the same and says what it is
  }
}
