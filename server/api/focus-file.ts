import { addDays, daysOfMonth } from '#core/day.ts'
import { type FocusRow, focusCsvHead, focusCsvLine, focusJson } from '#core/focus.ts'
import type { FocusAsked, FocusExport } from '../features/spend/focus-export.ts'
import { oneOf } from './query.ts'

export const FOCUS_FORMATS = ['csv', 'jsonl'] as const
export type FocusFormat = (typeof FOCUS_FORMATS)[number]

const TYPES: Record<FocusFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/x-ndjson; charset=utf-8',
}
/** Letters that are sent at once. */
const CHUNK = 64 * 1024

/** A FOCUS export as a file that is written while it is read. The same rows again are answered with 304 to whoever has them. */
export function focusResponse(
  { range, mark, rows }: FocusExport,
  { format, org, request }: { format: FocusFormat; org: string; request: Request },
): Response {
  const etag = `"focus-${format}-${mark}"`
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    'content-type': TYPES[format],
    'content-disposition': `attachment; filename="${org}-focus-${rangeName(range)}.${format}"`,
  }
  if (isKnown(request, etag)) return new Response(null, { status: 304, headers })
  return new Response(streamOf(rows, format), { headers })
}

/** Whether the caller has what this mark names; a proxy that packs answers makes it a weak one. */
export const isKnown = (request: Request, etag: string): boolean =>
  (request.headers.get('if-none-match') ?? '').split(',').some(one => one.trim().replace(/^W\//, '') === etag)

/** `2026-11` for a whole month, else `2026-11-01-to-2026-11-15`, both ends in it. */
function rangeName({ from, to }: FocusExport['range']): string {
  const month = from.slice(0, 7)
  if (from.endsWith('-01') && to === daysOfMonth(month).to) return month
  return `${from}-to-${addDays(to, -1)}`
}

/** Rows as text, a piece at a time and only as fast as it is taken. What fails on the way breaks the file off, and the caller sees it. */
function streamOf(rows: AsyncGenerator<FocusRow, void, undefined>, format: FocusFormat): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const line = format === 'csv' ? focusCsvLine : (row: FocusRow) => `${JSON.stringify(focusJson(row))}\n`
  let text = format === 'csv' ? focusCsvHead() : ''
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      let done = false
      while (text.length < CHUNK && !done) {
        const next = await rows.next()
        if (next.done) done = true
        else text += line(next.value)
      }
      if (text !== '') controller.enqueue(encoder.encode(text))
      text = ''
      if (done) controller.close()
    },
    async cancel() {
      await rows.return(undefined)
    },
  }
  // nothing ahead of the reader, not even a first piece
  return new ReadableStream(source, { highWaterMark: 0 })
}

/** Which days an address asks for, and how closed months stand in them. */
export function focusAsked(query: URLSearchParams): FocusAsked {
  const asked: FocusAsked = { closed: oneOf(query, 'closed', ['ledger', 'billed'] as const) }
  for (const name of ['month', 'from', 'to'] as const) {
    const text = query.get(name)
    if (text !== null) asked[name] = text
  }
  return asked
}
