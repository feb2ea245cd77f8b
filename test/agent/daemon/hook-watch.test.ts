/** What the daemon notices of its hooks by itself, journals, and tells the organisation at once. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import { claude } from '#agent/clients/claude/claude.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { codex } from '#agent/clients/codex/codex.ts'
import { gemini } from '#agent/clients/gemini/gemini.ts'
import type { Entry } from '#agent/daemon/entry.ts'
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
  developer = { homeDir: join(machine.folder, 'dev'), env: { PATH: join(machine.folder, 'programs') } }
  machine.config(RULE('deny'))
})

const start = (follow = false) => machine.start({ clientHome: developer, follow })
function install(adapter: ClientAdapter, whenBroken: 'pass' | 'block' = 'pass'): void {
  const door = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
  const wanted = { whenBroken, form: adapter.forms[0]! }
  const request = hookInstall(machine.home, adapter, door, wanted)
  for (const program of request.hookCommand.args) {
    mkdirSync(dirname(program), { recursive: true })
    if (!existsSync(program)) writeFileSync(program, '')
  }
  adapter.hooks.install(developer, request, { dryRun: false })
}
type Changed = Extract<Entry, { kind: 'hooks_changed' }>
const changes = () =>
  machine
    .journal()
    .filter((entry): entry is Changed => entry.kind === 'hooks_changed')
    .map(({ client, from, to, off }) => [client, from, to, ...off])
// biome-ignore lint/suspicious/noExplicitAny: each client's settings have a form of their own
const edit = (adapter: ClientAdapter, change: (settings: any) => void) => {
  const file = adapter.hooks.settingsPath(developer)
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  change(settings)
  writeFileSync(file, JSON.stringify(settings))
}
/** A program of a client that says its version. */
function program(name: string, version: string): void {
  const file = join(machine.folder, 'programs', name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\necho ${version}\n`)
  chmodSync(file, 0o755)
}

test('each way in which a hook stops holding is journalled once, with its cause, and so is its return', async () => {
  await start()
  await machine.daemon.tick()
  expect(changes()).toEqual([])
  install(claude)
  await machine.daemon.tick()
  const installed = readFileSync(claude.hooks.settingsPath(developer), 'utf8')
  const restore = () => writeFileSync(claude.hooks.settingsPath(developer), installed)
  edit(claude, settings => {
    settings.disableAllHooks = true
  })
  await machine.daemon.tick()
  await machine.daemon.tick()
  restore()
  await machine.daemon.tick()
  edit(claude, settings => {
    delete settings.hooks.PreToolUse
  })
  await machine.daemon.tick()
  writeFileSync(claude.hooks.settingsPath(developer), '{}')
  await machine.daemon.tick()
  restore()
  await machine.daemon.tick()
  expect(changes()).toEqual([
    ['claude-code', 'not-installed', 'user-hook'],
    ['claude-code', 'user-hook', 'broken', 'hooks_disabled_by_user'],
    ['claude-code', 'broken', 'user-hook'],
    ['claude-code', 'user-hook', 'broken', 'hook_edited'],
    ['claude-code', 'broken', 'not-installed'],
    ['claude-code', 'not-installed', 'user-hook'],
  ])
})

test('Codex’s hook that nobody trusts, and Gemini CLI’s switch for all hooks, are noticed', async () => {
  await start()
  install(codex)
  install(gemini)
  await machine.daemon.tick()
  edit(gemini, settings => {
    settings.hooksConfig = { enabled: false }
  })
  await machine.daemon.tick()
  expect(changes()).toEqual([
    ['codex', 'not-installed', 'broken', 'hook_not_trusted'],
    ['gemini', 'not-installed', 'user-hook'],
    ['gemini', 'user-hook', 'broken', 'hooks_disabled_by_user'],
  ])
})

test('a client that was put back to a version that does not obey the hook is noticed', async () => {
  program('claude', '2.1.332')
  await start()
  install(claude, 'block')
  await vi.waitFor(
    async () => {
      await machine.daemon.tick()
      expect(org.reports.at(-1)!.hooks).toContainEqual(
        expect.objectContaining({ client: 'claude-code', version: '2.1.332', level: 'user-hook', off: [] }),
      )
    },
    { timeout: 20_000 },
  )
  program('claude', '2.1.200 ')
  await vi.waitFor(
    async () => {
      await machine.daemon.tick()
      expect(changes().at(-1)).toEqual(['claude-code', 'user-hook', 'user-hook', 'client_too_old'])
    },
    { timeout: 20_000 },
  )
})

test('what was changed while no daemon ran is noticed at its start', async () => {
  await start()
  install(claude)
  await machine.daemon.tick()
  await machine.daemon.stop()
  claude.hooks.uninstall(developer, { dryRun: false })
  await start()
  expect(changes().at(-1)).toEqual(['claude-code', 'user-hook', 'not-installed'])
})

test('a running daemon tells the organisation by itself, well within a minute', async () => {
  await start(true)
  install(claude)
  const isTold = (level: string) =>
    vi.waitFor(
      () => expect(org.reports.at(-1)!.hooks).toContainEqual(expect.objectContaining({ client: 'claude-code', level })),
      { timeout: 50_000, interval: 100 },
    )
  await isTold('user-hook')
  edit(claude, settings => {
    settings.disableAllHooks = true
  })
  await isTold('broken')
}, 120_000)
