import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startPostgres, stopPostgres } from '#server/boot/embedded-postgres.mjs'
import { root } from '#server/boot/environment.mjs'

let parent: string
let folder: string

beforeEach(() => {
  parent = mkdtempSync(path.join(os.tmpdir(), 'postgres-'))
  folder = path.join(parent, 'db')
})
afterEach(async () => {
  await stopPostgres(folder, { force: true })
  rmSync(readPlace(), { recursive: true })
  rmSync(parent, { recursive: true, force: true })
})

/** Root's temporary folders are closed to the user that PostgreSQL runs as: the files then lie elsewhere. */
function readPlace(): string {
  try {
    return readFileSync(path.join(folder, 'moved-to'), 'utf8').trim()
  } catch {
    return folder
  }
}

const ask = async (url: string, sql: string) => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Another process that has joined. */
async function joinElsewhere(): Promise<ChildProcess> {
  const script = `import { startPostgres } from './server/boot/embedded-postgres.mjs'
    await startPostgres(process.argv[1]); process.send('joined'); setInterval(() => {}, 1e6)`
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] as never }
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], options)
  await once(child, 'message')
  return child
}

async function killed(child: ChildProcess) {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('the last process to leave stops the server, and no other', async () => {
  const other = await joinElsewhere()
  const own = await startPostgres(folder)
  expect(own.joined).toBe(true)
  expect(await own.leave()).toBe(false)
  expect(own.isRunning()).toBe(true)
  expect((await stopPostgres(folder)).users).toEqual([other.pid])
  await killed(other)
  expect(await stopPostgres(folder)).toEqual({ stopped: true, users: [] })
  expect(own.isRunning()).toBe(false)
})

test('several processes that start at once share one server', async () => {
  const [one, two] = await Promise.all([joinElsewhere(), joinElsewhere()])
  const own = await startPostgres(folder)
  expect(own.joined).toBe(true)
  expect(await ask(own.appUrl, 'SELECT current_user, current_database()')).toEqual([
    { current_user: 'holdpoint_app', current_database: 'holdpoint' },
  ])
  await Promise.all([killed(one), killed(two)])
})

test('what was acknowledged is there after the server and its user were killed', async () => {
  const first = await startPostgres(folder)
  await ask(first.ownerUrl, 'CREATE TABLE kept (n int)')
  await ask(first.ownerUrl, 'INSERT INTO kept SELECT generate_series(1, 1000)')
  const pid = Number(readFileSync(path.join(first.folder, 'pg18/postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(pid, 'SIGKILL')
  const second = await startPostgres(folder)
  expect(second.joined).toBe(false)
  expect(await ask(second.ownerUrl, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }])
})

test('a lock left by a killed process does not stop the next start', async () => {
  const first = await startPostgres(folder)
  const dead = spawn(process.execPath, ['-e', ''])
  await once(dead, 'exit')
  writeFileSync(path.join(first.folder, 'start.lock'), `${dead.pid}-1`)
  expect((await startPostgres(folder)).joined).toBe(true)
})
