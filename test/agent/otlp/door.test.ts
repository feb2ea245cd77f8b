/** The door for telemetry: both encodings, as the real client sends them, and everything that is not to come through. */
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { otlpToken } from '#agent/crypto.ts'
import { ProtobufError, readProtobuf } from '#agent/otlp/protobuf.ts'
import { REQUESTS } from '#agent/otlp/schema.ts'
import { ToldMachine } from './world.ts'

const recorded = (name: string) => readFileSync(new URL(`./recorded/${name}`, import.meta.url))
const PROTOBUF = { 'content-type': 'application/x-protobuf' }

let machine: ToldMachine
beforeEach(async () => {
  machine = new ToldMachine()
  await machine.start()
})

describe('what Claude Code exports', () => {
  // one run each: a call of the script's own figures, and one of 12 and 64 tokens
  const TWO_CALLS = [
    { input: 100, cacheRead: 20, cacheWrite5m: 30, cacheWrite1h: 7, output: 50, webSearches: 0 },
    { input: 12, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 64, webSearches: 0 },
  ]
  test.each([
    ['as JSON', 'json', {}],
    ['as protocol buffers', 'pb', PROTOBUF],
  ])('%s counts each call once, its sums not beside them', async (_, form, headers) => {
    machine.offset = Date.parse('2026-11-30T20:00:00Z') - Date.now()
    expect((await machine.tell('logs', recorded(`logs.${form}`), { headers })).status).toBe(200)
    expect((await machine.tell('metrics', recorded(`metrics.${form}`), { headers })).status).toBe(200)
    const calls = await machine.counted()
    expect(calls.map(({ tokens }) => tokens)).toEqual(TWO_CALLS)
    expect(new Set(calls.map(({ model, place }) => `${model} ${place.client} ${JSON.stringify(place.tags)}`))).toEqual(
      new Set(['claude-opus-5-5 claude-code {"tenant":"acme"}']),
    )
    expect(await machine.told()).toMatchObject({ calls: 2, sums: 0, otherwise: 1 })
  })

  test.each([
    ['as JSON', 'json', {}],
    ['as protocol buffers', 'pb', PROTOBUF],
  ])('%s without its events counts by its sums', async (_, form, headers) => {
    machine.offset = Date.parse('2026-11-30T20:00:00Z') - Date.now()
    await machine.tell('metrics', recorded(`metrics.${form}`), { headers })
    expect((await machine.counted()).map(({ tokens }) => tokens)).toEqual([
      { input: 112, cacheRead: 20, cacheWrite5m: 37, cacheWrite1h: 0, output: 114, webSearches: 0 },
    ])
  })

  test('packed with gzip is taken as well', async () => {
    const headers = { ...PROTOBUF, 'content-encoding': 'gzip' }
    expect((await machine.tell('logs', gzipSync(recorded('logs.pb')), { headers })).status).toBe(200)
    expect(await machine.counted()).toHaveLength(2)
  })

  test('leaves nothing of prompts, addresses or answers on the disk', async () => {
    await machine.tell('logs', recorded('logs.pb'), { headers: PROTOBUF })
    const kept = readFileSync(`${machine.home.usage}/telemetry.jsonl`, 'utf8')
    expect(kept).toContain('"model":"claude-opus-5-5"')
    for (const word of ['user', 'prompt', 'terminal', 'linux', 'Bash']) expect(kept, word).not.toContain(word)
  })
})

