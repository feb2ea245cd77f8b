import type { Db } from '../db.ts'
import { sweepRates } from '../features/rate.ts'

/** How long the demo mailbox keeps a mail, and the queue one that failed for good. */
const DEMO_MAIL_MS = 7 * 24 * 3600_000
/** Spent and expired secrets stay this long, so that a second use can still be told "used already". */
const KEPT_MS = 24 * 3600_000

/** Housekeeping of sign-in: what is over is forgotten. Nothing depends on it; every check compares the time itself. */
export async function sweepMembers(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await db.session.deleteMany({ where: { expiresAt: { lt: now } } })
  await db.signInAttempt.deleteMany({ where: { expiresAt: { lt: before } } })
  await db.adminLogin.deleteMany({ where: { expiresAt: { lt: before } } })
  await db.token.deleteMany({ where: { kind: { in: ['join', 'deviceLink', 'console'] }, expiresAt: { lt: before } } })
  await db.demoMail.deleteMany({ where: { at: { lt: new Date(now.getTime() - DEMO_MAIL_MS) } } })
  // Mail that failed for good is shown for a week; its text goes with it.
  await db.$queryRaw`
    select id::text from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs where attempts >= max_attempts and locked_by is null and updated_at < ${new Date(now.getTime() - DEMO_MAIL_MS)}))`
  await sweepRates({ db, now })
}
