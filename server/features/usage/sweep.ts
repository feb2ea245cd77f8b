import { DAY_MS, utcDay } from '#core/day.ts'
import type { Db } from '../../db.ts'
import { log } from '../../log.ts'
import { makeFleetTotals } from './fleet.ts'
import { makeMonths } from './keep.ts'
import { releaseQuarantine } from './quarantine.ts'

/**
 * Makes partitions ahead of their first row, takes what waited for its time, and the fleet's totals of days that changed. What
 * fails of one organisation is logged and keeps nobody else waiting.
 */
export async function sweepUsage(db: Db, now: Date, random: (bytes: number) => Uint8Array): Promise<void> {
  await makeMonths(db, [utcDay(now.getTime()), utcDay(now.getTime() + 31 * DAY_MS)])
  await releaseQuarantine({ db, now, random }, (error, org) => log.error('usage.release_failed', error, { org }))
  await makeFleetTotals(db, now, (error, org) => log.error('usage.totals_failed', error, { org }))
}
