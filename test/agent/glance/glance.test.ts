import { beforeEach, expect, test } from 'vitest'
import type { Glance } from '#agent/glance/glance.ts'
import { Machine, SESSION } from '../daemon/world.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})
const glance = async (query = ''): Promise<Glance> =>
  (await machine.ask('GET', `/api/glance${query}`, { token: 'api' })).json

const RULES = `boundaries:
  - { name: floor, action: continue, when: { plan_left_pct: "< 5", window: week }, require: deny, stage: enforce }
  - { name: cost, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }
`

test('one answer has what waits, what to stop for, the plans, and the live sessions with their cost', async () => {
  machine.config(RULES)
  await machine.start()
  machine.spend(21)
  await machine.hook({ tool_use_id: 'toolu_1' })
  machine.daemon.runtime.planWindows.note(
    {
      plan: 'openai',
      observedAt: machine.now(),
      windows: [{ window: 'week', usedPct: 97, resetsAt: machine.now() + 3600_000 }],
    },
    'daemon',
  )
  const now = await glance()
  expect(now.waiting).toMatchObject([{ rules: ['cost'], session: SESSION }])
  expect(now.boundaries).toMatchObject([
    { rule: 'floor', do: 'stop_and_tell', text: expect.stringContaining('Stop and tell') },
  ])
  expect(now.plans).toMatchObject([{ plan: 'openai', window: 'week', leftPct: '3', fresh: true }])
  expect(now.sessions).toMatchObject([{ client: 'claude-code', session: SESSION, costUsd: '21', attended: false }])
  expect(now.moreSessions).toBe(0)
  // the plan of another provider advises nobody who runs on this one
  expect((await glance('?client=claude-code')).boundaries).toEqual([])
  expect((await glance('?client=codex')).boundaries).toMatchObject([{ rule: 'floor' }])
})

test('it wants the token of the API, its own host and no browser, and refuses what it does not know', async () => {
  await machine.start()
  const status = async (options: object, path = '/api/glance') => (await machine.ask('GET', path, options)).status
  expect(await status({})).toBe(401)
  expect(await status({ token: 'hook' })).toBe(401)
  expect(await status({ token: 'api', headers: { host: 'localhost' } })).toBe(421)
  expect(await status({ token: 'api', headers: { origin: 'http://127.0.0.1' } })).toBe(403)
  expect(await status({ token: 'api' }, '/api/glance?client=nobody')).toBe(400)
  expect(await status({ token: 'api' }, '/api/glance?session=1')).toBe(400)
  expect(await status({ token: 'api' })).toBe(200)
})

test('a no says by which way it came, and no way is taken that is none', async () => {
  machine.config(RULES)
  await machine.start()
  machine.spend(21)
  await machine.hook({ tool_use_id: 'toolu_1' })
  const { handle } = (await glance()).waiting[0] as { handle: string }
  const deny = (body: string) => machine.ask('POST', `/api/decisions/${handle}/deny`, { token: 'api', body })
  expect((await deny('{"how":"web"}')).status).toBe(400)
  expect((await deny('{"how":"prompt"}')).status).toBe(400)
  expect((await deny('{"approve":true}')).status).toBe(400)
  expect(machine.entries('denied_here')).toEqual([])
  expect((await deny('{}')).status).toBe(200)
  expect(machine.entries('denied_here')).toMatchObject([{ handle, how: 'api' }])
})
