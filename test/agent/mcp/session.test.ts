import { Readable, Writable } from 'node:stream'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { McpSession, RPC, VERSIONS } from '#agent/mcp/session.ts'
import { serveLines } from '#agent/mcp/stdio.ts'
import { TOOLS } from '#agent/mcp/tools.ts'
import { Machine } from '../daemon/world.ts'

let asked: [string, string, unknown][]
let session: McpSession
beforeEach(() => {
  asked = []
  session = new McpSession(async (...question) => {
    asked.push(question as [string, string, unknown])
    return { boundaries: [], waiting: [] }
  }, '1.0.0')
})
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many forms
const say = async (message: unknown, to = session): Promise<any> =>
  to.answer(typeof message === 'string' ? message : JSON.stringify(message))
const ask = (method: string, params?: unknown, to = session) => say({ jsonrpc: '2.0', id: 1, method, params }, to)
const open = (to = session, protocolVersion = '2025-06-18') =>
  ask('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '1' } }, to)

test('it agrees on a version of the protocol: the one asked for where it knows it, else its newest', async () => {
  for (const version of VERSIONS) expect((await open(session, version)).result.protocolVersion).toBe(version)
  expect((await open(session, '2099-01-01')).result).toMatchObject({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'holdpoint', version: '1.0.0' },
  })
})

test.each<[string, unknown, number | undefined]>([
  ['no JSON', '{', RPC.parse],
  ['a batch', [], RPC.invalid],
  ['null', null, RPC.invalid],
  ['another protocol', { jsonrpc: '1.0', id: 1, method: 'ping' }, RPC.invalid],
  ['no method', { jsonrpc: '2.0', id: 1 }, RPC.invalid],
  ['an id that is none', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, RPC.invalid],
  ['a null id', { jsonrpc: '2.0', id: null, method: 'ping' }, RPC.invalid],
  ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, RPC.invalid],
  ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'resources/list' }, RPC.noMethod],
  ['a tool that is none', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }, RPC.params],
  ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }, undefined],
  ['an answer', { jsonrpc: '2.0', id: 9, result: {} }, undefined],
])('%s is answered as the specification says', async (_, message, code) => {
  await open()
  expect((await say(message))?.error?.code).toBe(code)
})

test('before it is initialized only a ping is answered', async () => {
  expect((await ask('ping')).result).toEqual({})
  expect((await ask('tools/list')).error.code).toBe(RPC.invalid)
  expect((await ask('tools/call', { name: 'holdpoint_glance' })).error.code).toBe(RPC.invalid)
  expect(asked).toEqual([])
})

test('a tool takes its own arguments and no others', async () => {
  await open()
  const call = (name: string, given: unknown) => ask('tools/call', { name, arguments: given })
  for (const given of [{ client: 'x' }, { other: 1 }, { client: 1 }, [], 'x', { __proto__x: '' }])
    expect((await call('holdpoint_glance', given)).error.code, JSON.stringify(given)).toBe(RPC.params)
  for (const given of [undefined, {}, { id: 'bnd-1/../../stop' }, { id: 'bnd-0123456789ab', scope: 'session' }])
    expect((await call('holdpoint_deny', given)).error.code, JSON.stringify(given)).toBe(RPC.params)
  expect(asked).toEqual([])
  expect((await call('holdpoint_glance', { client: 'codex' })).result.isError).toBe(false)
})

test('a daemon that is away is told to the model in words, and the session lives on', async () => {
  session = new McpSession(() => Promise.reject(new Error('The daemon is not running.')), '1')
  await open()
  const { result } = await ask('tools/call', { name: 'holdpoint_waiting' })
  expect(result).toEqual({ content: [{ type: 'text', text: 'The daemon is not running.' }], isError: true })
  expect((await ask('ping')).result).toEqual({})
})

test('whatever is written, each line has one answer at most, and only known paths are asked for', async () => {
  await open()
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async line => {
      const answer = await say(line)
      if (answer) expect(answer.jsonrpc).toBe('2.0')
    }),
    { numRuns: 300 },
  )
  expect(asked).toEqual([])
})

test('no tool, whatever it is given, lets a held action go on; a no is recorded as said over MCP', async () => {
  const machine = new Machine()
  machine.config(
    'boundaries: [{ name: cost, action: continue, when: { session_cost_usd: ">= 20" }, require: ask, stage: enforce }]',
  )
  await machine.start()
  machine.spend(21)
  await machine.hook({ tool_use_id: 'toolu_1' })
  const waiting = async () => (await machine.ask('GET', '/api/waiting', { token: 'api' })).json
  const id = (await waiting())[0].handle as string
  const real = new McpSession(async (method, path, body) => {
    const reply = await machine.ask(method, path, {
      token: 'api',
      ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
    })
    if (reply.status !== 200) throw new Error(reply.body)
    return reply.json
  }, '1')
  await open(real)
  const { tools } = (await ask('tools/list', undefined, real)).result
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(TOOLS.map(({ name }) => name))
  const extras = [
    {},
    { approve: 'true' },
    { decision: 'approve' },
    { scope: 'session' },
    { how: 'cli' },
    { how: 'prompt' },
  ]
  for (const { name } of [...tools, { name: 'holdpoint_approve' }, { name: 'approve' }])
    for (const extra of extras)
      for (const given of [extra, { id, ...extra }]) {
        if (name === 'holdpoint_deny' && Object.keys(given).join() === 'id') continue
        await ask('tools/call', { name, arguments: given }, real)
      }
  for (const method of ['approve', 'tools/approve', 'holdpoint_approve', 'completion/complete'])
    expect((await ask(method, { id }, real)).error.code).toBe(RPC.noMethod)
  expect(await waiting()).toMatchObject([{ handle: id }])
  const denied = await ask('tools/call', { name: 'holdpoint_deny', arguments: { id } }, real)
  expect(denied.result).toMatchObject({ isError: false, structuredContent: { handle: id, state: 'denied' } })
  expect(machine.entries('denied_here')).toMatchObject([{ handle: id, how: 'mcp' }])
  expect(machine.entries('local_answer')).toEqual([])
  expect([...machine.daemon.runtime.state.grants]).toEqual([])
  expect((await machine.hook({ tool_use_id: 'toolu_2' })).body).toContain('denied on this machine')
})

test('lines may come in any pieces; one that is too long is refused and the next one read', async () => {
  const out: string[] = []
  const output = new Writable({ write: (chunk, _, done) => done(out.push(String(chunk)) > 0 ? null : undefined) })
  const ping = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`
  const long = `"${'x'.repeat(1024 * 1024)}"\n`
  const text = `\n${ping(1)}${long}${ping(2)}{"jsonrpc":"2.0","id":3,"method":"ping"}`
  const pieces = text.match(/[\s\S]{1,70000}/g)!.flatMap(piece => [piece.slice(0, 5), piece.slice(5)])
  await serveLines(session, Readable.from(pieces), output)
  const answers = out.map(line => JSON.parse(line))
  expect(answers.map(({ id }) => id)).toEqual([1, null, 2])
})
