import { randomBytes } from 'node:crypto'
import type { Db } from '../db.ts'
import { countedOrganisations, cutBudgets, sweepBudgets } from '../features/budget/cut.ts'
import { log } from '../log.ts'

const random = (n: number) => new Uint8Array(randomBytes(n))

/** Counts the budgets of one organisation: after a publication. */
export const cutOne = (db: Db, { org }: { org: string }, now: Date): Promise<void> =>
  cutBudgets({ db, now, random }, org)

/** A count made within this time is not made again by the job of the minute. */
const RECENT_MS = 30_000
const SWEEP_MINUTE = 23

/** Counts the budgets of all organisations that have some. One that cannot be counted is logged and keeps nobody else waiting. */
export async function cutAll(db: Db, _: Record<string, never>, now: Date): Promise<void> {
  for (const org of await countedOrganisations(db)) {
    try {
      await cutBudgets({ db, now, random }, org, RECENT_MS)
    } catch (error) {
      log.error('budget.cut_failed', error, { org })
    }
  }
  if (now.getUTCMinutes() === SWEEP_MINUTE) await sweepBudgets(db, now)
}
