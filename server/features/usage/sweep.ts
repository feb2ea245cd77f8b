import { DAY_MS, dayOf } from '#core/usage/bucket.ts'
import type { Db } from '../../db.ts'
import { makeMonths } from './keep.ts'
import { releaseQuarantine } from './quarantine.ts'

/** Makes the partitions of this month and the next ahead of their first row, and takes what waited for its time. */
export async function sweepUsage(db: Db, now: Date, random: (bytes: number) => Uint8Array): Promise<void> {
  await makeMonths(db, [dayOf(now.getTime()), dayOf(now.getTime() + 31 * DAY_MS)])
  await releaseQuarantine({ db, now, random })
}
