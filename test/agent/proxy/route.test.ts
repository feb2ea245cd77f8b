import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { askLoopback } from '#agent/hook/loopback.ts'
import { socketPlace } from '#agent/hook/socket-place.ts'
import { modelTier } from '#core/model-tier.ts'
import { Organisation } from '../daemon/organisation.ts'
import { Machine, onCleanup, SESSION, until } from '../daemon/world.ts'
import { PATHS, ProxyWorld, STREAMS } from './world.ts'

const FROM = 'claude-opus-4-1'
const TO = 'claude-opus-4-6'
const ROUTES = `  rules: [{ name: cheaper, from: "claude-opus-4-1*", to: ${TO} }]\n`
const rule = (require: string, stage = 'enforce', when = '{ model_tier: ">= opus" }') =>
  `boundaries:\n  - { name: no-opus-routes, action: model_route, when: ${when}, require: ${require}, stage: ${stage} }\n`

/** A machine with a daemon and a proxy before a scripted upstream. */
async function routed(boundaries: string, { mode = 'active', routes = ROUTES, stop = false, askMs = 20_000 } = {}) {
  const machine = new Machine()
  const world = new ProxyWorld(machine.home)
  world.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(STREAMS.messages)
  }
  await machine.start()
  await world.start(`  mode: ${mode}\n${stop ? '  hard_stop: true\n' : ''}${routes}`, boundaries, askMs)
  const send = async (model = FROM, headers: Record<string, string> = {}) => {
    const body = `{ "max_tokens" : 1,\n "model":  "${model}" , "messages":[{"role":"user","content":"\\u0022model\\u0022: é"}]}`
    const { status, body: answer } = await world.ask(PATHS.messages, {
      body,
      headers: {
        'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)',
        'x-claude-code-session-id': SESSION,
        ...headers,
      },
    })
    const got = world.arrived.at(-1)?.body.toString() ?? ''
    return { status, body, got, model: /"model":\s+"([^"]*)"/.exec(got)?.[1], answer: answer.toString() }
  }
  const decisions = () => machine.entries('decision')
  const waiting = async () => (await machine.ask('GET', '/api/waiting', { token: 'api' })).json
  return { machine, world, send, decisions, waiting }
}

test('the tier of the model that these tests move to is what the rule holds', () => {
  expect(modelTier(TO)).toBe('opus')
})

test('a route that no rule holds changes the model in its place and no other byte', async () => {
  const { send, world } = await routed('')
  const { body, got } = await send(`${FROM}-20250805`)
  expect(got).toBe(body.replace(`${FROM}-20250805`, TO))
  // another model is not moved, and neither is a dearer one
  expect((await send('claude-haiku-5-5')).model).toBe('claude-haiku-5-5')
  expect(world.proxy.counts().routes).toMatchObject([{ rule: 'cheaper', did: 'routed', times: 1 }])
})

test('observe tells what would be moved, moves nothing and asks nobody', async () => {
  const { send, world, decisions } = await routed(rule('ask'), { mode: 'observe' })
  const { body, got } = await send()
  expect(got).toBe(body)
  expect(world.proxy.counts()).toMatchObject({ unanswered: 0, routes: [{ did: 'observed', from: FROM, to: TO }] })
  expect(decisions()).toEqual([])
})

test('never upward: a rule to a dearer model moves nothing, and status says so', async () => {
  const routes = `  rules: [{ name: dearer, from: ${TO}, to: ${FROM} }]\n`
  const { send, world } = await routed('', { routes })
  expect((await send(TO)).model).toBe(TO)
  expect(world.proxy.counts().routes).toMatchObject([{ rule: 'dearer', did: 'upward' }])
})

test.each([
  ['a body that is no JSON', `{"model":"${FROM}"`],
  ['a model that stands twice', `{"model":"${FROM}","model":"${FROM}"}`],
  ['the model in a list', `[{"model":"${FROM}"}]`],
  ['a model that is no text', '{"model":1}'],
  ['a model further in', `{"a":{"model":"${FROM}"}}`],
  ['broken text within', `{"model":"${FROM}","a":"\\x"}`],
])('%s goes on as it came', async (_, body) => {
  const { world } = await routed('')
  await world.ask(PATHS.messages, { body })
  expect(world.arrived[0]!.body.toString()).toBe(body)
})

