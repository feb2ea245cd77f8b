import { expect, test } from 'vitest'
import { env } from '#server/env.ts'
import { useDatabase } from '#test/support/db.ts'

const db = useDatabase()

/** The SQLSTATE of a refusal; undefined when there was none. */
async function refusal(sql: string): Promise<string | undefined> {
  return db.pool.query(sql).then(
    () => undefined,
    error => error.code,
  )
}

const INSUFFICIENT_PRIVILEGE = '42501'

test('the application may read and add evidence, and nothing else', async () => {
  expect(await refusal('SELECT * FROM "EvidenceEntry"')).toBeUndefined()
  expect(await refusal(`UPDATE "EvidenceEntry" SET "kind" = 'x'`)).toBe(INSUFFICIENT_PRIVILEGE)
  expect(await refusal('DELETE FROM "EvidenceEntry"')).toBe(INSUFFICIENT_PRIVILEGE)
  expect(await refusal('TRUNCATE "EvidenceEntry"')).toBe(INSUFFICIENT_PRIVILEGE)
  const { rows } = await db.admin.query(
    `SELECT has_table_privilege('holdpoint_app', '"EvidenceEntry"', 'INSERT') AS may`,
  )
  expect(rows[0].may).toBe(true)
})

test('the application may not change the schema or the record of migrations', async () => {
  expect(await refusal('CREATE TABLE mine (a int)')).toBe(INSUFFICIENT_PRIVILEGE)
  expect(await refusal('DROP TABLE "EvidenceEntry"')).toBe(INSUFFICIENT_PRIVILEGE)
  expect(await refusal('DELETE FROM "_prisma_migrations"')).toBe(INSUFFICIENT_PRIVILEGE)
})

test('the application may add a job, see it and take it off', async () => {
  await db.pool.query(`SELECT graphile_worker.add_job('hello', '{}')`)
  const { rows } = await db.pool.query('SELECT task_identifier FROM graphile_worker.jobs')
  expect(rows).toEqual([{ task_identifier: 'hello' }])
  const gone = await db.pool.query('DELETE FROM graphile_worker._private_jobs')
  expect(gone.rowCount).toBe(1)
})

test('modules that only a server may import can be imported here', () => {
  expect(typeof env).toBe('function')
})
