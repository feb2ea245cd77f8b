import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from '@playwright/test'

/** What `npm start` promises to whoever starts and stops it. The build is there already: this run's own server made it. */
const PORT = Number(process.env.E2E_PORT) + 3000
const ADDRESS = `http://localhost:${PORT}`

let data: string
let running: ChildProcess[] = []

test.beforeEach(() => {
  data = mkdtempSync(path.join(os.tmpdir(), 'start-'))
  running = []
})
test.afterEach(async () => {
  for (const launcher of running)
    if (launcher.exitCode === null && launcher.signalCode === null) await stopped(launcher, 'SIGINT')
  const elsewhere = path.join(data, 'db/moved-to')
  if (existsSync(elsewhere)) rmSync(readFileSync(elsewhere, 'utf8').trim(), { recursive: true, force: true })
  rmSync(data, { recursive: true, force: true })
})

/** Resolves with the launcher when it has printed its address. */
async function start(): Promise<ChildProcess> {
  const env = {
    NODE_ENV: 'production',
    PATH: process.env.PATH,
    HOME: data,
    PORT: String(PORT),
    HOLDPOINT_DATA: data,
  } as const
  const launcher = spawn(process.execPath, ['server/boot/start.mjs'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  running.push(launcher)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const hear = (part: Buffer) => {
      said += part
      if (said.includes(`Holdpoint is at ${ADDRESS}`)) resolve()
    }
    launcher.stdout!.on('data', hear)
    launcher.stderr!.on('data', hear)
    launcher.once('exit', code => reject(new Error(`ended with ${code}: ${said}`)))
  })
  return launcher
}

async function stopped(launcher: ChildProcess, signal: NodeJS.Signals, group = false): Promise<void> {
  const exit = once(launcher, 'exit')
  process.kill(group ? -launcher.pid! : launcher.pid!, signal)
  await exit
}

const answers = () =>
  fetch(ADDRESS, { redirect: 'manual' }).then(
    () => true,
    () => false,
  )

function postmaster(): number | undefined {
  const moved = path.join(data, 'db/moved-to')
  const place = existsSync(moved) ? readFileSync(moved, 'utf8').trim() : path.join(data, 'db')
  const file = path.join(place, 'pg18/postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
}

for (const group of [true, false]) {
  test(`Ctrl-C to ${group ? 'the whole group' : 'the launcher alone'} stops the server and its database`, async () => {
    const launcher = await start()
    expect(await answers()).toBe(true)
    expect(postmaster()).toBeGreaterThan(0)
    await stopped(launcher, 'SIGINT', group)
    expect(launcher.exitCode).toBe(0)
    await expect.poll(postmaster).toBeUndefined()
    await expect.poll(answers).toBe(false)
  })
}

test('a launcher that is killed takes its server along, and the next start finds everything', async () => {
  const secret = () => readFileSync(path.join(data, 'secret'), 'utf8')
  await stopped(await start(), 'SIGKILL')
  const before = secret()
  expect(statSync(path.join(data, 'secret')).mode & 0o777).toBe(0o600) // the key outside the database is its owner's only
  await expect.poll(answers, { timeout: 60_000 }).toBe(false)
  const again = await start()
  expect(secret()).toBe(before)
  await stopped(again, 'SIGINT')
  await expect.poll(postmaster).toBeUndefined()
})

test('a database that is killed is started again under the running server', async () => {
  await start()
  const killed = postmaster()!
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => postmaster() !== killed && postmaster() !== undefined, { timeout: 60_000 }).toBe(true)
  await expect.poll(answers).toBe(true)
})

test('a second start of the same says where the first one is; one with another data folder, how to go on', async () => {
  const first = await start()
  await expect(start()).rejects.toThrow(`ended with 0: \n  Holdpoint already runs at ${ADDRESS}, with the data folder`)
  data = mkdtempSync(path.join(os.tmpdir(), 'start-'))
  await expect(start()).rejects.toThrow(
    `Port ${PORT} is in use by a Holdpoint with another data folder. Choose another: PORT=${PORT + 1} npm start`,
  )
  expect(await answers()).toBe(true)
  await stopped(first, 'SIGINT')
})
