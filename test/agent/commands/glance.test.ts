import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandMachine } from './machine.ts'
import { sendHook } from './send-hook.ts'

let machine: CommandMachine
beforeAll(async () => {
  machine = new CommandMachine()
  await machine.install()
  writeFileSync(
    machine.home.config,
    `boundaries:
  - { name: whoever, action: continue, when: { agent_id: "== claude-code:*" }, require: ask, stage: enforce }
  - { name: floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: ask, on_unknown: hold, stage: enforce }
budgets: [{ name: monthly, amount: 100, window: monthly }]
`,
  )
})
afterAll(() => machine.remove())

const lines = (...messages: [method: string, params?: object][]) =>
  messages.map(([method, params], id) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`).join('')
const OPEN = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
const serve = async (...messages: [method: string, params?: object][]) => {
  const ran = await machine.run(['mcp'], { input: lines(['initialize', OPEN], ...messages) })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return ran.stdout
    .trim()
    .split('\n')
    .slice(1)
    .map(line => JSON.parse(line).result)
}

it('without a daemon the server answers all the same, and says what is missing', async () => {
  const [told] = await serve(['tools/call', { name: 'holdpoint_glance' }])
  expect(told).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('holdpoint daemon start') }] })
  expect((await machine.run(['glance'])).code).toBe(4)
})

it('one screen has what waits, what to stop for, the plans and the sessions; an agent reads the same and can deny', async () => {
  expect((await machine.run(['daemon', 'start'])).code).toBe(0)
  await sendHook(machine)
  const { stdout, code } = await machine.run(['glance'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^Waiting on you\n {2}bnd-[0-9a-f]{12} +(floor, whoever|whoever, floor) +Claude Code +waiting here/m,
  )
  expect(stdout).toMatch(/^Stop for\n {2}floor: plan left \(week\) could not be read/m)
  expect(stdout).toMatch(/^Live sessions\n {2}Claude Code /m)
  expect(stdout.split('\n').length).toBeLessThan(24)
  const { json } = await machine.run(['glance', '--json', '--client', 'codex'])
  expect(json.boundaries).toMatchObject([{ rule: 'floor', do: 'stop_and_ask' }])
  const id = json.waiting[0].handle as string
  const [looked, denied] = await serve(
    ['tools/call', { name: 'holdpoint_glance' }],
    ['tools/call', { name: 'holdpoint_deny', arguments: { id } }],
  )
  expect(looked.structuredContent).toMatchObject({ waiting: [{ handle: id }] })
  expect(denied).toMatchObject({ isError: false, structuredContent: { handle: id, state: 'denied' } })
  expect((await machine.run(['explain', id])).stdout).toContain('It was denied on this machine over MCP')
  expect((await machine.run(['glance', '--client', 'nobody'])).code).toBe(2)
})