describe('the door for telemetry refuses', () => {
  test.each([
    ['another name for this machine', { host: 'localhost' }, 421],
    ['a browser’s page', { origin: 'http://127.0.0.1' }, 403],
    ['no token', { authorization: undefined }, 401],
    ['gRPC', { 'content-type': 'application/grpc' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['no type', { 'content-type': undefined }, 415],
    ['another packing', { 'content-encoding': 'br' }, 415],
    ['what gzip did not pack', { 'content-encoding': 'gzip' }, 400],
    ['JSON that is said to be protocol buffers', PROTOBUF, 400],
  ])('%s', async (_, headers, status) => {
    expect((await machine.tell('logs', machine.logs([machine.request()]), { headers })).status).toBe(status)
    expect(await machine.counted()).toEqual([])
  })

  test('the tokens of hooks and of the API, and its own token opens neither', async () => {
    const { hookToken, apiToken } = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
    for (const token of [hookToken, apiToken])
      expect((await machine.tell('logs', '{}', { headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
    const authorization = `Bearer ${otlpToken(machine.daemon.runtime.secret)}`
    expect((await machine.ask('GET', '/api/status', { headers: { authorization } })).status).toBe(401)
    expect((await machine.ask('POST', '/hook/claude-code', { body: '{}', headers: { authorization } })).status).toBe(
      401,
    )
  })

  test('what is no batch, in words and in its own encoding', async () => {
    const bad = await machine.tell('logs', '{"resourceLogs":7}')
    expect(bad).toMatchObject({ status: 400, json: { code: 3, message: 'The body is no logs request.' } })
    expect(await machine.tell('logs', '{')).toMatchObject({ status: 400, json: { message: 'The body is not JSON.' } })
    for (const list of ['[]', 'null', '"x"']) expect((await machine.tell('logs', list)).status, list).toBe(400)
    const packed = await machine.tell('traces', Buffer.from([0x0a, 0x7f, 0x01]), { headers: PROTOBUF })
    expect(packed.status).toBe(400)
    expect(packed.body).toContain('The body is no traces request: it ends in the middle of a field.')
    expect((await machine.ask('GET', '/v1/logs')).status).toBe(405)
    expect((await machine.tell('profiles' as 'logs', '{}')).status).toBe(404)
  })

  test('more than it takes, packed or not', async () => {
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, 0x20)
    expect((await machine.tell('logs', large).catch(() => ({ status: 413 }))).status).toBe(413)
    const bomb = gzipSync(Buffer.alloc(9 * 1024 * 1024, 0x20))
    expect((await machine.tell('logs', bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(413)
  })
})

describe('a batch that is small and says much', () => {
  const BARE = { 'service.name': 'claude-code', 'event.name': 'api_request', model: 'claude-opus-4-6' }

  test('with more entries than any exporter sends is refused, and nothing of it is kept', async () => {
    const records = Array.from({ length: 10_001 }, () => ({}))
    const refused = await machine.tell('logs', machine.logs(records, BARE))
    expect(refused).toMatchObject({ status: 413, json: { code: 8 } })
    const events = machine.spans([{ values: {}, events: records }])
    expect((await machine.tell('traces', events)).status).toBe(413)
    const points = {
      resourceMetrics: [
        { scopeMetrics: [{ metrics: [{ name: 'claude_code.token.usage', sum: { dataPoints: records } }] }] },
      ],
    }
    expect((await machine.tell('metrics', points)).status).toBe(413)
    expect(await machine.counted()).toEqual([])
  })

  test('with millions of values in a few packed bytes is refused before it is parsed', async () => {
    for (const text of ['['.repeat(3_000_000), `{"resourceLogs":[${'{},'.repeat(1_000_000)}{}]}`]) {
      const refused = await machine.tell('logs', gzipSync(text), { headers: { 'content-encoding': 'gzip' } })
      expect(refused).toMatchObject({ status: 413, json: { message: 'The body holds too many values.' } })
    }
  })

  test('with a resource of thousands of attributes keeps nobody waiting', async () => {
    const resource = { ...BARE, ...Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`a${i}`, 'x'])) }
    const records = Array.from({ length: 5000 }, () => ({}))
    const before = performance.now()
    expect((await machine.tell('logs', machine.logs(records, resource))).status).toBe(200)
    // copied for each record it would be a hundred million of them, and minutes
    expect(performance.now() - before).toBeLessThan(20_000)
  })

  test('never makes more wait than is read again', async () => {
    const path = `${machine.home.usage}/telemetry.jsonl`
    await machine.tell('logs', machine.logs([machine.request()]))
    appendFileSync(path, `${' '.repeat(32 * 1024 * 1024 - statSync(path).size - 100)}\n`)
    expect((await machine.tell('logs', machine.logs([machine.request({ request_id: 'req_2' })]))).status).toBe(503)
    expect(statSync(path).size).toBeLessThanOrEqual(32 * 1024 * 1024)
    expect(await machine.counted()).toHaveLength(1)
    expect((await machine.tell('logs', machine.logs([machine.request({ request_id: 'req_2' })]))).status).toBe(200)
  })
})

describe('the reader of protocol buffers', () => {
  test('gives an answer or one error for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
        for (const request of Object.values(REQUESTS))
          try {
            readProtobuf(bytes, request)
          } catch (error) {
            expect(error).toBeInstanceOf(ProtobufError)
          }
      }),
    )
  })

  test('does so wherever a real batch is cut off or one bit of it is another', () => {
    const batch = recorded('metrics.pb')
    for (let at = 0; at < batch.length; at += 3) {
      const changed = Buffer.from(batch)
      changed[at]! ^= 1 << (at % 8)
      for (const bytes of [batch.subarray(0, at), changed])
        try {
          readProtobuf(bytes, REQUESTS.metrics)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError)
        }
    }
  })

  test('keeps 64-bit numbers whole, reads negative ones, and passes over what it does not know', () => {
    const fields = {
      1: { name: 'time', kind: 'fixed64' },
      2: { name: 'count', kind: 'signed' },
      4: { name: 'words', kind: 'string', many: true },
    } as const
    const bytes = Uint8Array.from([
      ...[0x09, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
      ...[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
      // field 3, four forms of it
      ...[0x18, 0x05, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 0x01, 0x41, 0x1d, 1, 2, 3, 4],
      ...[0x22, 0x01, 0x61, 0x22, 0x02, 0xc3, 0xa9],
      // field 2 in another form than it has
      ...[0x12, 0x01, 0x01],
    ])
    expect(readProtobuf(bytes, { fields })).toEqual({ time: '9223372036854775807', count: -1, words: ['a', 'é'] })
  })
})

test('a token whose space is still written as in the environment opens this door, and no other', async () => {
  const authorization = `Bearer%20${otlpToken(machine.daemon.runtime.secret)}`
  expect((await machine.tell('logs', '{}', { headers: { authorization } })).status).toBe(200)
  const { hookToken } = JSON.parse(readFileSync(machine.home.tokens, 'utf8'))
  const hook = { authorization: `Bearer%20${hookToken}` }
  expect((await machine.ask('POST', '/hook/claude-code', { body: '{}', headers: hook })).status).toBe(401)
})
