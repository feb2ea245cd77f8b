/**
 * An organisation's short name: the first part of its pages' addresses. The product's own addresses come first, so a name
 * that is one of them would lead nowhere.
 */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,39}$/

/** First parts of the product's own addresses, and a few that it may come to need. */
export const OWN_ADDRESSES: ReadonlySet<string> = new Set([
  'admin',
  'api',
  'auth',
  'connector',
  'device',
  'docs',
  'gallery',
  'healthz',
  'help',
  'invitation',
  'link',
  'mailbox',
  'o',
  'sign-in',
  'static',
  'status',
  'verify',
])

/** Why a text cannot be an organisation's short name; undefined when it can. */
export function whyNoSlug(slug: string): string | undefined {
  if (!SLUG.test(slug)) return `"${slug}" is no short name: small letters, digits and "-", at most 40.`
  if (OWN_ADDRESSES.has(slug)) return `"${slug}" is an address of the product itself; choose another short name.`
  return undefined
}
