import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { prepareDatabase } from '#server/boot/database.mjs'
import { APP, startPostgres } from '#server/boot/embedded-postgres.mjs'
import { root } from '#server/boot/environment.mjs'
import { readMigrations } from '#server/boot/migrate.mjs'

export const TEST_DATA = path.join(root, '.data/test')

/** Held while the template is made or copied, so that two test files, or two runs, do not meet. */
const TEMPLATE_LOCK = 48101
/** Test data need not outlive a power cut. */
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

type Server = { ownerUrl: string; appUrl: string; fresh: boolean; leave: () => Promise<unknown> }

/**
 * The tests' PostgreSQL: the embedded one under .data/test, started when it does not run, or TEST_DATABASE_URL, an
 * address of a role that may make databases and roles.
 */
export async function joinTestPostgres(): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL
  if (!given) {
    const server = await startPostgres(TEST_DATA, { settings: FAST })
    return { ...server, fresh: !server.joined, leave: () => server.leave({ stop: false }) }
  }
  const password = createHash('sha256').update(given).digest('hex')
  const client = new pg.Client(given)
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [APP])
    await client.query(`${rowCount ? 'ALTER' : 'CREATE'} ROLE ${APP} LOGIN PASSWORD '${password}'`)
  } finally {
    await client.end()
  }
  const appUrl = new URL(given)
  appUrl.username = APP
  appUrl.password = password
  return { ownerUrl: given, appUrl: appUrl.href, fresh: false, leave: async () => {} }
}

/** The same server, another database. */
export function withDatabase(url: string, name: string): string {
  const at = new URL(url)
  at.pathname = `/${name}`
  return at.href
}

/** Makes a database from the migrated template, which is made first when the migrations have changed. */
export async function cloneDatabase(server: Server, name: string): Promise<void> {
  const client = new pg.Client(withDatabase(server.ownerUrl, 'postgres'))
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK])
    if (server.fresh) await dropLeftOver(client)
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${await ensureTemplate(client, server)}`)
  } finally {
    await client.end()
  }
}

export async function dropDatabase(server: Server, name: string): Promise<void> {
  const client = new pg.Client(withDatabase(server.ownerUrl, 'postgres'))
  await client.connect()
  try {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  } finally {
    await client.end()
  }
}

/** Named by what it is made from; renamed into place, so that a half-made one is never copied. */
async function ensureTemplate(client: pg.Client, server: Server): Promise<string> {
  const name = `template_${schemaDigest()}`
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
  if (rowCount) return name
  await dropAll(client, 'template\\_%')
  await client.query(`CREATE DATABASE ${name}_new`)
  await prepareDatabase(withDatabase(server.ownerUrl, `${name}_new`), withDatabase(server.appUrl, `${name}_new`))
  await client.query(`ALTER DATABASE ${name}_new RENAME TO ${name}`)
  return name
}

/** What a killed run left. Not what another file of this run has made since the server was started; files are dated in whole seconds. */
const dropLeftOver = (client: pg.Client): Promise<void> =>
  dropAll(
    client,
    't\\_%',
    `AND (pg_stat_file('base/' || oid || '/PG_VERSION', true)).modification < date_trunc('second', pg_postmaster_start_time())`,
  )

async function dropAll(client: pg.Client, like: string, where = ''): Promise<void> {
  const { rows } = await client.query(`SELECT datname FROM pg_database WHERE datname LIKE $1 ${where}`, [like])
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
}

function schemaDigest(): string {
  const hash = createHash('sha256')
  for (const { name, checksum } of readMigrations(path.join(root, 'prisma/migrations')))
    hash.update(`${name} ${checksum}\n`)
  const made = ['prisma/grants.sql', 'server/boot/grants.mjs', 'node_modules/graphile-worker/package.json']
  for (const file of made.map(place => path.join(root, place))) if (existsSync(file)) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}
