import { utcDay } from '#core/day.ts'
import type { Covered, UsageClient } from './bucket.ts'

/** What may be declared: that a plan covers a client's calls, or that each of them is paid for. */
export const DECLARABLE = ['plan', 'metered'] as const satisfies readonly Covered[]
export type Declarable = (typeof DECLARABLE)[number]

/** By client what holds from a UTC day on, the earliest first; `''` is from ever. */
export type DeclaredCover = Readonly<Partial<Record<UsageClient, readonly { from: string; is: Declarable }[]>>>

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
