import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { useDatabase } from '#test/support/db.ts'
import { cloneDatabase, dropDatabase } from '#test/support/postgres.ts'

const db = useDatabase()

it('a test file that has started the server drops no database of a file that was a moment earlier', async () => {
  const starter = { ownerUrl: db.ownerUrl, appUrl: db.url, fresh: true, leave: async () => {} }
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await cloneDatabase(starter, name)
  try {
    expect((await db.admin.query('SELECT 1 AS here')).rows).toEqual([{ here: 1 }])
  } finally {
    await dropDatabase(starter, name)
  }
})
