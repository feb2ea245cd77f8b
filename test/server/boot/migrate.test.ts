import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '#server/boot/migrate.mjs'
import { useDatabase } from '#test/support/db.ts'

const LOCK = 72707369

const db = useDatabase()
let folder: string

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'migrations-'))
  await db.admin.query('DROP TABLE IF EXISTS fruit; DELETE FROM _prisma_migrations')
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, sql: string) {
  mkdirSync(path.join(folder, name), { recursive: true })
  writeFileSync(path.join(folder, name, 'migration.sql'), sql)
}

test('migrations are applied once, oldest first', async () => {
  write('2_pear', `INSERT INTO fruit VALUES ('pear')`)
  write('1_table', 'CREATE TABLE fruit (name text)')
  expect(await migrate(db.ownerUrl, folder)).toEqual(['1_table', '2_pear'])
  expect(await migrate(db.ownerUrl, folder)).toEqual([])
})

test('of several processes that migrate at once, one applies', async () => {
  write('1_table', 'CREATE TABLE fruit (name text)')
  const all = await Promise.all(Array.from({ length: 5 }, () => migrate(db.ownerUrl, folder)))
  expect(all.flat()).toEqual(['1_table'])
})

test('a migration that fails leaves nothing of itself', async () => {
  write('1_table', `CREATE TABLE fruit (name text); INSERT INTO fruit VALUES ('x'); SELECT 1/0`)
  await expect(migrate(db.ownerUrl, folder)).rejects.toThrow(
    'migration 1_table failed and was undone: division by zero',
  )
  expect((await db.admin.query(`SELECT to_regclass('fruit') AS at`)).rows[0].at).toBeNull()
})

test('a migration that was changed after it was applied is refused', async () => {
  write('1_table', 'CREATE TABLE fruit (name text)')
  await migrate(db.ownerUrl, folder)
  write('1_table', 'CREATE TABLE fruit (name text, colour text)')
  await expect(migrate(db.ownerUrl, folder)).rejects.toThrow('migration 1_table was changed after it was applied')
})

test('who holds the migration lock is named', async () => {
  const holder = new pg.Client({ connectionString: db.ownerUrl, application_name: 'orphaned deploy' })
  await holder.connect()
  try {
    await holder.query(`SELECT pg_advisory_lock(${LOCK})`)
    const refused = migrate(db.ownerUrl, folder, { lockWaitMs: 200 })
    await expect(refused).rejects.toThrow(/another session has been migrating .* session \d+ .*"orphaned deploy", idle/)
  } finally {
    await holder.end()
  }
})

test('a migration does not wait for ever on a table that another session holds, and names that session', async () => {
  await db.admin.query('CREATE TABLE fruit (name text)')
  write('1_column', 'ALTER TABLE fruit ADD COLUMN colour text')
  const holder = new pg.Client({ connectionString: db.ownerUrl, application_name: 'long report' })
  await holder.connect()
  try {
    await holder.query('BEGIN; SELECT * FROM fruit')
    const refused = migrate(db.ownerUrl, folder, { tableWaitMs: 2500 })
    await expect(refused).rejects.toThrow(/failed and was undone: .*lock timeout.*"long report", idle in transaction/)
  } finally {
    await holder.end()
  }
})

test('a migration past its time is stopped', async () => {
  write('1_slow', 'SELECT pg_sleep(30)')
  const started = Date.now()
  await expect(migrate(db.ownerUrl, folder, { killMs: 300 })).rejects.toThrow('HOLDPOINT_MIGRATE_SECONDS allows more')
  expect(Date.now() - started).toBeLessThan(10_000)
})