test('a held route leaves the request on its own model, and one question waits however many come', async () => {
  const { send, decisions, waiting } = await routed(rule('ask'))
  for (let i = 0; i < 3; i++) expect(await send()).toMatchObject({ status: 200, model: FROM })
  expect(decisions()).toMatchObject([
    {
      action: 'model_route',
      did: 'refused',
      answeredBy: 'machine',
      session: SESSION,
      subject: { kind: 'route', provider: 'anthropic', from: FROM, to: TO },
      figures: [{ name: 'model_tier', value: 'opus' }],
    },
  ])
  expect(await waiting()).toMatchObject([{ action: 'model_route', state: 'waiting here' }])
})

test('approved once, one request is moved; for a day, every one; another route is asked about on its own', async () => {
  const { machine, send, decisions, world } = await routed(rule('ask'))
  const { record } = await import('#agent/daemon/runtime.ts')
  const approve = (scope: 'step' | 'session') => {
    const { handle } = decisions().at(-1)!
    record(machine.daemon.runtime, { kind: 'local_answer', handle, scope, how: 'cli' })
  }
  await send()
  approve('step')
  expect((await send()).model).toBe(TO)
  expect((await send()).model).toBe(FROM)
  expect(machine.entries('spend')).toHaveLength(1)
  approve('session')
  for (let i = 0; i < 3; i++) expect((await send(FROM, { 'x-claude-code-session-id': 'another' })).model).toBe(TO)
  expect((await send('claude-opus-4-1-20250805')).model).toBe('claude-opus-4-1-20250805')
  expect(decisions().map(({ did }) => did)).toEqual(['refused', 'released', 'refused', 'released', 'refused'])
  machine.offset = 24 * 3600_000 + 1
  expect((await send()).model).toBe(FROM)
  expect(world.proxy.counts().unanswered).toBe(0)
})

test('of five requests at once one step lets one be moved, and an answer that would come too late is not spent', async () => {
  const { machine, send, decisions } = await routed(rule('ask'))
  const { record } = await import('#agent/daemon/runtime.ts')
  await send()
  const approve = () =>
    record(machine.daemon.runtime, {
      kind: 'local_answer',
      handle: decisions().find(({ did }) => did === 'refused')!.handle,
      scope: 'step',
      how: 'cli',
    })
  approve()
  const sent = Date.now() - 200
  const late = await askLoopback({
    socket: socketPlace(machine.home.root)!.path,
    method: 'POST',
    path: '/proxy/judge',
    headers: { 'x-holdpoint-sent': String(sent) },
    body: JSON.stringify({ client: 'claude-code', waitMs: 150, route: { provider: 'anthropic', from: FROM, to: TO } }),
    timeoutMs: 5000,
  })
  expect(JSON.parse(late.body)).toEqual({ route: 'hold' })
  expect(machine.entries('spend')).toEqual([])
  const answers = await Promise.all(Array.from({ length: 5 }, () => send()))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(machine.entries('spend')).toHaveLength(1)
  expect(decisions().filter(({ did }) => did === 'released')).toHaveLength(1)
})

test('denied here it stays held and asks nobody; a rule that denies asks nobody at all', async () => {
  const { machine, send, decisions, waiting } = await routed(rule('ask'))
  await send()
  await machine.ask('POST', `/api/decisions/${decisions()[0]!.handle}/deny`, { token: 'api', body: '{}' })
  for (let i = 0; i < 3; i++) expect((await send()).model).toBe(FROM)
  expect(await waiting()).toEqual([])
  expect(decisions()).toHaveLength(1)

  const denied = await routed(rule('deny'))
  for (let i = 0; i < 3; i++) expect((await denied.send()).model).toBe(FROM)
  expect(denied.decisions()).toMatchObject([{ outcome: 'deny', answeredBy: 'nobody' }])
  expect(await denied.waiting()).toEqual([])
})

test('a rule in shadow holds nothing and is recorded once a session', async () => {
  const { send, decisions } = await routed(rule('deny', 'shadow'))
  for (const session of ['one', 'one', 'two'])
    expect((await send(FROM, { 'x-claude-code-session-id': session })).model).toBe(TO)
  expect(decisions().map(({ stage, session }) => [stage, session])).toEqual([
    ['shadow', 'one'],
    ['shadow', 'two'],
  ])
})

