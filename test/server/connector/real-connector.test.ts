import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildConnector } from '#agent/build.mjs'
import { makeJoinLine } from '#server/features/join-line.ts'
import { getMachine, listMachines } from '#server/features/machine-list.ts'
import { rotateKey } from '#server/features/root.ts'
import { useDatabase } from '../../support/db.ts'
import {
  actorOf,
  contextOf,
  costRule,
  makeMember,
  makeOrganisation,
  publish,
  type TestOrganisation,
} from '../../support/makers.ts'
import { type Served, serveRoutes } from '../../support/serve.ts'

/** The built connector and the real doors, over a socket: what a developer does from an empty home without the clone. */
const db = useDatabase()
const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-real-'))
const home = path.join(folder, 'home')
let server: Served
let org: TestOrganisation
let dev: string
let daemon: ChildProcess | undefined

beforeAll(async () => {
  mkdirSync(path.join(folder, 'tmp'), { recursive: true })
  mkdirSync(home)
  await buildConnector({ out: path.join(folder, 'dist') })
  process.env.HOLDPOINT_CONNECTOR = path.join(folder, 'dist')
  org = await makeOrganisation(db.prisma)
  dev = await makeMember(db.prisma, org, 'member', 'Dana')
  await publish(db.prisma, org, costRule('lead'))
  server = await serveRoutes('api/v1', 'connector')
})
afterAll(async () => {
  delete process.env.HOLDPOINT_CONNECTOR
  if (daemon?.exitCode === null) daemon.kill('SIGKILL')
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const env = () => ({
  ...process.env,
  HOME: home,
  TMPDIR: path.join(folder, 'tmp'),
  HOLDPOINT_HOME: path.join(home, '.holdpoint'),
})
function run(command: string, args: string[]): Promise<{ code: number; out: string; error: string }> {
  return new Promise(resolve =>
    execFile(command, args, { env: env(), cwd: home, timeout: 30_000 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out, error: err }),
    ),
  )
}
const holdpoint = (...args: string[]) => run(path.join(home, '.holdpoint/bin/holdpoint'), args)

it('the pasted line installs the connector, joins the named member, pins the root and has the rules', async () => {
  const { line } = await makeJoinLine(
    { ...contextOf(db.prisma, actorOf(org, dev, 'member')), origin: server.origin },
    {},
  )
  const pasted = await run('sh', ['-c', line!])
  expect(pasted, pasted.error).toMatchObject({ code: 0 })
  expect(existsSync(path.join(home, '.holdpoint/bin/holdpoint.cjs'))).toBe(true)
  const team = JSON.parse(readFileSync(path.join(home, '.holdpoint/team.json'), 'utf8')) as {
    machine: string
    member: { id: string }
  }
  expect(team.member.id).toBe(dev)
  expect(await listMachines(contextOf(db.prisma, actorOf(org, dev, 'member')))).toMatchObject([
    { id: team.machine, firstUsePin: false, member: { id: dev } },
  ])
  const pin = JSON.parse(readFileSync(path.join(home, '.holdpoint/trust/pin.json'), 'utf8')) as object
  expect(pin).toMatchObject({ version: 1, rootSeq: 1 })
})

it('a machine that has joined refuses another line, and keeps what it has', async () => {
  const { line } = await makeJoinLine(
    { ...contextOf(db.prisma, actorOf(org, dev, 'member')), origin: server.origin },
    {},
  )
  const again = await run('sh', ['-c', line!])
  expect(again.code).not.toBe(0)
  expect(again.error).toContain('has joined')
})

it('status tells what is in force, checked offline under the pinned root', async () => {
  const status = await holdpoint('team', 'status', '--json')
  expect(status.code, status.error).toBe(0)
  expect(JSON.stringify(JSON.parse(status.out))).toContain(org.slug)
})

it('a running daemon takes a publication and a rotated key within seconds, and reports what it has', async () => {
  daemon = spawn(path.join(home, '.holdpoint/bin/holdpoint'), ['daemon'], { env: env(), cwd: home, stdio: 'ignore' })
  const owner = contextOf(db.prisma, actorOf(org, org.ownerId, 'owner'))
  const machine = async () => (await listMachines(owner))[0]!
  const pin = () =>
    JSON.parse(readFileSync(path.join(home, '.holdpoint/trust/pin.json'), 'utf8')) as {
      version: number
      rootSeq: number
    }
  await expect.poll(async () => (await holdpoint('team', 'sync')).code, { timeout: 15_000 }).toBe(0)
  expect(await machine()).toMatchObject({ state: 'current', rulesVersion: 1, lastError: null })
  await publish(db.prisma, org, costRule('lead', '    note: second\n'))
  await expect.poll(() => pin().version, { timeout: 10_000 }).toBe(2)
  await rotateKey(owner, { role: 'ruleset' })
  await expect.poll(() => pin().rootSeq, { timeout: 10_000 }).toBe(2)
  await holdpoint('team', 'sync')
  expect(await machine()).toMatchObject({ state: 'current', rulesVersion: 2, lastError: null })
  expect(await getMachine(owner, { id: (await machine()).id })).toMatchObject({
    rootSeq: 2,
    equivocation: false,
    clonedAt: null,
  })
}, 60_000)
