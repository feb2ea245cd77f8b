import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterEach(() => machine.remove())

it('Cursor’s hooks are installed and heard; that they were not tried, and that nothing is found afterwards, is said', async () => {
  const ran = await machine.run(['hooks', 'install', '--client', 'cursor'])
  expect(ran.code, ran.stdout + ran.stderr).toBe(0)
  expect(ran.stdout).toMatch(/Proved:.* an event through the installed command hook reached the daemon/)
  expect(ran.stdout).toContain('Not tried against the real client: built from its documents.')
  expect(existsSync(join(machine.folder, '.cursor/hooks.json'))).toBe(true)
  const told = await machine.run(['hooks', 'status', '--client', 'cursor'])
  expect(told.stdout).toContain('While Holdpoint is broken calls run.')
  expect(told.stdout).not.toMatch(/counted as not judged|found afterwards/)
})