test('with no daemon, or one that is too slow, the request goes on unrouted and does not wait for it', async () => {
  const { machine, send, world } = await routed('', { askMs: 150 })
  await machine.daemon.stop()
  expect(await send()).toMatchObject({ status: 200, model: FROM })
  expect(world.proxy.counts().unanswered).toBe(1)
  const place = socketPlace(machine.home.root)!
  const mute = createServer(() => {})
  await new Promise<void>(resolve => mute.listen(place.path, resolve))
  onCleanup(() => void mute.close())
  expect(await send()).toMatchObject({ status: 200, model: FROM })
  expect(world.proxy.counts().unanswered).toBe(2)
})

test('what is left of the plan, as the answers told it, decides about a route that names it', async () => {
  const routes = `  rules: [{ name: saving, from: ${FROM}, to: ${TO}, when: { plan_left_pct: "< 20", window: week } }]\n`
  const { send, world, machine } = await routed('', { routes })
  const resets = Math.floor(Date.now() / 1000) + 3600
  let used = '0.5'
  world.answer = (_, response) => {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'anthropic-ratelimit-unified-7d-utilization': used,
      'anthropic-ratelimit-unified-7d-reset': String(resets),
    })
    response.end(STREAMS.messages)
  }
  expect((await send()).model).toBe(FROM)
  expect((await send()).model).toBe(FROM)
  used = '0.85'
  expect((await send()).model).toBe(FROM)
  expect((await send()).model).toBe(TO)
  await until(() => machine.daemon.runtime.planWindows.all().some(({ left }) => left === 15_000_000))
})

test('subagents alone, where a route says so', async () => {
  const { send } = await routed('', {
    routes: `  rules: [{ name: sub, from: ${FROM}, to: ${TO}, when: { subagent: true } }]\n`,
  })
  expect((await send()).model).toBe(FROM)
  expect((await send(FROM, { 'x-claude-code-agent-id': 'a1' })).model).toBe(TO)
})

describe('an organisation’s rule', () => {
  test('asks its approvers about the route; their answer lets it through, and only known models are named', async () => {
    const organisation = new Organisation()
    await organisation.listen()
    onCleanup(() => organisation.close())
    const machine = new Machine()
    machine.join(organisation)
    organisation.publish(rule('approver:lead'))
    const world = new ProxyWorld(machine.home)
    await machine.start()
    await machine.daemon.sync()
    await world.start(`  mode: active\n${ROUTES}`)
    const send = async (model: string) => {
      const headers = { 'user-agent': 'codex_exec/0.171.0', 'session-id': 's1' }
      await world.ask(PATHS.responses, { body: JSON.stringify({ model }), headers })
      return (JSON.parse(world.arrived.at(-1)!.body.toString()) as { model: string }).model
    }
    expect(await send(FROM)).toBe(FROM)
    await machine.daemon.sync()
    expect(organisation.requests).toMatchObject([
      { action: 'model_route', client: 'codex', subject: { kind: 'route', provider: 'openai', from: FROM, to: TO } },
    ])
    expect(await send(FROM)).toBe(FROM)
    await machine.daemon.sync()
    expect(organisation.requests).toHaveLength(1)
    organisation.answer(organisation.requests[0]!, { scope: 'session' })
    await machine.daemon.sync()
    expect(await send(FROM)).toBe(TO)
    expect(machine.entries('decision').at(-1)).toMatchObject({ did: 'released', answeredBy: 'organisation' })
  })
})

