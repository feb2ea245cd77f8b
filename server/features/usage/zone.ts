import { isZone } from '#core/budget/zone.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { notify } from '../../bus.ts'
import type { Db, Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { retotal } from './totals.ts'

/**
 * Sets the zone that reports are cut in. Totals by day and month are kept by zone, so those of the new one are made beside those
 * in force (a job, machine by machine; usage that comes meanwhile goes into both), and take their place when they are whole.
 * Until then reports go by the old zone and say so.
 */
export async function changeTimeZone(ctx: FeatureContext, { timeZone }: { timeZone: string }): Promise<void> {
  const { actor } = ctx
  demand(actor, 'settings.change')
  if (!isZone(timeZone))
    throw new AppError('BAD_INPUT', 'That is not the name of a time zone, such as Europe/Amsterdam.')
  await ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "Organisation" where id = ${actor.orgId} for no key update`
    const known = await tx.$queryRaw<{ fits: boolean }[]>`select is_time_zone(${timeZone}) as fits`
    if (!known[0]!.fits) throw new AppError('BAD_INPUT', 'The database does not know that time zone.')
    const before = await tx.organisation.findUniqueOrThrow({ where: { id: actor.orgId } })
    const wanted = before.nextTimeZone ?? before.timeZone
    if (wanted === timeZone) return
    await tx.organisation.update({
      where: { id: actor.orgId },
      data: { nextTimeZone: timeZone === before.timeZone ? null : timeZone },
    })
    await enqueue(tx, 'usage.rezone', { org: actor.orgId }, { key: `usage.rezone ${actor.orgId}` })
    await notify(tx, { org: actor.orgId, what: 'settings' })
    await recordEvidence(tx, ctx, {
      kind: 'organisation.setting_changed',
      subject: { kind: 'organisation', id: actor.orgId },
      data: { setting: 'timeZone', from: wanted, to: timeZone },
    })
  })
}

/** Days of one machine that are summed at once. */
const AT_ONCE = 200

/** Makes the totals of the zone that an organisation is changing to, and puts it in force. Repeating it changes nothing. */
export async function rebuildTotals(db: Db, orgId: string): Promise<void> {
  const { timeZone, nextTimeZone: zone } = await db.organisation.findUniqueOrThrow({ where: { id: orgId } })
  if (zone === null) {
    await forgetOthers(db, orgId, timeZone)
    return
  }
  const machines = await db.machine.findMany({ where: { orgId }, select: { id: true }, orderBy: { id: 'asc' } })
  for (const { id: machineId } of machines) {
    const days = await db.$queryRaw<{ day: string }[]>`
      select day::text from "UsageDay" where "orgId" = ${orgId} and "machineId" = ${machineId} order by day`
    for (let at = 0; at < days.length; at += AT_ONCE)
      await db.$transaction(async tx => {
        // Whoever takes usage of this machine after us sees the new zone, and we see what was taken before.
        await tx.$queryRaw`select 1 from "Machine" where id = ${machineId} for no key update`
        await retotal(
          tx,
          { orgId, machineId },
          zone,
          days.slice(at, at + AT_ONCE).map(({ day }) => day),
        )
      })
  }
  await db.$transaction(async tx => {
    const { count } = await tx.organisation.updateMany({
      where: { id: orgId, nextTimeZone: zone },
      data: { timeZone: zone, nextTimeZone: null },
    })
    // Changed once more meanwhile: that change has a job of its own.
    if (count === 0) return
    await forgetOthers(tx, orgId, zone)
    await notify(tx, { org: orgId, what: 'settings' })
  })
}

async function forgetOthers(tx: Tx, orgId: string, zone: string): Promise<void> {
  await tx.usageTotal.deleteMany({ where: { orgId, zone: { not: zone } } })
  await tx.usageStale.deleteMany({ where: { orgId, zone: { not: zone } } })
  await tx.usageMark.deleteMany({ where: { orgId, zone: { not: zone } } })
}
