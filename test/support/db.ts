import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { PrismaClient } from '#generated/prisma/client.ts'
import { openDatabase } from '#server/db.ts'
import { cloneDatabase, dropDatabase, joinTestPostgres, withDatabase } from './postgres.ts'

/** A migrated database of this test file's own. Filled before the first test. */
export type TestDatabase = {
  /** As the application's role, the one that the server has: it may not change evidence. Also in DATABASE_URL. */
  url: string
  pool: pg.Pool
  prisma: PrismaClient
  /** As the tables' owner: for arranging what the application could not, and for looking. */
  ownerUrl: string
  admin: pg.Pool
}

/** Connections that a file may hold at once, so that the concurrency tests really run at once. */
const POOL = 20

/**
 * Gives the calling test file a database, made before its tests and dropped after them.
 * @example const db = useDatabase()
 */
export function useDatabase(): TestDatabase {
  const db = {} as TestDatabase
  const name = `t_${randomUUID().replaceAll('-', '')}`
  let server: Awaited<ReturnType<typeof joinTestPostgres>> | undefined
  const before = process.env.DATABASE_URL

  beforeAll(async () => {
    server = await joinTestPostgres()
    await cloneDatabase(server, name)
    db.url = withDatabase(server.appUrl, name)
    db.ownerUrl = withDatabase(server.ownerUrl, name)
    Object.assign(db, openDatabase(db.url, POOL)) // as the server opens its own
    db.admin = openPool(db.ownerUrl, 4)
    process.env.DATABASE_URL = db.url
  })

  afterAll(async () => {
    if (before === undefined) delete process.env.DATABASE_URL
    else process.env.DATABASE_URL = before
    await db.prisma?.$disconnect()
    await Promise.all([end(db.pool), end(db.admin)])
    if (server) await dropDatabase(server, name)
    await server?.leave()
  })
  return db
}

function openPool(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString, max })
  pool.on('error', () => {}) // a test that restarts or drops the database says so itself
  return pool
}

async function end(pool: pg.Pool | undefined): Promise<void> {
  if (pool && !pool.ended) await pool.end()
}
