import type { UsageDay } from '#core/usage/upload.ts'
import { notify } from '../../bus.ts'
import type { Db } from '../../db.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { makeMonths } from './keep.ts'
import { standingDays } from './standing.ts'
import { type LockedMachine, takeDays } from './take.ts'

type Releasing = { db: Db; now: Date; random: (bytes: number) => Uint8Array }
type Waiting = { orgId: string; machineId: string; day: string }

/** Days of the quarantine that one round takes. */
const AT_ONCE = 200

/**
 * Takes the days of the quarantine whose time has come, as if their upload came now: what the machine sent later stands over
 * them. Also those of machines that left meanwhile, which reported them while they belonged. Each by itself.
 * @param failed is told of an organisation of which a day cannot be taken, which keeps no other waiting; without it that is thrown
 * @returns how many days were looked at
 */
export async function releaseQuarantine(
  ctx: Releasing,
  failed?: (error: unknown, orgId: string) => void,
): Promise<number> {
  const out = new Set<string>()
  for (let looked = 0; ; ) {
    const waiting = await ctx.db.$queryRaw<Waiting[]>`
      select "orgId", "machineId", day::text from "UsageQuarantine"
      where "releaseAt" <= ${ctx.now} and "orgId" <> all(${[...out]}::text[]) order by "releaseAt" limit ${AT_ONCE}`
    const before = out.size
    for (const one of waiting) {
      if (out.has(one.orgId)) continue
      looked++
      try {
        await makeMonths(ctx.db, [one.day])
        await releaseDay(ctx, one)
      } catch (error) {
        if (!failed) throw error
        out.add(one.orgId)
        failed(error, one.orgId)
      }
    }
    // what failed may have stood before others
    if (out.size === before || looked >= AT_ONCE) return looked
  }
}

async function releaseDay({ db, now, random }: Releasing, { orgId, machineId, day }: Waiting): Promise<void> {
  await db.$transaction(async tx => {
    const [machine] = await tx.$queryRaw<LockedMachine[]>`
      select id, id as "machineId", "orgId", "memberId", "usageSeq" from "Machine" where id = ${machineId} and "orgId" = ${orgId} for no key update`
    // Released, or sent anew, while the row was waited for.
    const [row] = await tx.$queryRaw<{ seq: number; content: UsageDay }[]>`
      select seq, content from "UsageQuarantine"
      where "orgId" = ${orgId} and "machineId" = ${machineId} and day = ${day}::date and "releaseAt" <= ${now}`
    if (!machine || !row) return
    const standing = await standingDays(tx, machine, [day])
    const { days, happened } = await takeDays(tx, { now }, machine, { seq: row.seq, days: [row.content] }, standing)
    if (days[0]?.state === 'stale')
      await tx.$executeRaw`delete from "UsageQuarantine" where "orgId" = ${orgId} and "machineId" = ${machineId} and day = ${day}::date`
    await notify(tx, { org: orgId, what: 'usage', machine: machineId })
    const ctx = { actor: { kind: 'system', orgId }, now, random } as const
    for (const one of happened) await recordEvidence(tx, ctx, one)
  })
}

export type QuarantinedDay = {
  machineId: string
  day: string
  computedAt: Date
  receivedAt: Date
  releaseAt: Date
}

/** What is kept apart, for the pages: whose clock is ahead, and until when. Not what was spent. */
export async function listQuarantine(ctx: Pick<FeatureContext, 'db' | 'actor'>): Promise<QuarantinedDay[]> {
  const rows = await ctx.db.usageQuarantine.findMany({
    where: { orgId: ctx.actor.orgId },
    select: { machineId: true, day: true, computedAt: true, receivedAt: true, releaseAt: true },
    orderBy: [{ releaseAt: 'asc' }, { machineId: 'asc' }],
    take: 500,
  })
  return rows.map(row => ({ ...row, day: row.day.toISOString().slice(0, 10) }))
}
