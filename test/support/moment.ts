import type { useDatabase } from './db.ts'
import { BLOCKED } from './db-waits.ts'

type Database = Pick<ReturnType<typeof useDatabase>, 'admin'>

/** Until each step that has not ended waits for a lock. */
async function waitUntilHeld(db: Database, open: readonly (() => boolean)[]): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 5))) {
    const { rows } = await db.admin.query<{ n: number }>(BLOCKED)
    if (rows[0]!.n >= open.filter(isOpen => isOpen()).length) return
  }
  throw new Error('a step neither ended nor waited')
}

/**
 * One moment in which several things happen: holds a lock on another connection while the steps are begun one after the
 * other, then lets go and waits for all of them.
 * @param lock a statement that takes the lock
 */
export async function during(
  db: Database,
  lock: string,
  ...steps: (() => Promise<unknown>)[]
): Promise<PromiseSettledResult<unknown>[]> {
  const client = await db.admin.connect()
  const begun: Promise<unknown>[] = []
  const open: (() => boolean)[] = []
  try {
    await client.query('begin')
    await client.query(lock)
    for (const step of steps) {
      const work = step()
      begun.push(work)
      let ended = false
      work.finally(() => (ended = true)).catch(() => {})
      open.push(() => !ended)
      await waitUntilHeld(db, open)
    }
  } finally {
    await client.query('commit')
    client.release()
  }
  return Promise.allSettled(begun)
}
