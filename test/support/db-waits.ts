import type pg from 'pg'

/** How many connections to this database wait for a lock that another one has. */
export const BLOCKED =
  'select count(*)::int as n from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0'

/** Asks the database again and again until it answers `true`: what happens inside it tells nobody else when it has. */
export async function untilTrue(pool: pg.Pool, condition: string, ...values: unknown[]): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    const { rows } = await pool.query<{ is: boolean }>(`select (${condition}) as is`, values)
    if (rows[0]!.is) return
  }
  throw new Error(`it never came: ${condition}`)
}
