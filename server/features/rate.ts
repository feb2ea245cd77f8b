import { AppError } from '#core/error.ts'
import type { Db, Tx } from '../db.ts'

/** A limit over all replicas: at most `most` in each fixed window, which starts at a multiple of `windowMs`. */
export type RateLimit = { most: number; windowMs: number; message: string }

const TEN_MINUTES_MS = 10 * 60_000
const TOO_MANY = 'There were too many attempts.'
const RATE_LIMITS = {
  /** Sign-in mails asked for from one address of the network: an office behind one address (or an unnamed proxy) fits. */
  signInByAddress: { most: 100, windowMs: TEN_MINUTES_MS, message: TOO_MANY },
  /** Codes, links and one-time addresses tried from one address. */
  redeemByAddress: { most: 300, windowMs: TEN_MINUTES_MS, message: TOO_MANY },
  singleSignOnByAddress: { most: 100, windowMs: TEN_MINUTES_MS, message: TOO_MANY },
  adminLoginByAddress: { most: 20, windowMs: TEN_MINUTES_MS, message: TOO_MANY },
  /** User codes that one member may look up: 20^8 codes, ten minutes each. */
  userCodeByMember: { most: 20, windowMs: TEN_MINUTES_MS, message: TOO_MANY },
  /** Answers of one member, refused ones included: each is an entry of the ledger, which never shrinks. */
  answerByMember: { most: 300, windowMs: TEN_MINUTES_MS, message: 'There were too many answers.' },
  /** Requests of one machine: each new one is mail and an entry of the ledger, also when it is taken back at once. */
  requestByMachine: { most: 600, windowMs: TEN_MINUTES_MS, message: 'This machine filed too many requests.' },
  /** Uploads of one machine: one a minute while a budget is read, and a long absence caught up in a few. */
  usageByMachine: { most: 120, windowMs: TEN_MINUTES_MS, message: 'This machine sent too many uploads.' },
  /** One look a minute, twice over, and the runs that look before they start. */
  budgetsByMachine: { most: 300, windowMs: TEN_MINUTES_MS, message: 'This machine asked for budgets too often.' },
  reservationByMachine: { most: 3000, windowMs: TEN_MINUTES_MS, message: 'This machine made too many reservations.' },
  /** A program that reads every second. */
  apiByToken: { most: 600, windowMs: TEN_MINUTES_MS, message: 'This token was used too often.' },
  deviceLinkByMachine: { most: 30, windowMs: TEN_MINUTES_MS, message: 'This machine asked for too many links.' },
} as const satisfies Record<string, RateLimit>
export type RateName = keyof typeof RATE_LIMITS

type Counting = { db: Db | Tx; now: Date }

/** Counts one in its window; one statement, so that no two callers count alike. `until` is the window's end. */
export async function countAttempt(
  { db, now }: Counting,
  key: string,
  windowMs: number,
): Promise<{ count: number; until: Date }> {
  const windowAt = new Date(Math.floor(now.getTime() / windowMs) * windowMs)
  const [row] = await db.$queryRaw<{ count: number }[]>`
    insert into "RateCount" (key, "windowAt", count) values (${key}, ${windowAt}, 1)
    on conflict (key, "windowAt") do update set count = "RateCount".count + 1 returning count`
  return { count: row!.count, until: new Date(windowAt.getTime() + windowMs) }
}

/**
 * Counts an attempt and refuses when there were too many: RATE_LIMITED with when to try again. Not inside the caller's
 * transaction: a refusal keeps its count.
 */
export async function allowAttempt(ctx: Counting, key: string, limit: RateLimit): Promise<void> {
  const { count, until } = await countAttempt(ctx, key, limit.windowMs)
  if (count <= limit.most) return
  const minutes = Math.max(1, Math.ceil((until.getTime() - ctx.now.getTime()) / 60_000))
  throw new AppError('RATE_LIMITED', limit.message, {
    remedy: `Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.`,
    details: { why: 'too_many', until: until.toISOString() },
  })
}

/** {@link allowAttempt} by a limit of the table, for one client, member or machine. */
export const demandRate = (ctx: Counting, name: RateName, who: string): Promise<void> =>
  allowAttempt(ctx, `${name}:${who}`, RATE_LIMITS[name])

/** Forgets windows that ended long ago. */
export async function sweepRates({ db, now }: Counting): Promise<void> {
  await db.rateCount.deleteMany({ where: { windowAt: { lt: new Date(now.getTime() - 24 * 3600_000) } } })
}
