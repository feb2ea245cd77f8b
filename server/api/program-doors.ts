import { base64url, utf8 } from '#core/bytes.ts'
import { csvText } from '#core/csv.ts'
import { focusExport } from '../features/spend/focus-export.ts'
import { spendReport } from '../features/spend/report.ts'
import { readSpendQuery, spendSheet } from '../features/spend/sheet.ts'
import { crypto } from '../keys/crypto.ts'
import { programRoute } from './connector-route.ts'
import { FOCUS_FORMATS, focusAsked, focusResponse, isKnown } from './focus-file.ts'
import { oneOf, refuseOthers } from './query.ts'

/**
 * What an organisation's own programs read, with a token from its settings (`Authorization: Bearer hpt_…`):
 *
 *   GET spend  from, to, by, step, basis, filter, format=json|csv    the report of the spend page, its figures and columns
 *   GET focus  month, or from and to; closed=ledger|billed, format=csv|jsonl    usage as FOCUS 1.2 rows, UTC days
 *
 * Money is decimal text, the report's in the currency that it names. A parameter that is not known is refused: a misspelt filter must not widen what is read. An answer's etag
 * in If-None-Match gets 304 as long as nothing has changed.
 */
export const getSpend = programRoute('spend', async ({ ctx, query, request }) => {
  refuseOthers(query, ['from', 'to', 'by', 'step', 'basis', 'filter', 'format'])
  const format = oneOf(query, 'format', ['json', 'csv'])
  const asked = readSpendQuery(query)
  const text =
    format === 'csv'
      ? await spendSheet(ctx, asked).then(({ columns, rows }) => csvText(columns, rows))
      : JSON.stringify({ v: 1, org: ctx.actor.orgSlug, ...(await spendReport(ctx, asked)) })
  const etag = `"spend-${base64url(crypto.sha256(utf8(text))).slice(0, 27)}"`
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    'content-type': format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json',
  }
  return isKnown(request, etag) ? new Response(null, { status: 304, headers }) : new Response(text, { headers })
})

export const getFocus = programRoute('focus', async ({ ctx, query, request }) => {
  refuseOthers(query, ['month', 'from', 'to', 'closed', 'format'])
  const format = oneOf(query, 'format', FOCUS_FORMATS)
  return focusResponse(await focusExport(ctx, focusAsked(query)), { format, org: ctx.actor.orgSlug, request })
})
