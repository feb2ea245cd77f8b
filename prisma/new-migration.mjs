// npm run db:new -- <name>   Writes the SQL that takes the committed migrations to prisma/schema.prisma.
// npm run db:check           Fails when the schema has changes that no migration holds.
// The difference is computed by Prisma's own schema engine in its WebAssembly build (an npm package), so nothing is
// downloaded. Its scratch database is made in DATABASE_ADMIN_URL or DATABASE_URL where set, else in the embedded one.
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { startPostgres } from '../server/boot/embedded-postgres.mjs'
import { dataFolder, root } from '../server/boot/environment.mjs'
import { readMigrations } from '../server/boot/migrate.mjs'

const FOLDER = path.join(root, 'prisma/migrations')
const LOCK_FILE = 'provider = "postgresql"\n'
/** pg_catalog's one-byte "char" has no mapping in the adapter; the engine is content with a blank-padded text. */
const CHAR = 18
const BPCHAR = 1042

/** The adapter as the engine needs it: one connection, "char" columns read, scripts sent whole. */
class ScratchFactory extends PrismaPg {
  constructor(pool) {
    super({ connectionString: 'postgresql://unused' })
    this.pool = pool
  }

  async connect() {
    const adapter = await new PrismaPg(this.pool, { schema: 'public' }).connect()
    const performIO = adapter.performIO.bind(adapter)
    const queryRaw = adapter.queryRaw.bind(adapter)
    let charColumns = []
    adapter.performIO = async query => {
      const result = await performIO(query)
      const fields = result.fields ?? []
      charColumns = fields.flatMap((field, index) => (field.dataTypeID === CHAR ? [index] : []))
      for (const index of charColumns) fields[index].dataTypeID = BPCHAR
      return result
    }
    adapter.queryRaw = async query => {
      const result = await queryRaw(query)
      for (const index of charColumns) result.columnTypes[index] = ColumnTypeEnum.Character
      return result
    }
    adapter.executeScript = async sql => {
      await this.pool.query(sql) // the adapter's own version splits at every ';', function bodies included
    }
    return adapter
  }

  connectToShadowDb() {
    return this.connect() // the scratch database is empty already
  }
}

async function openEngine(pool, schema) {
  const wasm = fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg')).replace(/js$/, 'wasm')
  const module = new WebAssembly.Module(fs.readFileSync(wasm))
  const { exports } = new WebAssembly.Instance(module, { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(exports)
  exports.__wbindgen_start()
  const factory = bindMigrationAwareSqlAdapterFactory(new ScratchFactory(pool))
  return glue.SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, factory)
}

/** The SQL from the migrations' state to the schema's, or undefined when they agree. */
async function difference(url) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  try {
    const file = 'prisma/schema.prisma'
    const schema = { path: file, content: fs.readFileSync(path.join(root, file), 'utf8') }
    const engine = await openEngine(pool, schema)
    const migrationDirectories = readMigrations(FOLDER).map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    }))
    const lockfile = { path: 'migration_lock.toml', content: LOCK_FILE }
    const { stdout, exitCode } = await engine.diff({
      from: { tag: 'migrations', baseDir: 'prisma/migrations', lockfile, shadowDbInitScript: '', migrationDirectories },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return exitCode === 2 ? stdout : undefined
  } finally {
    await pool.end()
  }
}

/** Runs `work` on an empty database of its own. */
async function onScratchDatabase(work) {
  const given = process.env.DATABASE_ADMIN_URL ?? process.env.DATABASE_URL
  const embedded = given ? undefined : await startPostgres(path.join(dataFolder(), 'db'))
  const admin = new pg.Client(given ?? embedded.ownerUrl)
  const name = `scratch_${crypto.randomUUID().replaceAll('-', '')}`
  try {
    await admin.connect()
    await admin.query(`CREATE DATABASE "${name}" TEMPLATE template0`)
    const url = new URL(given ?? embedded.ownerUrl)
    url.pathname = `/${name}`
    return await work(url.href)
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`).catch(() => {})
    await admin.end()
    await embedded?.leave()
  }
}

function writeMigration(sql, words) {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const name = `${stamp}_${words.replace(/\W+/g, '_')}`
  fs.mkdirSync(path.join(FOLDER, name), { recursive: true })
  fs.writeFileSync(path.join(FOLDER, name, 'migration.sql'), sql)
  fs.writeFileSync(path.join(FOLDER, 'migration_lock.toml'), LOCK_FILE)
  console.log(`wrote prisma/migrations/${name}/migration.sql`)
}

const argument = process.argv[2] ?? 'change'
const sql = await onScratchDatabase(difference)
if (sql === undefined) console.log('schema and migrations agree')
else if (argument !== '--check') writeMigration(sql, argument)
else {
  console.error(`prisma/schema.prisma has changes that no migration holds (npm run db:new -- <name>):\n${sql}`)
  process.exitCode = 1
}
process.exit() // the engine keeps a handle open
