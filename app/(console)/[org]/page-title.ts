import type { Metadata } from 'next'
import { currentActor } from '#server/auth/current.ts'

/**
 * The title of a page of one organisation, as its `generateMetadata`; "Not found" where the page will say so. A title that
 * stood fast would be shown over that page too.
 * @param load what the page itself loads; it throws where there is nothing for this reader
 */
export function titled<P extends { org: string }>(
  title: string | ((params: P) => string),
  load?: (params: P) => Promise<unknown>,
): (props: { params: Promise<P> }) => Promise<Metadata> {
  return async props => {
    const params = await props.params
    const found = (await currentActor())?.orgSlug === params.org && (await isThere(load, params))
    return { title: !found ? 'Not found' : typeof title === 'string' ? title : title(params) }
  }
}

async function isThere<P>(load: ((params: P) => Promise<unknown>) | undefined, params: P): Promise<boolean> {
  try {
    await load?.(params)
    return true
  } catch {
    return false // the page meets the same and says what it is
  }
}
