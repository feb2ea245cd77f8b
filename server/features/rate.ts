import { AppError } from '#core/error.ts'
import type { FeatureContext } from './context.ts'

/**
 * Counts an attempt in a fixed window and refuses when there were too many: RATE_LIMITED with when to try again. The count
 * is in the database, so that it holds over all replicas. Not inside the caller's transaction: a refusal keeps its count.
 */
export async function allowAttempt(ctx: Pick<FeatureContext, 'db' | 'now'>, key: string, limit: { most: number; windowMs: number; message: string }): Promise<void> {
  const windowAt = new Date(Math.floor(ctx.now.getTime() / limit.windowMs) * limit.windowMs)
  const [row] = await ctx.db.$queryRaw<{ count: number }[]>`
    insert into "RateCount" (key, "windowAt", count) values (${key}, ${windowAt}, 1)
    on conflict (key, "windowAt") do update set count = "RateCount".count + 1 returning count`
  if (row!.count <= limit.most) return
  const minutes = Math.max(1, Math.ceil((windowAt.getTime() + limit.windowMs - ctx.now.getTime()) / 60_000))
  throw new AppError('RATE_LIMITED', limit.message, { remedy: `Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.` })
}
