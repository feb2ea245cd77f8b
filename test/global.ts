import { stopPostgres } from '#server/boot/embedded-postgres.mjs'
import { TEST_DATA } from './support/postgres.ts'

/** The tests' PostgreSQL is started by the first file that wants a database; here it is stopped when nobody else uses it. */
export default function setup() {
  return async () => {
    if (!process.env.TEST_DATABASE_URL) await stopPostgres(TEST_DATA)
  }
}
