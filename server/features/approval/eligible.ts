import { type Approval, judgeAnswerer } from '#core/approval/state.ts'
import type { Member } from '#generated/prisma/client.ts'
import type { Db, Tx } from '../../db.ts'
import { asAnswerer } from './load.ts'

/**
 * Everyone who could answer a request right now if they signed in with their own account: the same judgement as at the
 * answer itself, so that nobody is mailed who would be refused.
 */
export async function eligibleMembers(db: Db | Tx, approval: Approval, orgId: string, now: Date): Promise<Member[]> {
  const members = await db.member.findMany({
    where: { orgId, removedAt: null },
    orderBy: [{ role: 'desc' }, { name: 'asc' }],
  })
  const ownSignIn = { method: 'email_code', how: 'web' } as const
  return members.filter(member => judgeAnswerer(approval, asAnswerer(ownSignIn, member), now).ok)
}
