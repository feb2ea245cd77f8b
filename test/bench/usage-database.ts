import { join } from 'node:path'
import type pg from 'pg'
import { prepareDatabase } from '#server/boot/database.mjs'
import { startPostgres } from '#server/boot/embedded-postgres.mjs'
import { type Db, openDatabase } from '#server/db.ts'
import { type Later, temporaryFolder } from './undo.ts'

export type BenchDatabase = { prisma: Db; pool: pg.Pool; ownerUrl: string }

/** A database of this run only, as `npm start` would make it: the embedded server at its standing settings. */
export async function openBenchDatabase(later: Later): Promise<BenchDatabase> {
  const postgres = await startPostgres(join(temporaryFolder(later), 'db'))
  later(() => postgres.leave())
  await prepareDatabase(postgres.ownerUrl, postgres.appUrl)
  process.env.DATABASE_URL = postgres.appUrl // read by what seals keys
  const { prisma, pool } = openDatabase(postgres.appUrl, 4)
  later(async () => {
    await prisma.$disconnect()
    if (!pool.ended) await pool.end()
  })
  return { prisma, pool, ownerUrl: postgres.ownerUrl }
}

/** `COPY … FROM STDIN` in one piece, over the client's own connection: the least that rows can cost. */
export function copyIn(client: pg.Client | pg.PoolClient, sql: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    type Wire = { query(sql: string): void; sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }
    const copying = {
      submit: (connection: Wire) => connection.query(sql),
      handleCopyInResponse(connection: Wire) {
        connection.sendCopyFromChunk(Buffer.from(text))
        connection.endCopyFrom()
      },
      handleCommandComplete() {},
      handleRowDescription() {},
      handleDataRow() {},
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    }
    client.query(copying as never)
  })
}
