import type { FeatureContext } from './context.ts'

/** Whether the database answers in time. */
export async function isHealthy(ctx: Pick<FeatureContext, 'db'>, patienceMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(resolve => {
    timer = setTimeout(resolve, patienceMs, false)
  })
  const asked = ctx.db.$queryRaw`select 1`.then(
    () => true,
    () => false,
  )
  const healthy = await Promise.race([asked, late])
  clearTimeout(timer)
  return healthy
}
