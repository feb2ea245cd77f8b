import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { statusLineProgram } from '#agent/hook-programs.ts'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
let file: string
beforeEach(async () => {
  machine = new CommandMachine()
  await machine.install()
  mkdirSync(join(machine.folder, '.claude'))
  file = join(machine.folder, '.claude', 'settings.json')
})
afterEach(() => machine.remove())

it('statusline install shows the change, writes nothing on a dry run and nothing more the second time', async () => {
  writeFileSync(file, '{ "statusLine": { "type": "command", "command": "echo theirs" } }')
  const before = readFileSync(file, 'utf8')
  expect(await machine.run(['statusline', 'status', '--json'])).toMatchObject({
    code: 4,
    json: { installed: false, other: 'echo theirs' },
  })
  const dry = await machine.run(['statusline', 'install', '--dry-run'])
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/put our status line around(.|\n)*statusline\.cjs/)])
  expect(readFileSync(file, 'utf8')).toBe(before)
  // a program that was taken away comes back with it
  rmSync(statusLineProgram(machine.home))
  expect((await machine.run(['statusline', 'install'])).code).toBe(0)
  expect(existsSync(statusLineProgram(machine.home))).toBe(true)
  expect(await machine.run(['statusline', 'install', '--json'])).toMatchObject({ code: 0, json: { changes: [] } })
  const told = await machine.run(['statusline', 'status'])
  expect([told.code, told.stdout]).toEqual([
    0,
    expect.stringMatching(/around `echo theirs`(.|\n)*daemon is not running/),
  ])
  expect((await machine.run(['statusline', 'uninstall', '--dry-run'])).code).toBe(0)
  expect(await machine.type(['statusline', 'uninstall'], 'something else\n')).toMatchObject({ code: 1 })
  expect(readFileSync(file, 'utf8')).not.toBe(before)
  expect(await machine.type(['statusline', 'uninstall'], 'uninstall\n')).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe(before)
})

it('statusline install refuses settings that it cannot read, with the place, and leaves them as they are', async () => {
  writeFileSync(file, '{ "model": "opus",\n  "statusLine" }')
  const ran = await machine.run(['statusline', 'install', '--json'])
  expect(ran.code).toBe(1)
  expect(ran.json.error).toMatchObject({ code: 'unparsable', message: expect.stringMatching(/line 2, column \d+/) })
  expect(readFileSync(file, 'utf8')).toBe('{ "model": "opus",\n  "statusLine" }')
})
