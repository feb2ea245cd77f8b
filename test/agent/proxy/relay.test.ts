import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { until } from '../daemon/world.ts'
import { PATHS, ProxyWorld, STREAMS } from './world.ts'

const COUNTS = { input: 100, cacheRead: 20, cacheWrite5m: 30, cacheWrite1h: 7, output: 50, webSearches: 0 }
const TOLD = {
  messages: COUNTS,
  responses: { ...COUNTS, cacheWrite5m: 37, cacheWrite1h: 0 },
  chat: { ...COUNTS, cacheWrite5m: 0, cacheWrite1h: 0 },
}
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' }

/** Cuts bytes into pieces at these places. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length))
}

test('an answer passes byte for byte however it is cut, and its usage is read all the same', async () => {
  const world = await new ProxyWorld().start()
  let calls = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('messages', 'responses', 'chat'),
      fc.array(fc.nat(4000), { maxLength: 30 }),
      fc.constantFrom('plain', 'gzip', 'br', 'crlf'),
      async (protocol, cuts, form) => {
        const text = form === 'crlf' ? STREAMS[protocol].replaceAll('\n', '\r\n') : STREAMS[protocol]
        const plain = Buffer.from(text)
        const bytes = form === 'gzip' ? gzipSync(plain) : form === 'br' ? brotliCompressSync(plain) : plain
        world.answer = (_, response) => {
          response.writeHead(200, { ...SSE, ...(form === 'gzip' || form === 'br' ? { 'content-encoding': form } : {}) })
          for (const piece of pieces(bytes, cuts)) response.write(piece)
          response.end()
        }
        const answered = await world.ask(PATHS[protocol], { body: '{"model":"m"}' })
        expect(answered.body.equals(bytes)).toBe(true)
        calls++
      },
    ),
    { numRuns: 60 },
  )
  await until(() => world.left().length === calls)
  for (const { ids, tokens, partial } of world.left()) {
    expect(tokens).toEqual(
      TOLD[ids[0]!.startsWith('msg') ? 'messages' : ids[0]!.startsWith('resp') ? 'responses' : 'chat'],
    )
    expect(partial).toBeUndefined()
  }
}, 60_000)

test('a request passes byte for byte: path, query, headers in their order and spelling, and any body', async () => {
  const world = await new ProxyWorld().start()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 100_000 }), async bytes => {
      const body = Buffer.from(bytes)
      const headers = {
        'X-Api-Key': 'secret',
        'anthropic-Beta': 'a,b',
        'Content-Type': 'application/json',
        TE: 'trailers',
      }
      await world.ask('/anthropic/v1/messages?beta=true&x=%2F', { body, headers })
      const { url, raw, body: got } = world.arrived.at(-1)!
      expect(url).toBe('/v1/messages?beta=true&x=%2F')
      expect(got.equals(body)).toBe(true)
      expect(raw).toContain('X-Api-Key')
      expect(raw).toContain('anthropic-Beta')
      expect(raw).not.toContain('TE')
      expect(raw[raw.indexOf('Host') + 1]).toBe(new URL(world.upstream).host)
    }),
    { numRuns: 20 },
  )
  await world.ask('/openai/v1/models', { method: 'GET' })
  expect(world.arrived.at(-1)).toMatchObject({ method: 'GET', url: '/base/v1/models' })
  expect(world.arrived.at(-1)!.raw.join().toLowerCase()).not.toContain('transfer-encoding')
  expect((await world.ask('/anthropic/v1/messages', { method: 'HEAD' })).body).toHaveLength(0)
})

test('sixty-four streams at once come whole, each in its own pieces, and each is metered once', async () => {
  const world = await new ProxyWorld().start()
  world.answer = async (_, response, { body }) => {
    const id = body.toString()
    const bytes = Buffer.from(STREAMS.messages.replaceAll('msg_1', id))
    response.writeHead(200, SSE)
    for (let at = 0; at < bytes.length; at += 37) {
      response.write(bytes.subarray(at, at + 37))
      await new Promise(resolve => setImmediate(resolve))
    }
    response.end()
  }
  const ids = Array.from({ length: 64 }, (_, i) => `msg_number${i}`)
  const answers = await Promise.all(ids.map(id => world.ask(PATHS.messages, { body: id })))
  for (const [i, { body }] of answers.entries())
    expect(body.toString()).toBe(STREAMS.messages.replaceAll('msg_1', ids[i]!))
  await until(() => world.left().length === 64)
  expect(new Set(world.left().map(call => call.ids[0]))).toEqual(new Set(ids))
})

test('a client that does not read holds its upstream back', async () => {
  const world = await new ProxyWorld().start()
  let sent = 0
  world.answer = (_, response) => {
    response.writeHead(200, SSE)
    const chunk = Buffer.alloc(64 * 1024, 0x61)
    const push = () => {
      while (sent < 200 * 1024 * 1024) {
        sent += chunk.length
        if (!response.write(chunk)) return void response.once('drain', push)
      }
      response.end()
    }
    push()
  }
  const socket = connect(world.proxy.port, '127.0.0.1')
  socket.pause()
  socket.write(`POST ${PATHS.messages} HTTP/1.1\r\nHost: 127.0.0.1:${world.proxy.port}\r\nContent-Length: 0\r\n\r\n`)
  let last = -1
  await until(async () => {
    const before = last
    last = sent
    await new Promise(resolve => setTimeout(resolve, 200))
    return sent > 0 && sent === before && sent === last
  })
  expect(sent).toBeLessThan(64 * 1024 * 1024)
  socket.destroy()
})

test('a client that goes takes its upstream with it, and what it had used until then stands as broken off', async () => {
  const world = await new ProxyWorld().start()
  let gone = false
  world.answer = (asked, response) => {
    response.writeHead(200, SSE)
    response.write(STREAMS.messages.slice(0, STREAMS.messages.indexOf('event: content_block_start')))
    asked.socket.once('close', () => {
      gone = true
    })
  }
  const socket = connect(world.proxy.port, '127.0.0.1')
  socket.write(`POST ${PATHS.messages} HTTP/1.1\r\nHost: 127.0.0.1:${world.proxy.port}\r\nContent-Length: 0\r\n\r\n`)
  await new Promise(resolve => socket.once('data', resolve))
  socket.destroy()
  await until(() => gone && world.left().length === 1)
  expect(world.left()[0]).toMatchObject({ ids: ['msg_1'], partial: true, tokens: { input: 100, output: 1 } })
})

test('an upstream that breaks off breaks the answer off: it is never made to look whole', async () => {
  const world = await new ProxyWorld().start()
  world.answer = (asked, response) => {
    response.writeHead(200, SSE)
    response.write(STREAMS.messages.slice(0, 700), () => asked.socket.resetAndDestroy())
  }
  const answered = await world.ask(PATHS.messages)
  expect(answered.broken).toBe(true)
  expect(STREAMS.messages.startsWith(answered.body.toString())).toBe(true)
  await until(() => world.left().length === 1)
  expect(world.left()[0]!.partial).toBe(true)
})

test('errors of the upstream pass as they are; one that cannot be reached is told in the client’s own form', async () => {
  const world = await new ProxyWorld().start()
  world.answer = (_, response) => {
    response.writeHead(429, 'Slow Down', { 'retry-after': '7', 'content-type': 'application/json' })
    response.end('{"type":"error","error":{"type":"rate_limit_error","message":"no"}}')
  }
  const limited = await world.ask(PATHS.messages)
  expect(limited.status).toBe(429)
  expect(limited.raw).toContain('7')
  expect(limited.body.toString()).toContain('rate_limit_error')
  world.configure()
  world.upstream = 'http://127.0.0.1:9'
  world.configure()
  await until(async () => (await world.ask(PATHS.messages)).status === 502)
  expect(JSON.parse((await world.ask(PATHS.messages)).body.toString())).toMatchObject({
    type: 'error',
    error: { type: 'api_error' },
  })
  expect(JSON.parse((await world.ask(PATHS.chat)).body.toString())).toMatchObject({
    error: { code: 'api_error', param: null },
  })
  expect(world.left()).toEqual([])
})

test('another Host, an Origin, an absolute target, an unknown upstream, a WebSocket and CONNECT are refused, each in words', async () => {
  const world = await new ProxyWorld().start()
  const host = `127.0.0.1:${world.proxy.port}`
  for (const [headers, status] of [
    [{ host: 'evil.example' }, 421],
    [{ host: `evil.example:${world.proxy.port}` }, 421],
    [{ host: '127.0.0.1:1' }, 421],
    [{ origin: 'http://localhost' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
  ] as const)
    expect((await world.ask(PATHS.messages, { headers })).status, JSON.stringify(headers)).toBe(status)
  expect((await world.ask('/v1/messages')).body.toString()).toContain('/anthropic/')
  expect((await world.ask('/elsewhere/v1/messages')).status).toBe(404)
  const raw = (text: string) =>
    new Promise<string>(resolve => {
      let got = ''
      const socket = connect(world.proxy.port, '127.0.0.1', () => socket.write(text))
      socket.on('data', part => {
        got += part
      })
      socket.on('close', () => resolve(got))
      socket.on('error', () => {})
    })
  const last = `Host: ${host}\r\nConnection: close\r\n\r\n`
  expect(await raw(`GET http://${host}/anthropic/ HTTP/1.1\r\n${last}`)).toContain('400')
  expect(await raw(`CONNECT api.anthropic.com:443 HTTP/1.1\r\n${last}`)).toContain('not an HTTP proxy')
  const upgrade = `GET /openai/v1/responses HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  expect(await raw(upgrade)).toContain('supports_websockets')
  expect((await world.ask('/holdpoint/status', { method: 'GET' })).status).toBe(401)
  expect(world.arrived).toEqual([])
})

test('100-continue, a kept connection and an answer without a body work as they do without a proxy', async () => {
  const world = await new ProxyWorld().start()
  world.answer = (_, response) => {
    response.writeHead(204)
    response.end()
  }
  const socket = connect(world.proxy.port, '127.0.0.1')
  let got = ''
  socket.on('data', part => {
    got += part
  })
  const head = `POST ${PATHS.messages} HTTP/1.1\r\nHost: localhost:${world.proxy.port}\r\n`
  socket.write(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`)
  await until(() => got.includes('100 Continue'))
  socket.write('{}')
  await until(() => got.includes('204'))
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)
  await until(() => got.split('204').length === 3)
  socket.destroy()
  expect(world.arrived.map(({ body }) => body.toString())).toEqual(['{}', 'abc'])
  expect(world.arrived[0]!.raw.join().toLowerCase()).not.toContain('expect')
})

test('no key, no header’s value and no body is on disk or in the log', async () => {
  const world = await new ProxyWorld().start()
  const canary = () => `canary-${randomBytes(12).toString('hex')}`
  const secrets = Array.from({ length: 6 }, canary)
  const [key, bearer, header, body, answerHeader, answerBody] = secrets as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  world.answer = (_, response) => {
    response.writeHead(200, { ...SSE, 'x-secret': answerHeader })
    response.end(`${STREAMS.messages}data: {"text":"${answerBody}"}\n\n`)
  }
  const headers = { 'x-api-key': key, authorization: `Bearer ${bearer}`, 'x-custom': header }
  const answered = await world.ask(PATHS.messages, { headers, body: JSON.stringify({ model: 'm', text: body }) })
  expect(answered.body.toString()).toContain(answerBody)
  await until(() => world.left().length === 1)
  await world.proxy.stop(0)
  const { readdirSync, readFileSync, statSync } = await import('node:fs')
  const everything = readdirSync(world.folder, { recursive: true })
    .map(name => `${world.folder}/${name}`)
    .filter(path => statSync(path).isFile())
    .map(path => readFileSync(path, 'latin1'))
    .concat(world.logged)
    .join('\n')
  expect(everything).toContain('msg_1')
  for (const secret of secrets) expect(everything).not.toContain(secret)
})

test('what is no model’s answer passes and is not metered: counting tokens, lists, errors, an answer of another kind', async () => {
  const world = await new ProxyWorld().start()
  const usage = { id: 'msg_1', model: 'claude-opus-4-6', usage: { input_tokens: 5, output_tokens: 6 } }
  let status = 200
  world.answer = (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(usage))
  }
  for (const path of [
    '/anthropic/v1/messages/count_tokens',
    '/openai/v1/embeddings',
    '/openai/v1/responses/resp_1/cancel',
  ])
    expect(JSON.parse((await world.ask(path)).body.toString()), path).toEqual(usage)
  await world.ask('/openai/v1/models', { method: 'GET' })
  status = 400
  await world.ask(PATHS.messages)
  world.answer = (_, response) => void response.end('<html>not json</html>')
  await world.ask(PATHS.messages)
  expect(world.proxy.counts()).toMatchObject({ requests: 6, open: 0, metered: 0, untold: 0, unread: 0 })
})

test('a stream without counts is a call without tokens, told as one; a whole answer in one piece is read as well', async () => {
  const world = await new ProxyWorld().start()
  world.answer = (_, response) => {
    response.writeHead(200, SSE)
    response.end('data: {"id":"chatcmpl-9","model":"gpt-5.5","choices":[]}\n\ndata: [DONE]\n\n')
  }
  await world.ask(PATHS.chat)
  world.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        id: 'msg_7',
        model: 'claude-opus-4-6',
        usage: { input_tokens: 5, output_tokens: 6, server_tool_use: { web_search_requests: 2 } },
      }),
    )
  }
  await world.ask(PATHS.messages)
  await until(() => world.left().length === 2)
  expect(world.left()).toMatchObject([
    { ids: ['chatcmpl-9'], partial: true, tokens: { input: 0, output: 0 } },
    { ids: ['msg_7'], tokens: { input: 5, output: 6, webSearches: 2 } },
  ])
  expect(world.proxy.counts()).toMatchObject({ metered: 1, untold: 1, unread: 0 })
})
