import type { Db } from '../../db.ts'
import type { FeatureContext } from '../context.ts'
import { lockApproval } from './load.ts'
import { endApproval } from './settle.ts'

/**
 * Housekeeping of states whose time is over: pending past its expiry, approved past a day. Nothing depends on it: every
 * decision compares the time itself. Each row in its own transaction; several sweepers do no harm.
 * @returns how many rows were ended
 */
export async function sweepApprovals(db: Db, now: Date, random: FeatureContext['random']): Promise<number> {
  const due = await db.approvalRequest.findMany({
    where: {
      OR: [
        { state: 'pending', expiresAt: { lte: now } },
        { state: 'approved', standsUntil: { lte: now } },
      ],
    },
    select: { orgId: true, handle: true },
    take: 500,
  })
  let ended = 0
  for (const { orgId, handle } of due) {
    ended += await db.$transaction(async tx => {
      const locked = await lockApproval(tx, orgId, handle)
      if (!locked) return 0
      const ctx = { actor: { kind: 'system', orgId } as const, now: locked.now, random }
      if (locked.row.state === 'pending' && locked.row.expiresAt <= locked.now)
        await endApproval(tx, ctx, locked.row, 'expired')
      else if (locked.row.state === 'approved' && locked.row.standsUntil && locked.row.standsUntil <= locked.now) {
        await endApproval(tx, ctx, locked.row, 'lapsed')
      } else return 0
      return 1
    })
  }
  return ended
}
