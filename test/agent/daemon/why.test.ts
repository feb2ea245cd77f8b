import { beforeEach, expect, test } from 'vitest'
import type { Why } from '#agent/daemon/why.ts'
import { Machine, SESSION, told } from './world.ts'

let machine: Machine
beforeEach(() => {
  machine = new Machine()
})
const why = async (rule: string, session?: string): Promise<Why> =>
  (await machine.ask('GET', `/api/why?rule=${rule}${session ? `&session=${session}` : ''}`, { token: 'api' })).json
const call = async (toolUse: string) => told(await machine.hook({ tool_use_id: toolUse }))

test('a rule is told as it stands for each session: the figure, the comparison, what waits, and what lifts it', async () => {
  machine.config(
    'boundaries: [{ name: cost, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }]',
  )
  await machine.start()
  machine.spend(19)
  await call('toolu_1')
  expect((await why('cost')).there).toMatchObject([
    {
      session: SESSION,
      state: 'does_not_fire',
      conditions: [
        { figure: 'session_cost_usd', op: '>=', threshold: '20', value: '19', holds: false, source: 'event' },
      ],
    },
  ])
  machine.spend(2)
  expect((await call('toolu_2')).decision).toBe('deny')
  const [fires] = (await why('cost')).there
  expect(fires).toMatchObject({ state: 'fires', conditions: [{ value: '21', holds: true }] })
  const waiting = (await machine.ask('GET', '/api/waiting', { token: 'api' })).json
  expect(fires!.waiting).toEqual([waiting[0].handle])
  expect((await why('cost', 'another-session')).there).toEqual([])
  expect((await machine.ask('GET', '/api/why?rule=none', { token: 'api' })).status).toBe(404)
  expect((await machine.ask('GET', '/api/why?rule=cost', { token: 'hook' })).status).toBe(401)
})

test('an unread figure leaves a rule undecided, and holds where the rule says so', async () => {
  const rule = 'action: continue, when: { plan_left_pct: "< 5", window: week }, require: deny, stage: enforce'
  machine.config(`boundaries: [{ name: a, ${rule} }, { name: b, ${rule}, on_unknown: hold }]`)
  await machine.start()
  const told = await call('toolu_1')
  expect(told.decision).toBe('deny')
  expect((await why('a')).there).toMatchObject([
    { state: 'undecided', conditions: [{ qualifier: 'week', value: 'unread', why: 'missing' }] },
  ])
  expect((await why('b')).there).toMatchObject([{ state: 'fires', conditions: [{ why: 'missing' }] }])
})

test('a share rule is told per destination, and a session’s model is what its subagents inherit', async () => {
  machine.config(
    `boundaries:
  - { name: up, action: share, when: { destination: "== team" }, require: ask }
  - { name: sub, action: subagent_model, when: { model_tier: "> sonnet" }, require: ask }`,
  )
  await machine.start()
  machine.spend(1)
  await call('toolu_1')
  expect((await why('up')).there).toMatchObject([
    { destination: 'team', state: 'fires' },
    { destination: 'otel', state: 'does_not_fire' },
  ])
  expect((await why('sub')).there[0]!.conditions[0]).toMatchObject({
    figure: 'model_tier',
    op: '>',
    threshold: 'sonnet',
  })
})

test('asking why records nothing', async () => {
  machine.config(
    'boundaries: [{ name: cost, action: continue, when: { session_cost_usd: ">= 1" }, require: deny, stage: enforce }]',
  )
  await machine.start()
  machine.spend(2)
  await call('toolu_1')
  const before = machine.journal().length
  await why('cost')
  expect(machine.journal()).toHaveLength(before)
})