describe('a hard stop', () => {
  const spent =
    'boundaries:\n  - { name: session-spend, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }\n'

  test('answers 402 in the form of the protocol, chains one decision, and ends when a person lets it go on', async () => {
    const { machine, world, send, decisions } = await routed(spent, { stop: true, routes: '' })
    await machine.hook({}, { 'x-holdpoint-attended': '0' })
    expect((await send()).status).toBe(200)
    machine.spend(21)
    const before = decisions().length
    for (let i = 0; i < 3; i++) {
      const refused = await send()
      expect(refused.status).toBe(402)
      expect(JSON.parse(refused.answer)).toMatchObject({
        type: 'error',
        error: { message: expect.stringMatching(/session-spend.*holdpoint approve bnd-/) },
      })
    }
    expect(decisions()).toHaveLength(before + 1)
    const { record } = await import('#agent/daemon/runtime.ts')
    const { handle } = decisions().at(-1)!
    record(machine.daemon.runtime, { kind: 'local_answer', handle, scope: 'session', how: 'cli' })
    expect((await send()).status).toBe(200)
    expect(world.proxy.counts().stopped).toBe(3)
  })

  test('what would be asked at the keyboard goes on: it is asked at the next tool call', async () => {
    const { machine, send } = await routed(spent, { stop: true, routes: '' })
    await machine.hook({ hook_event_name: 'SessionStart', source: 'startup' }, { 'x-holdpoint-attended': '1' })
    machine.spend(21)
    expect((await send()).status).toBe(200)
  })

  test('by the organisation’s rule files one request, says where it is answered, and goes on once it is', async () => {
    const organisation = new Organisation()
    await organisation.listen()
    onCleanup(() => organisation.close())
    const machine = new Machine()
    machine.join(organisation)
    organisation.publish(
      spent.replace('require: ask', 'require: "approver:lead"').replace('session-spend', 'org-spend'),
    )
    const world = new ProxyWorld(machine.home)
    await machine.start()
    await machine.daemon.sync()
    await world.start('  hard_stop: true\n')
    await machine.hook()
    machine.spend(21)
    const headers = { 'user-agent': 'claude-cli/2.1.332', 'x-claude-code-session-id': SESSION }
    const send = () => world.ask(PATHS.messages, { body: '{"model":"m"}', headers })
    for (let i = 0; i < 2; i++) {
      const { status, body } = await send()
      expect(status).toBe(402)
      expect(body.toString()).toMatch(/org-spend.*approvals\/bnd-/)
      await machine.daemon.sync()
    }
    expect(organisation.requests).toMatchObject([{ action: 'continue', subject: { kind: 'session' } }])
    organisation.answer(organisation.requests[0]!)
    await machine.daemon.sync()
    // a step is the next tool call's: requests to the model go on until it has used it
    for (let i = 0; i < 2; i++) expect((await send()).status).toBe(200)
    await machine.hook({ tool_use_id: 'toolu_9' })
    expect((await send()).status).toBe(402)
  })

  test('by a budget stops any program whose calls the proxy has counted', async () => {
    const budgets =
      'budgets:\n  - { name: tiny, amount: "0.001", window: daily }\nboundaries:\n  - { name: floor, action: spend, when: { budget_used_pct: ">= 100", budget: tiny }, require: deny, stage: enforce }\n'
    const { machine, world } = await routed(budgets, { stop: true, routes: '' })
    const send = () => world.ask(PATHS.messages, { body: '{"model":"m"}', headers: { 'user-agent': 'python-httpx/1' } })
    expect((await send()).status).toBe(200)
    await until(() => world.left().length === 1)
    await machine.daemon.tick()
    const { status, body } = await send()
    expect(status).toBe(402)
    expect(body.toString()).toContain('floor')
  })

  test('is off unless it is switched on', async () => {
    const { machine, send } = await routed(spent, { routes: '' })
    await machine.hook()
    machine.spend(21)
    expect((await send()).status).toBe(200)
  })
})

test('status says what a rule about routes comes to here: no routes, no proxy, observed only, or obeyed', async () => {
  const { machine, world } = await routed(rule('ask'), { routes: '' })
  const notes = async () =>
    (await machine.ask('GET', '/api/status', { token: 'api' })).json.rules[0] as {
      notes: string[]
      levels: { level: string }[]
    }
  expect((await notes()).notes).toContain('no routing is configured')
  expect((await notes()).levels.map(({ level }) => level)).toContain('idle')
  world.configure(`  mode: observe\n${ROUTES}`, rule('ask'))
  expect((await notes()).notes.join()).toContain('only observe')
  world.configure(`  mode: active\n${ROUTES}`, rule('ask'))
  expect(await notes()).toMatchObject({ notes: [expect.stringContaining(`port ${world.proxy.port}`)], levels: [] })
  await world.proxy.stop(0)
  expect((await notes()).notes.join()).toContain('not running')
})
