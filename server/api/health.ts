import { openVisit } from '../features/context.ts'
import { isHealthy } from '../features/health.ts'

const PATIENCE_MS = 3000

/** Whether this process can serve: 200 when it reaches its database in time, else 503. Says nothing else to anybody. */
export async function getHealth(): Promise<Response> {
  const ok = await isHealthy(openVisit(), PATIENCE_MS)
  return Response.json({ ok }, { status: ok ? 200 : 503, headers: { 'cache-control': 'no-store' } })
}
