import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { proof } from '#agent/crypto.ts'
import { askLoopback } from '#agent/hook/loopback.ts'
import { RULE } from './organisation.ts'
import { Machine, told } from './world.ts'

let machine: Machine
beforeEach(async () => {
  machine = new Machine()
  machine.config(RULE('deny', 0))
  await machine.start()
})
const hook = (
  headers: Record<string, string | undefined>,
  body: string | Buffer = JSON.stringify(machine.payload()),
  token: 'hook' | 'api' | undefined = 'hook',
) => machine.ask('POST', '/hook/claude-code', { token, headers, body })

describe('the loopback door refuses, before it reads anything,', () => {
  test.each([
    ['another name for this machine', { host: 'localhost:PORT' }, 421],
    ['another port', { host: '127.0.0.1:1' }, 421],
    ['a name that was rebound to loopback', { host: 'evil.example:PORT' }, 421],
    ['a page’s Origin', { origin: 'http://127.0.0.1:PORT' }, 403],
    ['an opaque Origin', { origin: 'null' }, 403],
    ['a browser’s fetch', { 'sec-fetch-mode': 'no-cors' }, 403],
    ['no token', { authorization: undefined }, 401],
    ['a wrong token', { authorization: `Bearer ${'x'.repeat(43)}` }, 401],
    ['a token in another scheme', { authorization: 'Basic eDp5' }, 401],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['no type', { 'content-type': undefined }, 415],
  ])('%s', async (_, headers, status) => {
    const filled = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value?.replace('PORT', String(machine.daemon.port))]),
    )
    const reply = await hook(filled)
    expect(reply.status).toBe(status)
    expect(machine.entries('decision')).toEqual([])
    expect(machine.entries('failure')).toEqual([])
  })

  test('more than 8 MiB, told by its length or not', async () => {
    const big = Buffer.alloc(8 * 1024 * 1024 + 1, 0x20)
    expect((await hook({}, big).catch(() => ({ status: 413 }))).status).toBe(413)
    const status = await new Promise<string>(resolve => {
      const socket = connect(machine.daemon.port, '127.0.0.1', () => {
        socket.write(
          `POST /hook/claude-code HTTP/1.1\r\nHost: 127.0.0.1:${machine.daemon.port}\r\nAuthorization: Bearer ${hookToken()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        )
        const chunk = Buffer.alloc(1024 * 1024, 0x20)
        for (let i = 0; i < 9; i++) {
          socket.write('100000\r\n')
          socket.write(chunk)
          socket.write('\r\n')
        }
      })
      socket.on('data', data => resolve(String(data).slice(9, 12)))
      socket.on('error', () => {})
    })
    expect(status).toBe('413')
  })

  test('the hook’s token at the API, and the API’s at the hook', async () => {
    expect((await machine.ask('GET', '/api/status', { token: 'hook' })).status).toBe(401)
    expect((await hook({}, undefined, 'api')).status).toBe(401)
    expect((await machine.ask('GET', '/api/status', { token: 'api' })).status).toBe(200)
  })

  test('unknown fields, ways and methods', async () => {
    const post = (path: string, body = '{}') => machine.ask('POST', path, { token: 'api', body })
    expect((await post('/api/sync', '{"force":true}')).status).toBe(400)
    expect((await post('/api/sync', '[]')).status).toBe(400)
    expect((await post('/api/decisions/bnd-0123456789ab/approve')).status).toBe(404)
    expect((await machine.ask('GET', '/api/stop', { token: 'api' })).status).toBe(405)
    expect((await post('/api/decisions/bnd-0123456789ab/deny')).status).toBe(404)
    expect((await machine.ask('POST', '/hook/unknown', { token: 'hook', body: '{}' })).status).toBe(404)
  })
})

test.each(['//[', 'http://[', '//'])(
  'a request for %s is refused as what it is, with one line in the log',
  async target => {
    const lines = () => readFileSync(machine.home.log, 'utf8').trim().split('\n').filter(Boolean)
    machine.daemon.runtime.log('before')
    const before = lines().length
    const reply = await machine.ask('GET', target)
    expect(reply.status).toBe(400)
    expect(lines().slice(before)).toEqual([expect.stringContaining(JSON.stringify(target))])
  },
)

const hookToken = () => JSON.parse(readFileSync(machine.home.tokens, 'utf8')).hookToken as string

test('it proves itself without a token, and only for a nonce', async () => {
  const n = 'ab'.repeat(16)
  const reply = await machine.ask('GET', `/prove?n=${n}`)
  expect(reply.body).toBe(proof(machine.daemon.runtime.secret, n))
  for (const bad of ['', 'abc', 'zz'.repeat(16), 'ab'.repeat(100)])
    expect((await machine.ask('GET', `/prove?n=${bad}`)).status).toBe(400)
})

test('the process that a client starts per event is understood', async () => {
  const body = JSON.stringify({ ...machine.payload(), hook_event_name: 'UserPromptSubmit', prompt: 'hello' })
  const answer = await askLoopback({
    port: machine.daemon.port,
    method: 'POST',
    path: '/hook/claude-code',
    headers: { Authorization: `Bearer ${hookToken()}` },
    body,
    timeoutMs: 1000,
  })
  expect(answer).toEqual({ status: 200, body: '' })
})

describe('hostile and unreadable hook input', () => {
  test.each([
    ['nothing', ''],
    ['half a document', '{"session_id": "a'],
    ['a list', '[]'],
    ['null', 'null'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
    ['no session', JSON.stringify({ hook_event_name: 'PreToolUse', cwd: '/', tool_name: 'Bash' })],
    [
      'a session that is a path',
      JSON.stringify({ hook_event_name: 'PreToolUse', session_id: '../../etc/passwd', cwd: '/', tool_name: 'Bash' }),
    ],
    [
      'numbers where words belong',
      JSON.stringify({ hook_event_name: 'PreToolUse', session_id: 1, cwd: 2, tool_name: 3 }),
    ],
    ['a prototype', '{"__proto__": {"x": 1}, "hook_event_name": "PreToolUse"}'],
    ['depth', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ])('%s: our side is broken, told as such and chained', async (_, body) => {
    const reply = await hook({}, body)
    expect(reply.status).toBe(500)
    expect(machine.entries('failure')).toMatchObject([{ what: 'unreadable_input', client: 'claude-code' }])
  })

  test('a flood of it leaves one line and a count', async () => {
    for (let i = 0; i < 300; i++) await hook({}, '{')
    expect(machine.entries('failure')).toHaveLength(1)
    expect((await machine.ask('GET', '/api/status', { token: 'api' })).json.failures).toBe(300)
    await machine.daemon.tick()
    expect(machine.entries('failure').reduce((sum, entry) => sum + entry.count, 0)).toBe(300)
  })

  test('fields and events of a newer client change nothing', async () => {
    expect(
      told(
        await machine.hook({ tool_name: 'NewTool', new_field: { deep: [1, null] }, effort: null, permission_mode: 7 }),
      ).decision,
    ).toBe('pass')
    machine.spend(1)
    expect(told(await machine.hook({ new_field: 'x' })).decision).toBe('deny')
    expect((await machine.hook({ hook_event_name: 'SomethingNew' })).body).toBe('')
  })

  test('a call without an id is judged all the same', async () => {
    machine.spend(1)
    expect(told(await machine.hook({ tool_use_id: undefined })).decision).toBe('deny')
  })
})

test('an error inside lets the call through and is chained', async () => {
  machine.spend(1)
  machine.daemon.runtime.rules.inForce = () => {
    throw new Error('broken')
  }
  const reply = await machine.hook()
  expect(reply.status).toBe(500)
  expect(machine.entries('failure')).toMatchObject([{ what: 'error' }])
})

test('a decision that takes two seconds lets the call through and is chained as such, never as a refusal', async () => {
  machine.spend(1)
  const { sessions } = machine.daemon.runtime
  const observe = sessions.observe.bind(sessions)
  sessions.observe = (...given) => {
    const end = performance.now() + 2050
    while (performance.now() < end);
    return observe(...given)
  }
  expect((await machine.hook()).status).toBe(500)
  expect(machine.entries('failure')).toMatchObject([{ what: 'over_time', toolUse: 'toolu_1' }])
  expect(machine.entries('decision')).toMatchObject([{ outcome: 'deny', did: 'passed', why: 'late' }])
})
