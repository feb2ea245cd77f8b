import type { InForce } from './stale-dialog.tsx'

/** The other version out of a STALE_EDIT's details; undefined when they are not of that form. */
export function readInForce(details: unknown): InForce | undefined {
  if (typeof details !== 'object' || details === null) return undefined
  const { version, text, etag, publishedBy, note } = details as Partial<Record<keyof InForce, unknown>>
  if (typeof version !== 'number' || typeof text !== 'string' || typeof etag !== 'string') return undefined
  return {
    version,
    text,
    etag,
    publishedBy: typeof publishedBy === 'string' ? publishedBy : null,
    note: typeof note === 'string' ? note : '',
  }
}
