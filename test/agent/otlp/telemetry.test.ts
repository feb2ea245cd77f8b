import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISK } from '#agent/home.ts'
import { makeMeter, meter } from '#agent/usage/meter.ts'
import { SESSION } from '../daemon/world.ts'
import { attributes, ToldMachine } from './world.ts'

let machine: ToldMachine
beforeEach(async () => {
  machine = new ToldMachine()
  await machine.start()
})
const REQUEST = { input: 100, cacheRead: 20, cacheWrite5m: 30, cacheWrite1h: 7, output: 50, webSearches: 0 }
const GEN_AI = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'anthropic',
  'gen_ai.request.model': 'claude-opus-4-6',
  'gen_ai.response.model': 'claude-opus-4-6',
  'gen_ai.response.id': 'msg_far',
  'gen_ai.usage.input_tokens': 130_213,
  'gen_ai.usage.output_tokens': 40,
  'gen_ai.usage.cache_read.input_tokens': 128_955,
  'gen_ai.usage.cache_creation.input_tokens': 1253,
}
const sumOf = async () => (await machine.counted()).map(({ tokens }) => tokens)

describe('a call that a client tells of', () => {
  test('counts once, with its model, its tokens on their own axes, its session and its moment', async () => {
    const at = machine.now()
    expect((await machine.tell('logs', machine.logs([machine.request({}, at)]))).json).toEqual({})
    expect(await machine.counted()).toMatchObject([
      { model: 'claude-opus-4-6', tokens: REQUEST, atMs: at, place: { client: 'claude-code', session: 'far-away' } },
    ])
    expect(await machine.told()).toMatchObject({ calls: 1, own: 0, waiting: 0 })
  })

  test('counts once however often its exporter sends it, over restarts', async () => {
    const batch = machine.logs([machine.request(), machine.request({ request_id: 'req_2' })])
    await machine.tell('logs', batch)
    await machine.tell('logs', batch)
    await machine.daemon.stop()
    await machine.start()
    await machine.tell('logs', batch)
    expect(await machine.counted()).toHaveLength(2)
    await machine.tell('logs', batch)
    expect(await machine.counted()).toHaveLength(2)
    expect(await machine.told()).toMatchObject({ calls: 2, repeated: 6 })
  })

  test('counts once where it has no id, and two calls without ids are two', async () => {
    const at = machine.now()
    const without = { request_id: undefined, 'session.id': undefined }
    const batch = machine.logs([machine.request(without, at), machine.request(without, at + 1)])
    await machine.tell('logs', batch)
    await machine.tell('logs', batch)
    expect(await machine.counted()).toHaveLength(2)
  })

  test('of which two ids are told are two calls, however alike they are', async () => {
    const at = machine.now()
    await machine.tell('logs', machine.logs(['req_a', 'req_b'].map(request_id => machine.request({ request_id }, at))))
    expect(await machine.counted()).toHaveLength(2)
  })

  test('by span and by event is one, and what an agent’s own span sums up is none', async () => {
    const event = {
      timeUnixNano: `${machine.now()}000000`,
      name: 'gen_ai.client.inference.operation.details',
      attributes: attributes(GEN_AI),
    }
    await machine.tell(
      'traces',
      machine.spans([
        { values: GEN_AI, events: [event] },
        {
          values: { ...GEN_AI, 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.response.id': 'run_1' },
          id: '0000000000000002',
        },
      ]),
    )
    expect(await machine.counted()).toHaveLength(1)
    expect(await machine.told()).toMatchObject({ calls: 1, repeated: 1, outer: 1 })
  })

  test('whose input includes what was cached is taken apart, so that nothing is priced twice', async () => {
    await machine.tell('traces', machine.spans([{ values: GEN_AI }]))
    expect(await machine.counted()).toMatchObject([
      {
        tokens: { input: 5, cacheRead: 128_955, cacheWrite5m: 1253, cacheWrite1h: 0, output: 40 },
        provider: 'anthropic',
        place: { client: 'other' },
      },
    ])
  })

  test('that failed, with what it had used until then, is marked as broken off', async () => {
    await machine.tell('traces', machine.spans([{ values: GEN_AI, code: 2 }]))
    expect(await machine.counted()).toMatchObject([{ partial: true, tokens: { output: 40 } }])
  })

  test('of a faster speed is no call of the plain model, whose prices are lower, by event or by sum', async () => {
    await machine.tell(
      'logs',
      machine.logs([machine.request({ speed: 'fast' }), machine.request({ speed: 'normal', request_id: 'r' })]),
    )
    const values = { 'session.id': 'another', speed: 'fast' }
    await machine.tell('metrics', machine.sums('claude_code.token.usage', { output: 1 }, { values }))
    expect((await machine.counted()).map(({ model }) => model)).toEqual(['unknown', 'claude-opus-4-6', 'unknown'])
  })

  test('belongs to whom its attributes say, on either level, and to its own client', async () => {
    const tenant = { 'holdpoint.tenant': 'acme', 'holdpoint.project': 'Not A Value', 'session.id': undefined }
    await machine.tell(
      'logs',
      machine.logs([machine.request({ ...tenant, request_id: 'on_the_record' })], { 'service.name': 'claude-code' }),
    )
    await machine.tell(
      'logs',
      machine.logs([machine.request({ 'session.id': undefined, request_id: 'on_the_resource' })], {
        'service.name': 'claude-code',
        'holdpoint.tenant': 'globex',
      }),
    )
    await machine.tell(
      'traces',
      machine.spans([{ values: GEN_AI }], { 'service.name': 'gemini-cli', 'session.id': 's1' }),
    )
    expect((await machine.counted()).map(({ place }) => [place.client, place.session, place.tags])).toEqual([
      ['claude-code', 'telemetry', { tenant: 'acme' }],
      ['claude-code', 'telemetry', { tenant: 'globex' }],
      ['gemini', 's1', {}],
    ])
  })

  test('of a session that a hook has told of belongs where that session is', async () => {
    await machine.hook({ session_id: 'far-away' })
    await machine.tell('logs', machine.logs([machine.request()]))
    expect(await machine.counted()).toMatchObject([{ place: { directory: machine.cwd } }])
  })
})

describe('no call counts twice:', () => {
  test('where the client’s own records are read what it tells of the session is left out, and said', async () => {
    machine.spend(1, { id: 'msg_1' })
    const own = { 'session.id': SESSION, request_id: 'req_msg_1' }
    await machine.tell('logs', machine.logs([machine.request(own), machine.request({ ...own, request_id: undefined })]))
    await machine.tell(
      'metrics',
      machine.sums('claude_code.token.usage', { input: 5 }, { values: { 'session.id': SESSION } }),
    )
    await machine.tell('metrics', machine.sums('claude_code.token.usage', { input: 5 }))
    expect(await machine.counted()).toMatchObject([{ tokens: { output: 40_000 }, place: { directory: machine.cwd } }])
    expect(await machine.told()).toMatchObject({ calls: 0, sums: 0, own: 4 })
  })

  test('records that are written a moment after they were told of are the ones that count', async () => {
    await machine.tell('logs', machine.logs([machine.request({ 'session.id': SESSION, request_id: 'req_msg_1' })]))
    await machine.daemon.tick()
    machine.offset += 30_000
    machine.spend(1, { id: 'msg_1', at: machine.now() - 29_000 })
    expect(await machine.counted()).toMatchObject([{ tokens: { output: 40_000 } }])
  })

  test('a record that turns up after telemetry was counted is known by its message’s and by its request’s id', async () => {
    await machine.tell('logs', machine.logs([machine.request({ request_id: 'req_msg_1' })]))
    await machine.tell('traces', machine.spans([{ values: { ...GEN_AI, 'gen_ai.response.id': 'msg_2' } }]))
    expect(await machine.counted()).toHaveLength(2)
    machine.spend(1, { id: 'msg_1' })
    machine.spend(1, { id: 'msg_2' })
    machine.spend(1, { id: 'msg_3' })
    await machine.daemon.stop()
    await machine.start()
    expect((await machine.counted()).map(({ tokens }) => tokens.output)).toEqual([40_000, 40_000, 40_000])
  })

  test('what another observer tells of a call that is read here is the same call', async () => {
    machine.spend(1, { id: 'msg_1' })
    await machine.counted()
    await machine.tell('traces', machine.spans([{ values: { ...GEN_AI, 'gen_ai.response.id': 'msg_1' } }]))
    await machine.tell('traces', machine.spans([{ values: { ...GEN_AI, 'gen_ai.response.id': 'req_msg_1' } }]))
    expect(await machine.counted()).toHaveLength(1)
    expect(await machine.told()).toMatchObject({ repeated: 2, calls: 0 })
  })

  test('a session that tells of its calls is not counted by its sums, whether these name it or not', async () => {
    await machine.tell('logs', machine.logs([machine.request()]))
    const all = { input: 100, output: 50, cacheRead: 20, cacheCreation: 37 }
    await machine.tell(
      'metrics',
      machine.sums('claude_code.token.usage', all, { values: { 'session.id': 'far-away' } }),
    )
    await machine.tell('metrics', machine.sums('claude_code.token.usage', all))
    expect(await sumOf()).toEqual([REQUEST])
    expect(await machine.told()).toMatchObject({ calls: 1, sums: 0, otherwise: 2 })
  })

  test('a session that was counted by its sums is not counted by calls that come later', async () => {
    await machine.tell(
      'metrics',
      machine.sums('claude_code.token.usage', { input: 5 }, { values: { 'session.id': 'far-away' } }),
    )
    expect(await machine.counted()).toHaveLength(1)
    await machine.tell('logs', machine.logs([machine.request()]))
    expect(await machine.counted()).toHaveLength(1)
    expect(await machine.told()).toMatchObject({ sums: 1, calls: 0, otherwise: 1 })
  })

  test('another program’s calls keep nobody’s sums out', async () => {
    await machine.tell('traces', machine.spans([{ values: GEN_AI }]))
    await machine.tell(
      'metrics',
      machine.sums('gen_ai.client.token.usage', { input: 5 }, { resource: { 'service.name': 'another' } }),
    )
    expect(await machine.counted()).toHaveLength(2)
  })
})

describe('sums without ids', () => {
  const claude = (tokens: Record<string, number>, more: Parameters<ToldMachine['sums']>[2] = {}) =>
    machine.tell('metrics', machine.sums('claude_code.token.usage', tokens, { values: { 'session.id': 's' }, ...more }))
  const outputs = async () => (await machine.counted()).map(({ tokens }) => tokens.output)

  test('of what was added since count each once, their kinds together', async () => {
    const at = machine.now()
    const first = () =>
      claude({ input: 10, output: 1, cacheRead: 2, cacheCreation: 3, later: 99 }, { at, start: at - 1 })
    await first()
    await first()
    await claude({ output: 5 }, { at: at + 1000, start: at })
    expect(await sumOf()).toEqual([
      { input: 10, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 0, output: 1, webSearches: 0 },
      { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 5, webSearches: 0 },
    ])
    await first()
    expect(await outputs()).toEqual([1, 5])
  })

  test('that run on count what they grew by, over restarts of this daemon and of the client', async () => {
    const start = machine.now()
    const at = (s: number) => ({ running: true, start, at: start + s * 1000 })
    await claude({ output: 10 }, at(1))
    await claude({ output: 10 }, at(1))
    await claude({ output: 25 }, at(2))
    expect(await outputs()).toEqual([10, 15])
    await machine.daemon.stop()
    await machine.start()
    // late, and known
    await claude({ output: 10 }, at(1))
    await claude({ output: 25 }, at(3))
    expect(await outputs()).toEqual([10, 15])
    await claude({ output: 40 }, at(4))
    // begun anew: under a start of its own, and without saying so
    await claude({ output: 3 }, { running: true, start: start + 5000, at: start + 6000 })
    await claude({ output: 2 }, at(7))
    expect(await outputs()).toEqual([10, 15, 15, 3, 2])
  })

  test('that may have been counted are not counted again when what is known of them is damaged', async () => {
    const start = machine.now()
    await claude({ output: 10 }, { running: true, start, at: start + 1000 })
    expect(await outputs()).toEqual([10])
    await machine.daemon.stop()
    writeFileSync(join(machine.home.usage, 'telemetry.json'), '{"series":')
    await machine.start()
    await claude({ output: 12 }, { running: true, start, at: start + 2000 })
    await claude({ output: 14 }, { running: true, start, at: start + 3000 })
    expect(await outputs()).toEqual([10, 2])
  })

  test('of histograms count as well; how large the single calls were nobody knows, so no dearer rate is taken', async () => {
    await machine.tell(
      'metrics',
      machine.sums(
        'gen_ai.client.token.usage',
        { input: 150_000_000, output: 7 },
        { resource: { 'service.name': 'agent' }, values: { 'gen_ai.response.model': 'claude-sonnet-4-5' } },
      ),
    )
    const calls = await machine.counted()
    expect(calls.map(({ tokens, isSum }) => [tokens.input, tokens.output, isSum])).toEqual([
      [100_000_000, 7, true],
      [50_000_000, 0, true],
    ])
    const priced = await meter(calls, makeMeter(undefined, { homeDir: machine.folder }))
    expect(priced.map(({ model, long }) => [model, long])).toEqual([
      ['claude-sonnet-4-5', false],
      ['claude-sonnet-4-5', false],
    ])
  })
})

describe('an exporter', () => {
  test('is told how much of a batch can never be taken, and the rest of it counts', async () => {
    const absurd = [{ input_tokens: -1 }, { output_tokens: 1e12 }, { cache_read_tokens: 'many' }]
    const records = absurd.map((values, i) => machine.request({ ...values, request_id: `bad_${i}` }))
    const reply = await machine.tell('logs', machine.logs([...records, machine.request()]))
    expect(reply).toMatchObject({ status: 200, json: { partialSuccess: { rejectedLogRecords: '3' } } })
    const spans = await machine.tell(
      'traces',
      machine.spans([{ values: { ...GEN_AI, 'gen_ai.usage.input_tokens': 1.5 } }]),
    )
    expect(spans).toMatchObject({ status: 200, json: { partialSuccess: { rejectedSpans: '1' } } })
    const metrics = await machine.tell('metrics', machine.sums('claude_code.token.usage', { input: -5 }))
    expect(metrics.json).toMatchObject({ partialSuccess: { rejectedDataPoints: '1' } })
    expect(await machine.counted()).toHaveLength(1)
    expect(await machine.told()).toMatchObject({ rejected: 5 })
  })

  test('that tells of nothing of usage is thanked, and nothing is kept', async () => {
    expect(
      (await machine.tell('logs', machine.logs([{ body: { stringValue: 'claude_code.user_prompt' } }]))).json,
    ).toEqual({})
    for (const empty of ['{}', '{"resourceLogs":[]}', '{"resourceLogs":[{}]}', '{"resourceLogs":[{"scopeLogs":[7]}]}'])
      expect((await machine.tell('logs', empty)).status, empty).toBe(200)
    expect(() => readFileSync(join(machine.home.usage, 'telemetry.jsonl'))).toThrow('ENOENT')
  })

  test('is asked to send again what could not be kept, and it counts once then', async () => {
    await machine.daemon.stop()
    let isFull = true
    const disk = {
      ...DISK,
      write: (fd: number, bytes: Uint8Array) => {
        if (isFull && Buffer.from(bytes).includes('"kind":"call"')) {
          DISK.write(fd, bytes.subarray(0, 40))
          throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
        }
        return DISK.write(fd, bytes)
      },
    }
    const other = new ToldMachine(disk)
    await other.start()
    const batch = other.logs([other.request()])
    expect(await other.tell('logs', batch)).toMatchObject({ status: 503, json: { code: 14 } })
    expect(await other.told()).toMatchObject({ problem: 'no space left', calls: 0 })
    isFull = false
    expect((await other.tell('logs', batch)).status).toBe(200)
    expect(await other.counted()).toHaveLength(1)
  })

  test('finds what it was thanked for after a crash, and a half-written line takes nothing with it', async () => {
    await machine.tell('logs', machine.logs([machine.request()]))
    appendFileSync(join(machine.home.usage, 'telemetry.jsonl'), '{"at":1,"seen":{"kind":"ca')
    await machine.daemon.stop()
    await machine.start()
    await machine.tell('logs', machine.logs([machine.request({ request_id: 'req_2' })]))
    expect(await machine.counted()).toHaveLength(2)
  })

  test('whose batch was counted and not yet taken off the list is counted once', async () => {
    const file = join(machine.home.usage, 'telemetry.jsonl')
    await machine.tell('logs', machine.logs([machine.request()]))
    const start = machine.now()
    await machine.tell(
      'metrics',
      machine.sums('claude_code.token.usage', { output: 9 }, { values: { 'session.id': 't' }, running: true, start }),
    )
    const before = readFileSync(file)
    expect(await machine.counted()).toHaveLength(2)
    await machine.daemon.stop()
    writeFileSync(file, before)
    rmSync(join(machine.home.usage, 'telemetry.json'))
    await machine.start()
    expect((await machine.counted()).map(({ tokens }) => tokens.output)).toEqual([50, 9])
  })
})
