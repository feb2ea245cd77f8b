import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { attended, Machine, onCleanup, SESSION, told } from './world.ts'

async function team(): Promise<{ org: Organisation; machine: Machine }> {
  const org = new Organisation()
  await org.listen()
  onCleanup(() => org.close())
  const machine = new Machine()
  machine.join(org)
  return { org, machine }
}

describe('a recorded tool call of the real client', () => {
  test('passes in silence while nothing is crossed, and leaves no decision', async () => {
    const machine = new Machine()
    machine.config(RULE('deny'))
    await machine.start()
    machine.spend(19.99)
    const reply = await machine.hook()
    expect(reply.status).toBe(200)
    expect(reply.body).toBe('')
    expect(machine.entries('decision')).toEqual([])
  })

  test('is refused by a local rule with what was crossed, and the decision is chained', async () => {
    const machine = new Machine()
    machine.config(RULE('deny'))
    await machine.start()
    machine.spend(20.1)
    const { decision, reason } = told(await machine.hook())
    expect(decision).toBe('deny')
    expect(reason).toContain('session-spend')
    expect(reason).toContain('$20.10')
    const [entry] = machine.entries('decision')
    expect(entry).toMatchObject({
      outcome: 'deny',
      did: 'refused',
      session: SESSION,
      toolUse: 'toolu_1',
      client: 'claude-code',
      action: 'continue',
    })
    expect(reason).toContain(entry!.handle)
  })

  test('is refused by a signed organisation rule, and a request is filed within moments', async () => {
    const { org, machine } = await team()
    org.publish(RULE('approver:lead'))
    await machine.start()
    await machine.daemon.sync()
    machine.spend(20.1)
    const { decision, reason } = told(await machine.hook({}, attended))
    expect(decision).toBe('deny')
    expect(reason).toContain('org:session-spend')
    await expect.poll(() => org.requests.length).toBe(1)
    expect(org.requests[0]).toMatchObject({
      action: 'continue',
      client: 'claude-code',
      rules: [{ name: 'session-spend' }],
      figures: [{ name: 'session_cost_usd', value: '20.1' }],
    })
    expect(readFileSync(machine.home.ruleset, 'utf8')).toBe(org.ruleset)
  })
})
