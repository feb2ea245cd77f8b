// The database that the server is given: the user's own, or the embedded one; migrated, with the application's rights set.
import path from 'node:path'
import { runMigrations } from 'graphile-worker'
import { startPostgres } from './embedded-postgres.mjs'
import { root } from './environment.mjs'
import { grant } from './grants.mjs'
import { migrate } from './migrate.mjs'

const REVIVE_MS = 1000

/**
 * Brings a database to this version's schema, the job queue's tables included.
 * @param {string} ownerUrl migrates
 * @param {string} appUrl the application; when it is another role, its rights are set
 * @returns {Promise<string[]>} the migrations applied
 */
export async function prepareDatabase(ownerUrl, appUrl) {
  const appRole = roleOf(appUrl)
  return migrate(ownerUrl, path.join(root, 'prisma/migrations'), {
    finish: async client => {
      await runMigrations({ connectionString: ownerUrl })
      if (appRole !== roleOf(ownerUrl)) await grant(client, appRole, path.join(root, 'prisma/grants.sql'))
    },
  })
}

function roleOf(url) {
  return decodeURIComponent(new URL(url).username)
}

/**
 * Opens the database for this process: DATABASE_URL where set (migrated as DATABASE_ADMIN_URL, which a pooled address or
 * a role without rights on the schema needs), else the embedded PostgreSQL of the data folder.
 * @param {string} data the data folder
 * @param {(line: string) => void} say
 * @returns {Promise<{ url: string, leave: () => Promise<void> }>}
 */
export async function openDatabase(data, say) {
  if (process.env.DATABASE_URL) return openGiven(process.env.DATABASE_URL, say)
  const folder = path.join(data, 'db')
  let postgres = await startPostgres(folder)
  if (postgres.folder !== folder)
    say(`The database's files lie in ${postgres.folder}: its user may not enter ${folder}.`)
  try {
    report(await prepareDatabase(postgres.ownerUrl, postgres.appUrl), say)
  } catch (error) {
    await postgres.leave()
    throw error
  }
  let reviving
  const timer = setInterval(() => {
    if (reviving || postgres.isRunning()) return
    say('PostgreSQL ended; starting it again.')
    reviving = startPostgres(folder)
      .then(again => {
        postgres = again
      })
      .catch(error => say(error.message))
      .finally(() => {
        reviving = undefined
      })
  }, REVIVE_MS)
  const leave = async () => {
    clearInterval(timer)
    await reviving
    await postgres.leave()
  }
  return { url: postgres.appUrl, leave }
}

async function openGiven(url, say) {
  const admin = process.env.DATABASE_ADMIN_URL
  try {
    report(await prepareDatabase(admin ?? url, url), say)
  } catch (error) {
    const { host, pathname } = new URL(admin ?? url)
    const hint = error.code === '42501' && !admin ? ' DATABASE_ADMIN_URL names a role that may change the schema.' : ''
    const name = admin ? 'DATABASE_ADMIN_URL' : 'DATABASE_URL'
    throw new Error(`The database of ${name} (${host}${pathname}) cannot be used: ${error.message}.${hint}`, {
      cause: error,
    })
  }
  return { url, leave: async () => {} }
}

function report(applied, say) {
  if (applied.length > 0) say(`Database: ${applied.length} migration${applied.length === 1 ? '' : 's'} applied.`)
}
