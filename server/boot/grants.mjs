// What the application's role may do: work on all tables, except those that prisma/grants.sql takes out.
import fs from 'node:fs'
import pg from 'pg'

/** The schema of the job queue, whose tables hide their rows from everybody but their owner until a policy says otherwise. */
const JOBS = 'graphile_worker'

/**
 * Gives the application's role its rights on everything that exists now. To be run by the tables' owner after migrating.
 * @param {pg.Client} client
 * @param {string} role
 * @param {string} file prisma/grants.sql: in it, as in psql, :"app" is the role as a name and :'app' as a text
 */
export async function grant(client, role, file) {
  const app = pg.escapeIdentifier(role)
  await client.query('BEGIN')
  try {
    for (const schema of await schemas(client)) {
      await client.query(`
        GRANT USAGE ON SCHEMA ${schema} TO ${app};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${app};
        GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${app};
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${app};`)
    }
    await client.query(`REVOKE INSERT, UPDATE, DELETE ON "_prisma_migrations" FROM ${app}`)
    await openJobTables(client, role)
    const own = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
    await client.query(own.replaceAll(':"app"', () => app).replaceAll(":'app'", () => pg.escapeLiteral(role)))
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw new Error(`the rights of ${role} could not be set: ${error.message}`, { cause: error })
  }
}

async function schemas(client) {
  const { rows } = await client.query(`SELECT nspname FROM pg_namespace WHERE nspname IN ('public', '${JOBS}')`)
  return rows.map(row => pg.escapeIdentifier(row.nspname))
}

async function openJobTables(client, role) {
  const { rows } = await client.query(
    `SELECT c.relname FROM pg_class c WHERE c.relnamespace = to_regnamespace('${JOBS}') AND c.relrowsecurity
       AND NOT EXISTS (SELECT FROM pg_policies p WHERE p.schemaname = '${JOBS}' AND p.tablename = c.relname AND p.policyname = $1)`,
    [role],
  )
  const app = pg.escapeIdentifier(role)
  for (const { relname } of rows) {
    const table = `${JOBS}.${pg.escapeIdentifier(relname)}`
    await client.query(`CREATE POLICY ${app} ON ${table} TO ${app} USING (true) WITH CHECK (true)`)
  }
}
