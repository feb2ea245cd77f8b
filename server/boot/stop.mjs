// `npm run db:stop [-- --force]`: stops the embedded PostgreSQL when a killed process left it running.
import path from 'node:path'
import { stopPostgres } from './embedded-postgres.mjs'
import { dataFolder } from './environment.mjs'

const { stopped, users } = await stopPostgres(path.join(dataFolder(), 'db'), {
  force: process.argv.includes('--force'),
})
if (stopped) console.log('PostgreSQL stopped.')
else if (users.length === 0) console.log('PostgreSQL was not running.')
else {
  console.error(`PostgreSQL is in use by process ${users.join(', ')}. Stop that first, or: npm run db:stop -- --force`)
  process.exitCode = 1
}
