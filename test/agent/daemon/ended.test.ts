import { rmSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { Organisation, RULE } from './organisation.ts'
import { Machine, onCleanup, told } from './world.ts'

let org: Organisation
let machine: Machine

beforeEach(async () => {
  org = new Organisation()
  machine = new Machine()
  org.clock = machine.now
  await org.listen()
  onCleanup(() => org.close())
  machine.join(org)
  org.publish(RULE('approver:lead'))
  await machine.start()
  await machine.daemon.sync()
  machine.spend(20.1)
})

const call = async (toolUse: string, fields: Record<string, unknown> = {}) =>
  told(await machine.hook({ tool_use_id: toolUse, ...fields }))
const waiting = async () => (await machine.ask('GET', '/api/waiting', { token: 'api' })).json
const explain = async (handle: string) =>
  (await machine.ask('GET', `/api/decisions/${handle}`, { token: 'api' })).json.request

async function held(toolUse = 'toolu_0', fields: Record<string, unknown> = {}) {
  await call(toolUse, fields)
  await machine.daemon.sync()
  return org.requests.at(-1)!
}

/** What `holdpoint leave` does here. */
const leave = () => {
  for (const path of [machine.home.team, machine.home.roots, machine.home.ruleset, machine.home.pin]) rmSync(path)
}

describe.each([
  [
    'revoked',
    async () => {
      org.revoked = true
      await machine.daemon.sync().catch(() => {})
    },
  ],
  [
    'left',
    async () => {
      leave()
      await machine.daemon.tick()
    },
  ],
] as const)('a machine that was %s', (why, end) => {
  test('waits for nobody any more: what it had asked for has ended, on disk too', async () => {
    const { handle } = await held()
    expect(await waiting()).toHaveLength(1)
    await end()
    expect(await waiting()).toEqual([])
    expect((await explain(handle)).state).toBe('withdrawn')
    expect(machine.entries('state')).toMatchObject([{ handle, state: 'withdrawn', by: 'machine', why }])
    await machine.daemon.stop()
    await machine.start()
    expect(await waiting()).toEqual([])
    expect((await explain(handle)).state).toBe('withdrawn')
  })

  test('has no approval any more, and an answer that was used stays used', async () => {
    org.answer(await held())
    await machine.daemon.sync()
    expect((await call('toolu_1')).decision).toBe('pass')
    const used = org.requests[0]!.handle
    const session = '00000000-0000-4000-8000-000000000009'
    machine.spend(20.1, { session })
    const other = { session_id: session, transcript_path: machine.transcript(session) }
    const { handle } = org.answer(await held('toolu_8', other), { scope: 'session' })
    await machine.daemon.sync()
    expect((await call('toolu_9', other)).decision).toBe('pass')
    await end()
    expect((await explain(handle)).state).toBe('revoked')
    expect((await explain(used)).state).toBe('used')
    // rules hold while the machine is revoked, and are gone when it has left
    expect((await call('toolu_10', other)).decision).toBe(why === 'revoked' ? 'deny' : 'pass')
  })
})

describe('a revoked machine', () => {
  test('asks nobody: the agent is told why, and nothing is filed', async () => {
    org.revoked = true
    await machine.daemon.sync().catch(() => {})
    const { decision, reason } = await call('toolu_1')
    expect(decision).toBe('deny')
    expect(reason).toContain('this machine was revoked')
    expect(reason).toContain('ask an admin for a new line')
    expect(reason).toContain(`decision ${machine.entries('decision').at(-1)!.handle}`)
    expect(await waiting()).toEqual([])
    expect(machine.entries('request')).toEqual([])
  })

  test('stays told when the network fails afterwards, and ends when the control plane answers again', async () => {
    org.revoked = true
    await machine.daemon.sync().catch(() => {})
    org.goDown()
    await machine.daemon.sync().catch(() => {})
    expect((await call('toolu_1')).reason).toContain('this machine was revoked')
    Object.assign(org, { down: false, revoked: false })
    await machine.daemon.sync()
    expect((await call('toolu_2')).reason).toContain('A request is waiting')
  })
})

test('a proxy that wants a password in between revokes nothing', async () => {
  const { handle } = await held()
  org.serve.rules = () => ({ status: 401, body: '<html>Sign in to the network</html>' })
  await expect(machine.daemon.sync()).rejects.toThrow()
  expect(await waiting()).toMatchObject([{ handle }])
  expect((await call('toolu_1')).reason).toContain('A request is waiting')
})

test('a request is named with its page from the first refusal on, at the address that was joined', async () => {
  const { reason } = await call('toolu_0')
  const handle = machine.entries('request')[0]!.request.handle
  expect(reason).toContain(`at ${org.origin}/acme/approvals/${handle};`)
  await machine.daemon.sync()
  expect((await call('toolu_1')).reason).toContain(`at ${org.origin}/acme/approvals/${handle};`)
  org.answer(org.requests[0]!, { decision: 'deny' })
  await machine.daemon.sync()
  expect((await call('toolu_2')).reason).toMatch(
    new RegExp(`stands until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC;.* ${org.origin}/acme/approvals/${handle}$`),
  )
})

test('a request of which the control plane knows nothing yet is named with the page that it will have', async () => {
  org.goDown()
  await machine.daemon.sync().catch(() => {})
  const { reason } = await call('toolu_0')
  expect(reason).toContain('the control plane cannot be reached')
  expect(reason).toContain(`${org.origin}/acme/approvals/${machine.entries('request')[0]!.request.handle}`)
})
