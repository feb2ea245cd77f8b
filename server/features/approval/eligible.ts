import { type Approval, judgeAnswerer } from '#core/approval/state.ts'
import type { Member } from '#generated/prisma/client.ts'
import type { Db, Tx } from '../../db.ts'

/**
 * Everyone who could answer a request right now if they signed in with their own account: the same judgement as at the
 * answer itself, so that nobody is mailed who would be refused.
 */
export async function eligibleMembers(db: Db | Tx, approval: Approval, orgId: string, now: Date): Promise<Member[]> {
  const members = await db.member.findMany({
    where: { orgId, removedAt: null },
    orderBy: [{ role: 'desc' }, { name: 'asc' }],
  })
  return members.filter(
    member =>
      judgeAnswerer(
        approval,
        {
          memberId: member.id,
          role: member.role,
          active: true,
          method: 'email_code',
          how: 'web',
          joinedAt: member.joinedAt,
          ...(member.invitedById === null ? {} : { invitedById: member.invitedById }),
          ...(member.roleChangedBy === null ? {} : { roleChangedBy: member.roleChangedBy }),
          ...(member.roleChangedAt === null ? {} : { roleChangedAt: member.roleChangedAt }),
        },
        now,
      ).ok,
  )
}
