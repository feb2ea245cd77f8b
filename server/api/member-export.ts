import { AppError } from '#core/error.ts'
import { currentActor } from '../auth/current.ts'
import { csvCell } from '../features/audit.ts'
import { openContext } from '../features/context.ts'
import { listMembers } from '../features/member.ts'
import { errorResponse } from './connector-route.ts'

const COLUMNS = [
  'name',
  'email',
  'role',
  'machines',
  'joined_at_utc',
  'invited_by',
  'last_signed_in_at_utc',
  'left_at_utc',
]

/** GET /api/export/members?org=… : members, former ones included, as a CSV (RFC 4180), for the signed-in member. */
export async function getMemberCsv(request: Request): Promise<Response> {
  const url = new URL(request.url)
  try {
    const actor = await currentActor()
    if (!actor) throw new AppError('NOT_SIGNED_IN', 'Sign in first.')
    if (url.searchParams.get('org') !== actor.orgSlug) throw new AppError('NOT_FOUND', 'There is no such organisation.')
    const { members } = await listMembers(openContext(actor))
    const lines = members.map(row =>
      [
        row.name,
        row.email,
        row.role,
        String(row.machines),
        row.joinedAt.toISOString(),
        row.invitedBy ?? '',
        row.lastSignedInAt?.toISOString() ?? '',
        row.removedAt?.toISOString() ?? '',
      ]
        .map(csvCell)
        .join(','),
    )
    const name = `${actor.orgSlug}-members-${new Date().toISOString().slice(0, 10)}.csv`
    return new Response([COLUMNS.join(','), ...lines, ''].join('\r\n'), {
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
