import { AppError } from '#core/error.ts'
import { requestActor } from '../auth/request-actor.ts'
import { type EvidenceFilter, evidenceCsv } from '../features/audit.ts'
import { openContext } from '../features/context.ts'
import { errorResponse } from './connector-route.ts'

/** GET /api/export/audit?org=…&kind=&actor=&subject=&from=&to= : the audit list as a CSV, for the signed-in member. */
export async function getAuditCsv(request: Request): Promise<Response> {
  const url = new URL(request.url)
  try {
    const actor = await requestActor(request)
    if (!actor) throw new AppError('NOT_SIGNED_IN', 'Sign in first.')
    if (url.searchParams.get('org') !== actor.orgSlug) throw new AppError('NOT_FOUND', 'There is no such organisation.')
    const csv = await evidenceCsv(openContext(actor), readFilter(url.searchParams))
    const name = `${actor.orgSlug}-audit-${new Date().toISOString().slice(0, 10)}.csv`
    return new Response(csv, {
      headers: {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'no-store',
      },
    })
  } catch (error) {
    return errorResponse(error, url.pathname)
  }
}

function readFilter(query: URLSearchParams): EvidenceFilter {
  const text = (name: string) => query.get(name)?.slice(0, 64) || undefined
  const time = (name: string) => {
    const value = query.get(name)
    if (!value) return undefined
    const at = new Date(value)
    if (Number.isNaN(at.getTime())) throw new AppError('BAD_INPUT', `${name} is not a time.`)
    return at
  }
  return { kind: text('kind'), actor: text('actor'), subject: text('subject'), from: time('from'), to: time('to') }
}
