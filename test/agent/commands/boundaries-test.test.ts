import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CommandMachine } from './machine.ts'

let machine: CommandMachine
beforeAll(async () => {
  machine = new CommandMachine()
  await machine.install()
})
afterAll(() => machine.remove())

const RULE = `boundaries:
  - name: session-spend
    action: continue
    when: { session_cost_usd: ">= 20" }
    require: ask
`
const HOLDS = `  - { name: at twenty, action: continue, figures: { session_cost_usd: 20 }, expect: ask }
`

it('without a file of rules says where one would stand', async () => {
  const ran = await machine.run(['boundaries', 'test'])
  expect(ran.code).toBe(4)
  expect(ran.stderr).toContain(machine.home.config)
})

it('runs the cases of config.yaml, and what it proposes can be pasted below them until nothing is missing', async () => {
  writeFileSync(machine.home.config, `${RULE}tests:\n${HOLDS}`)
  const ran = await machine.run(['boundaries', 'test'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^ok +at twenty +ask \(by session-spend\)$/m)
  expect(ran.stdout).toContain('1 case, none fails')
  const missing = await machine.run(['boundaries', 'test', '--missing'])
  expect(parse(`tests:\n${missing.stdout}`).tests).toMatchObject([
    { rule: 'session-spend', figures: { session_cost_usd: '19.99' }, expect: 'pass' },
  ])
  writeFileSync(machine.home.config, `${RULE}tests:\n${HOLDS}${missing.stdout}`)
  const { json } = await machine.run(['boundaries', 'test', '--json'])
  expect(json).toMatchObject({ scope: 'local', rules: 1, failed: 0, missing: [] })
  expect(json.cases).toHaveLength(2)
})

it('ends with 1 when a case fails, and says what the rules say instead', async () => {
  writeFileSync(machine.home.config, `${RULE}tests:\n${HOLDS.replace('expect: ask', 'expect: pass')}`)
  const ran = await machine.run(['boundaries', 'test'])
  expect(ran.code).toBe(1)
  expect(ran.stdout).toContain('expects pass, the rules say ask (by session-spend)')
  expect(ran.stdout).toContain('1 case, 1 failed')
})

it('runs nothing of a text with a mistake, and tells its place', async () => {
  writeFileSync(machine.home.config, `${RULE}tests:\n${HOLDS.replace('continue', 'contine')}`)
  const ran = await machine.run(['boundaries', 'test', '--json'])
  expect(ran.code).toBe(1)
  expect(ran.json.error).toMatchObject({ code: 'mistakes', message: expect.stringContaining('line 7, column') })
})

it('tests an organisation’s text with --organisation, from a file or standard input', async () => {
  const text = `${RULE.replace('require: ask', 'require: approver:lead')}tests:\n${HOLDS.replace('expect: ask', 'expect: approver:lead')}`
  const file = join(machine.folder, 'org.yaml')
  writeFileSync(file, text)
  expect((await machine.run(['boundaries', 'test', '--organisation', file, '--json'])).json).toMatchObject({
    scope: 'organisation',
    failed: 0,
  })
  expect((await machine.run(['boundaries', 'test', '--organisation', '-'], { input: text })).code).toBe(0)
  expect((await machine.run(['boundaries', 'test', '--organisation'])).code).toBe(2)
  expect((await machine.run(['boundaries', 'test', join(machine.folder, 'absent.yaml')])).code).toBe(1)
})
