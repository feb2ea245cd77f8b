import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { type Prisma, PrismaClient } from '#generated/prisma/client.ts'
import { env } from './env.ts'
import { log } from './log.ts'

/** The database as features see it. */
export type Db = PrismaClient
/** Inside a transaction. */
export type Tx = Prisma.TransactionClient

type Opened = { prisma: PrismaClient; pool: pg.Pool }
const holder = globalThis as unknown as { holdpointDb?: Opened }

/** Opens a pool and a client on it. Exported for tests, which have databases of their own. */
export function openDatabase(url: string, max: number): Opened {
  const pool = new pg.Pool({ connectionString: url, max, idleTimeoutMillis: 30_000 })
  pool.on('error', error => log.warn('database.connection_lost', { message: error.message }))
  // Between the pool's own listener and the adapter's there is a moment without one, and an 'error' that nobody hears ends
  // the process. Whoever uses the connection is told by the query that fails.
  pool.on('connect', client => client.on('error', () => {}))
  // Under load a transaction waits for a connection rather than failing after two seconds, the client's own default.
  const transactionOptions = { maxWait: 15_000, timeout: 30_000 }
  return { prisma: new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions }), pool }
}

/** The process's own connection; survives hot reloads in development. */
export function database(): Opened {
  holder.holdpointDb ??= openDatabase(env().databaseUrl, env().poolSize)
  return holder.holdpointDb
}

/** Whether an error of the client is a unique key's refusal; with `name`, of one naming that column or index. */
export function isUniqueViolation(error: unknown, name?: string): boolean {
  const e = error as { code?: string; meta?: unknown; message?: string }
  return e?.code === 'P2002' && (name === undefined || `${JSON.stringify(e.meta)} ${e.message}`.includes(name))
}
