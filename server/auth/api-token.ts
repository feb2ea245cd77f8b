import type { TokenActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { roleAtLeast } from '#core/role.ts'
import { type ApiScope, tokenKind } from '#core/token.ts'
import type { Db } from '../db.ts'
import { hashToken } from '../keys/token-hash.ts'

/** `lastUsedAt` is for people: to the minute, and most calls write nothing. */
const USED_MS = 60_000

const refused = () =>
  new AppError('NOT_SIGNED_IN', 'This token is not known, or not any more.', {
    remedy: 'An owner or admin makes a new one in the settings.',
  })

/**
 * Which program a token stands for. It is good as long as whoever made it may make one: asked at every use, so that nobody who
 * left or lost the role leaves a key behind. The same refusal for all that it may be: nothing to tell apart.
 */
export async function tokenActor(db: Db, token: string, scope: ApiScope, now: Date): Promise<TokenActor> {
  if (tokenKind(token) !== 'api') throw refused()
  const row = await db.apiToken.findUnique({
    where: { hash: hashToken(token) },
    include: { member: { select: { role: true, removedAt: true, org: { select: { slug: true } } } } },
  })
  if (!row || row.endedAt || row.expiresAt <= now) throw refused()
  if (row.member.removedAt || !roleAtLeast(row.member.role, 'admin')) throw refused()
  if (!row.scopes.includes(scope)) throw new AppError('FORBIDDEN', `This token is not for ${scope}.`)
  const { id, orgId, lastUsedAt } = row
  if (!lastUsedAt || now.getTime() - lastUsedAt.getTime() >= USED_MS)
    await db.apiToken.updateMany({ where: { id }, data: { lastUsedAt: now } })
  return { kind: 'token', tokenId: id, orgId, orgSlug: row.member.org.slug }
}
