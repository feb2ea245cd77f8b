import { type MemberActor, memberActor } from '#core/actor.ts'
import { tokenKind } from '#core/token.ts'
import type { Db } from '../db.ts'
import { hashToken } from '../keys/token-hash.ts'

/** What a browser holds: the session of an own sign-in, and the look-only one that a machine's link began. */
export type SessionCookies = { session?: string | undefined; look?: string | undefined }

/**
 * Who a browser's cookies stand for, with the role that the member has now. The session cookie never answers for a
 * `device_link` session and the look cookie for nothing else, whichever value somebody puts into them.
 */
export async function readActor(db: Db, cookies: SessionCookies, now: Date): Promise<MemberActor | null> {
  return (
    (cookies.session && (await find(db, cookies.session, false, now))) ||
    (cookies.look && (await find(db, cookies.look, true, now))) ||
    null
  )
}

async function find(db: Db, token: string, look: boolean, now: Date): Promise<MemberActor | null> {
  if (tokenKind(token) !== 'session') return null
  const row = await db.session.findUnique({
    where: { tokenHash: hashToken(token) },
    include: { member: { include: { org: { select: { slug: true } } } } },
  })
  if (!row || row.expiresAt <= now || row.member.removedAt) return null
  if ((row.method === 'device_link') !== look) return null
  const { member, method, authnAt, demo } = row
  return memberActor(member, member.org.slug, { method, authnAt, demo, sessionId: row.id, how: 'web' })
}
