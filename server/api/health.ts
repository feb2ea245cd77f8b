import { database } from '../db.ts'

const PATIENCE_MS = 3000

/** Whether this process can serve: 200 when it reaches its database in time, else 503. Says nothing else to anybody. */
export async function getHealth(): Promise<Response> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), PATIENCE_MS)
  })
  const ok = await Promise.race([database().prisma.$queryRaw`select 1`, late]).then(
    () => true,
    () => false,
  )
  clearTimeout(timer)
  return Response.json({ ok }, { status: ok ? 200 : 503, headers: { 'cache-control': 'no-store' } })
}
