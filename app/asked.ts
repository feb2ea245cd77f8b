/** What stands in an address: each name at most once, as text. */
export type Asked = Promise<Record<string, string | string[] | undefined>>

/**
 * Reads names from an address; of a name that stands there twice the first, of one that is missing, empty or no text that can be
 * kept (U+0000) undefined.
 */
export async function readAsked<K extends string>(asked: Asked, ...names: K[]): Promise<Record<K, string | undefined>> {
  const found = await asked
  const first = (name: K) => {
    const value = Array.isArray(found[name]) ? found[name][0] : (found[name] as string | undefined)
    return !value || value.includes('\0') ? undefined : value
  }
  return Object.fromEntries(names.map(name => [name, first(name)])) as Record<K, string | undefined>
}

/** A path with those fields in its query that have a value. */
export function pathWith(path: string, fields: Record<string, string | undefined>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** The organisation that a path is of: `acme` of `/acme/approvals/bnd-…`. Undefined for pages of no organisation. */
export function organisationOf(path: string | undefined): string | undefined {
  const first = /^\/([a-z0-9][a-z0-9-]*)(?:[/?#]|$)/.exec(path ?? '')?.[1]
  return first && !['device', 'invitation', 'link', 'mailbox', 'o', 'sign-in'].includes(first) ? first : undefined
}
