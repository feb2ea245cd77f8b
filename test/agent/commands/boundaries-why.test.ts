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
  - { name: plan-floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: deny, stage: enforce }
  - { name: other, action: continue, when: { agent_id: "== codex:*" }, require: deny }
`,
  )
  expect((await machine.run(['daemon', 'start'])).code).toBe(0)
  expect(await sendHook(machine)).toContain('holdpoint approve')
})
afterAll(() => machine.remove())

const say = async (rule: string) => (await machine.run(['boundaries', 'why', rule])).stdout

it('says what holds a call, how it was read, and what lets it go on', async () => {
  const text = await say('whoever')
  expect(text).toContain('it holds the next call')
  expect(text).toMatch(/holds: agent is claude-code:\S+, the rule wants claude-code:\* \(from the session itself\)/)
  expect(text).toMatch(/`holdpoint approve bnd-[0-9a-f]{12}` lets it go on/)
  expect(text).toMatch(/^ {2}there: /m)
})

it('says which figure is unread and what that does, and which condition does not hold', async () => {
  expect(await say('plan-floor')).toContain('a figure is unread, and the rule says on_unknown: pass')
  expect(await say('plan-floor')).toContain(
    'unread: plan left (week), the rule wants less than 5% (nothing tells it here now)',
  )
  expect(await say('other')).toContain('it does not fire: a condition does not hold')
})

it('refuses a name that is none with the nearest, and a session that was never seen', async () => {
  const ran = await machine.run(['boundaries', 'why', 'whoeve'])
  expect(ran).toMatchObject({ code: 4, stderr: expect.stringContaining('Did you mean `whoever`?') })
  const none = await machine.run(['boundaries', 'why', 'whoever', '--session', 'nobody', '--json'])
  expect(none).toMatchObject({ code: 4, json: { error: { code: 'no_such_session' } } })
})
