import { type MemberActor, memberActor } from '#core/actor.ts'
import { roleAtLeast } from '#core/role.ts'
import { tokenKind } from '#core/token.ts'
import type { Db } from '../db.ts'
import { hashToken } from '../keys/token-hash.ts'
import { isDemoMode } from './demo-mode.ts'

/**
 * Who an `Authorization: Bearer hpa_…` header stands for: an owner or admin through the command's own credential. Anything
 * else, malformed headers included, is nobody. The role and the organisation's switch are asked at every use. In demo mode
 * nobody is separated from anybody, so what it answers is marked as a demo's.
 */
export async function actorFromAdminToken(
  db: Db,
  header: string | null,
  now: Date,
): Promise<(MemberActor & { credentialId: string }) | null> {
  const token = /^Bearer ([!-~]{1,200})$/i.exec(header ?? '')?.[1] ?? ''
  if (tokenKind(token) !== 'admin') return null
  const row = await db.token.findUnique({
    where: { hash: hashToken(token) },
    include: { member: { include: { org: { select: { slug: true, adminCredential: true } } } } },
  })
  if (row?.kind !== 'admin' || row.revokedAt || !row.expiresAt || row.expiresAt <= now || !row.authnAt) return null
  const { member } = row
  if (member.removedAt || !roleAtLeast(member.role, 'admin') || !member.org.adminCredential) return null
  const session = {
    method: 'admin_credential',
    authnAt: row.authnAt,
    how: 'team-cli',
    demo: isDemoMode(),
  } as const
  return { ...memberActor(member, member.org.slug, session), credentialId: row.id }
}
