import type { useDatabase } from './db.ts'

type Database = Pick<ReturnType<typeof useDatabase>, 'admin'>

/** Until each step that has not ended waits for a lock. */
async function held(db: Database, open: () => number): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    const { rows } = await db.admin.query<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    if (rows[0]!.n >= open()) return
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
  let open = 0
  try {
    await client.query('begin')
    await client.query(lock)
    for (const step of steps) {
      const work = step()
      begun.push(work)
      open++
      work.then(
        () => open--,
        () => open--,
      )
      await held(db, () => open)
    }
  } finally {
    await client.query('commit')
    client.release()
  }
  return Promise.allSettled(begun)
}
