// Applies prisma/migrations in order, recording them in Prisma's own table so that `prisma migrate deploy|status` agree.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'

/** The advisory lock that `prisma migrate` takes, so that the two never run at once. */
const LOCK = 72707369
const OLDEST = 150000
const LOCK_WAIT_MS = 60_000
/** How long one statement may wait for a table that another session holds. */
const TABLE_WAIT_MS = 15_000
/** A migration that has not ended by then is stopped: `HOLDPOINT_MIGRATE_SECONDS` for a large database. */
const KILL_MS = 1000 * Number(process.env.HOLDPOINT_MIGRATE_SECONDS ?? 300)

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`

/**
 * @typedef {{ name: string, sql: string, checksum: string }} Migration
 */

/**
 * The migrations of a folder, oldest first.
 * @param {string} folder
 * @returns {Migration[]}
 */
export function readMigrations(folder) {
  if (!fs.existsSync(folder)) return []
  const names = fs.readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return names
    .map(entry => entry.name)
    .sort()
    .map(name => {
      const sql = fs.readFileSync(path.join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: crypto.createHash('sha256').update(sql).digest('hex') }
    })
}

/**
 * Applies what is missing, each migration in a transaction of its own, and nothing when another process is doing it:
 * that one is waited for.
 * @param {string} url a direct (not pooled) address of a role that owns the tables
 * @param {string} folder
 * @param {{ lockWaitMs?: number, tableWaitMs?: number, killMs?: number, finish?: (client: pg.Client) => Promise<void> }} [options]
 *   `finish` runs under the same lock after the last migration
 * @returns {Promise<string[]>} the names applied
 */
export async function migrate(url, folder, options = {}) {
  const { lockWaitMs = LOCK_WAIT_MS, tableWaitMs = TABLE_WAIT_MS, killMs = KILL_MS, finish } = options
  const migrations = readMigrations(folder)
  const client = new pg.Client({ connectionString: url, application_name: 'holdpoint migrate' })
  client.on('error', () => {}) // the query that was under way reports it
  await client.connect()
  const watch = watchBlockers(url, client, killMs)
  try {
    await assertVersion(client)
    await takeLock(client, lockWaitMs)
    await client.query(`SET lock_timeout = ${tableWaitMs}`)
    await client.query(TABLE)
    const applied = await applyAll(client, migrations, watch)
    await finish?.(client)
    return applied
  } finally {
    await watch.end()
    await client.end()
  }
}

async function assertVersion(client) {
  const { rows } = await client.query('SHOW server_version_num')
  if (Number(rows[0].server_version_num) < OLDEST) throw new Error('Holdpoint needs PostgreSQL 15 or newer')
}

async function applyAll(client, migrations, watch) {
  const { rows } = await client.query(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  const done = new Map(rows.map(row => [row.migration_name, row]))
  const applied = []
  for (const migration of migrations) {
    const was = done.get(migration.name)
    if (was) assertSame(migration, was)
    else {
      await apply(client, migration, watch)
      applied.push(migration.name)
    }
  }
  return applied
}

function assertSame({ name, checksum }, was) {
  if (!was.finished_at) throw new Error(`migration ${name} was started by another tool and never finished`)
  if (was.checksum !== checksum) throw new Error(`migration ${name} was changed after it was applied`)
}

async function apply(client, { name, sql, checksum }, watch) {
  try {
    await client.query('BEGIN')
    await client.query(sql)
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       VALUES ($1, $2, now(), $3, 1)`,
      [crypto.randomUUID(), checksum, name],
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw new Error(`migration ${name} failed and was undone: ${error.message}${watch.words()}`, { cause: error })
  }
}

/** Tries instead of waiting inside the server, so that the message can name who holds the lock. */
async function takeLock(client, waitMs) {
  for (const until = Date.now() + waitMs; ; ) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [LOCK])
    if (rows[0].taken) return
    if (Date.now() > until) break
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  const holders = await client.query(
    `SELECT a.* FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.objid = $1
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCK],
  )
  throw new Error(
    `another session has been migrating this database for over ${waitMs / 1000} s: ${holders.rows.map(describe).join('; ')}. ` +
      'Wait for it, or end it with SELECT pg_terminate_backend(<its number>), and start again.',
  )
}

function describe(session) {
  const where = session.client_addr ? ` from ${session.client_addr}` : ''
  const what = (session.query ?? '').replace(/\s+/g, ' ').slice(0, 120)
  return `session ${session.pid} of ${session.usename}${where} ("${session.application_name}", ${session.state} since ${session.state_change?.toISOString()}: ${what})`
}

/**
 * Remembers who stands in the migration's way, for the message, and cancels a migration past its time.
 * Opens its own connection only when the migration takes longer than a second.
 */
function watchBlockers(url, migrating, killMs) {
  const started = Date.now()
  let blockers = []
  let killed = false
  let looking = Promise.resolve()
  const look = async () => {
    const client = new pg.Client({ connectionString: url, application_name: 'holdpoint migrate watch' })
    client.on('error', () => {})
    await client.connect()
    try {
      const found = await client.query('SELECT * FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1))', [
        migrating.processID,
      ])
      if (found.rowCount > 0) blockers = found.rows
      killed = Date.now() - started > killMs
      if (killed) await client.query('SELECT pg_cancel_backend($1)', [migrating.processID])
    } finally {
      await client.end()
    }
  }
  const timer = setInterval(
    () => {
      looking = looking.then(look).catch(() => {})
    },
    Math.min(1000, killMs),
  )
  return {
    words: () =>
      (killed ? ` (stopped after ${killMs / 1000} s; HOLDPOINT_MIGRATE_SECONDS allows more)` : '') +
      (blockers.length > 0 ? `; in its way: ${blockers.map(describe).join('; ')}` : ''),
    end: () => {
      clearInterval(timer)
      return looking
    },
  }
}
