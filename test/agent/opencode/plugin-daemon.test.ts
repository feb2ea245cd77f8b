/** The built module and a real daemon, without opencode. */
import { chmodSync, mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { Machine } from '../daemon/world.ts'
import { type Hooks, PluginPlace } from './installed-plugin.ts'

let machine: Machine
let place: PluginPlace
beforeEach(() => {
  machine = new Machine()
  place = new PluginPlace(machine.home.root)
})
afterEach(() => place.remove())

const NO_BASH =
  'boundaries:\n  - { name: not-here, action: continue, when: { agent_id: "== opencode:*" }, require: deny, stage: enforce }\n'
const load = async (whenBroken: 'pass' | 'block' = 'pass') =>
  (await place.load(whenBroken)).server({ directory: machine.cwd })
const call = async (hooks: Hooks, sessionID: string, callID: string) => {
  try {
    await hooks['tool.execute.before']({ tool: 'bash', sessionID, callID }, { args: { command: 'secret-command' } })
    return 'runs'
  } catch (error) {
    return (error as Error).message
  }
}

test('a call runs or is refused as the rules say, a subagent’s as its session’s, and nothing of it is kept but names', async () => {
  await machine.start()
  const hooks = await load()
  expect(await call(hooks, 'ses_a', 'call_0')).toBe('runs')
  machine.config(NO_BASH)
  await machine.daemon.tick()
  await hooks.event({
    event: { type: 'session.created', properties: { info: { id: 'ses_b', parentID: 'ses_a', agent: 'general' } } },
  })
  const refusals = await Promise.all([call(hooks, 'ses_a', 'call_1'), call(hooks, 'ses_b', 'call_2')])
  for (const words of refusals) expect(words).toMatch(/^Stopped by the boundary not-here .*Do not retry/)
  expect(machine.entries('decision')).toMatchObject([
    { client: 'opencode', session: 'ses_a', toolUse: 'call_1', did: 'refused' },
    { client: 'opencode', session: 'ses_a', toolUse: 'call_2', did: 'refused' },
  ])
  expect(JSON.stringify(machine.journal())).not.toContain('secret-command')
  await hooks.dispose()
  expect(machine.entries('session_end')).toMatchObject([{ client: 'opencode', session: 'ses_a', reason: 'exit' }])
})

test('what the daemon cannot read is chained as a failure: the call runs, or is refused where that was chosen', async () => {
  await machine.start()
  expect(await call(await load(), 'not/an/id', 'call_1')).toBe('runs')
  expect(await call(await load('block'), 'not/an/id', 'call_1')).toContain('could not be read (bad_id)')
  expect(machine.entries('failure')).toMatchObject([
    { what: 'unreadable_input', client: 'opencode', field: 'session_id' },
  ])
})

test('a call that went by a daemon too odd to hear it is chained by the next one', async () => {
  const hooks = await load()
  await machine.start()
  const { home } = machine
  await machine.daemon.stop()
  // a folder that others may open
  const { folder } = socketPlace(home.root)!
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  expect(await call(hooks, 'ses_a', 'call_1')).toBe('runs')
  chmodSync(folder, 0o700)
  await machine.start()
  expect(machine.entries('failure')).toMatchObject([{ client: 'opencode', session: 'ses_a', toolUse: 'call_1' }])
})
