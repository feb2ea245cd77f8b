import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { claude } from '#agent/clients/claude/claude.ts'
import { probeSettings } from '#agent/clients/claude/probe.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { cursor } from '#agent/clients/cursor/cursor.ts'
import type { HookForm } from '#agent/clients/hook-editor.ts'
import { sendCanary } from '#agent/commands/canary.ts'
import { hookInstall } from '#agent/hook-programs.ts'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup } from './world.ts'

let org: Organisation
let machine: Machine
let developer: ClientHome
beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
  developer = { homeDir: join(machine.folder, 'dev'), env: {} }
  machine.config(RULE('deny'))
  await machine.start()
})

const settings = () => claude.hooks.settingsPath(developer)
const install = (door = JSON.parse(readFileSync(machine.home.tokens, 'utf8')), form: HookForm = 'http') =>
  claude.hooks.install(developer, hookInstall(machine.home, claude, door, { whenBroken: 'pass', form }), {
    dryRun: false,
  })
const level = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules[0].levels[0]

test('status has hooks that were installed a moment after it was last asked, and the next report too', async () => {
  expect(await level()).toMatchObject({ level: 'not-installed', remedy: 'holdpoint hooks install' })
  await machine.daemon.tick()
  expect(org.reports.at(-1)!.hooks).toContainEqual({ client: 'claude-code', level: 'not-installed', off: [] })
  install()
  expect(await level()).toEqual({ client: 'claude-code', level: 'user-hook', off: [] })
  await machine.daemon.tick()
  expect(org.reports.at(-1)!.hooks).toContainEqual({ client: 'claude-code', level: 'user-hook', off: [] })
  claude.hooks.uninstall(developer, { dryRun: false })
  expect(await level()).toMatchObject({ level: 'not-installed' })
})

test.each([
  ['another address', { port: 1 }],
  ['another token', { hookToken: 'x'.repeat(43) }],
])('a hook that goes to %s is broken, and what mends it is said', async (_, change) => {
  install({ ...JSON.parse(readFileSync(machine.home.tokens, 'utf8')), ...change })
  expect(await level()).toEqual({
    client: 'claude-code',
    level: 'broken',
    off: ['hook_edited'],
    remedy: 'holdpoint hooks install',
  })
})

test('a program that is not ours is outdated, another Node that runs ours is not', async () => {
  install()
  const edit = (exe: string) => {
    const read = JSON.parse(readFileSync(settings(), 'utf8'))
    read.hooks.SessionStart[0].hooks[0].command = exe
    writeFileSync(settings(), JSON.stringify(read))
  }
  edit('/bin/true')
  expect(await level()).toMatchObject({ level: 'user-hook', off: ['hook_edited'], remedy: 'holdpoint hooks install' })
  const node = join(machine.folder, 'node')
  edit(node)
  expect(await level()).toMatchObject({ off: ['hook_edited'] })
  writeFileSync(node, '')
  expect(await level()).toMatchObject({ level: 'user-hook', off: [] })
})

test('the canary proves the way and is no session: no row, no figure, nothing in the journal', async () => {
  install()
  // that they are there now is noticed first
  await machine.daemon.tick()
  const before = machine.journal().length
  const proved = await sendCanary(probeSettings(readFileSync(settings(), 'utf8')), {}, machine.home.root)
  expect(proved).toMatchObject({ ok: true })
  const status = (await machine.ask('GET', '/api/status', { token: 'api' })).json
  expect(status).toMatchObject({ sessions: [], calls: 0, unguarded: 0 })
  const figures = (await machine.ask('GET', '/api/figures', { token: 'api' })).json as { session?: string }[]
  expect(figures.filter(({ session }) => session !== undefined)).toEqual([])
  await machine.daemon.tick()
  expect(machine.journal()).toHaveLength(before)
  // the way is proved by a token that is let in, and by no other
  const wrong = readFileSync(settings(), 'utf8').replace(/Bearer [\w-]+/, `Bearer ${'x'.repeat(43)}`)
  expect(await sendCanary(probeSettings(wrong), {}, machine.home.root)).toMatchObject({ ok: false, code: 'refused' })
})

test('a tool call that calls itself the canary is judged like any other', async () => {
  machine.spend(21, { session: 'holdpoint-canary' })
  const reply = await machine.hook({ session_id: 'holdpoint-canary' })
  expect(reply.body).toContain('session-spend')
})

test('a rule on what a session costs is told as unread for a client whose costs nothing reads', async () => {
  const program = join(machine.home.bin, 'holdpoint-hook.cjs')
  mkdirSync(machine.home.bin, { recursive: true })
  writeFileSync(program, '')
  const door = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
  const request = hookInstall(machine.home, cursor, door, { whenBroken: 'pass', form: 'command' })
  cursor.hooks.install(
    developer,
    { ...request, hookCommand: { exe: process.execPath, args: [program] } },
    { dryRun: false },
  )
  const levels = async () => (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules[0].levels
  const ofCursor = async () => (await levels()).find((one: { client: string }) => one.client === 'cursor').level
  expect(await ofCursor()).toBe('figure-unread')
  machine.config(
    'boundaries:\n  - { name: any, action: continue, when: { agent_id: "== x:y" }, require: deny, stage: enforce }\n',
  )
  await machine.daemon.tick()
  expect(await ofCursor()).toBe('user-hook')
})
