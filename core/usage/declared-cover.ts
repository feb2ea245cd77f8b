import { utcDay } from '#core/day.ts'
import type { CoverBy, Covered, UsageClient } from './bucket.ts'

/** What may be declared: that a plan covers a client's calls, or that each of them is paid for. */
export const DECLARABLE = ['plan', 'metered'] as const satisfies readonly Covered[]
export type Declarable = (typeof DECLARABLE)[number]

/** By client what holds from a UTC day on, the earliest first; `''` is from ever. */
export type DeclaredCover = Readonly<Partial<Record<UsageClient, readonly { from: string; is: Declarable }[]>>>

/** What is known of a call: whether a plan covers it, and whose word that is where no record says it. */
export type Cover = { covered: Covered; coverBy?: CoverBy }

/**
 * Whether a plan covers a call, by whoever knows it best: the call's own record or its session's sign-in (`read`), else the
 * organisation's signed word, else the machine's own. A machine's word is for what nobody else speaks of: it never stands
 * against its organisation's.
 */
export function coverOf(
  read: Covered | undefined,
  { client, atMs }: { client: string; atMs: number },
  { organisation, machine }: { organisation?: DeclaredCover | undefined; machine?: DeclaredCover | undefined },
): Cover {
  if (read !== undefined && read !== 'unknown') return { covered: read }
  const signed = declaredCover(organisation, client, atMs)
  if (signed !== undefined) return { covered: signed, coverBy: 'organisation' }
  const own = declaredCover(machine, client, atMs)
  return own === undefined ? { covered: 'unknown' } : { covered: own, coverBy: 'machine' }
}

/** What was declared of a client at a moment; undefined for what nobody declared. */
export function declaredCover(
  declared: DeclaredCover | undefined,
  client: string,
  atMs: number,
): Declarable | undefined {
  const spans = declared?.[client as UsageClient]
  if (spans === undefined) return undefined
  const day = utcDay(atMs)
  return spans.findLast(({ from }) => from <= day)?.is
}

/** One text for one declaration: whatever is made from it is made anew when this changes. */
export const declaredKey = (declared: DeclaredCover | undefined): string =>
  Object.entries(declared ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([client, spans]) => `${client}:${spans.map(({ from, is }) => `${from}=${is}`).join(',')}`)
    .join(' ')
