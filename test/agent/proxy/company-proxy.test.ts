import { createServer as createPlain } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { companyProxy, isDirect } from '#agent/proxy/company-proxy.ts'
import { runProxy } from '#agent/proxy/run.ts'
import { onCleanup, until } from '../daemon/world.ts'
import { CERTIFICATE, KEY } from './certificate.ts'
import { ProxyWorld, STREAMS } from './world.ts'

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onCleanup(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** An upstream that is reached by name and TLS only, and a company's proxy that knows where it is. */
async function behindProxy({ login = '', refuse = false } = {}) {
  const asked: string[] = []
  const upstream = createSecure({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(STREAMS.messages)
  })
  const port = await listen(upstream)
  const company = createPlain()
  company.on('connect', (request, socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    if (refuse) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const on = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      on.pipe(socket)
      socket.pipe(on)
    })
    for (const one of [on, socket]) one.on('error', () => socket.destroy())
  })
  const at = await listen(company)
  const world = new ProxyWorld()
  const { writeFileSync } = await import('node:fs')
  writeFileSync(world.home.config, 'routing:\n  upstreams: { anthropic: "https://model.example" }\n')
  world.proxy = await runProxy({
    home: world.home,
    version: '1.0.0',
    port: 0,
    env: { HTTPS_PROXY: `http://${login}127.0.0.1:${at}` },
    tls: { ca: CERTIFICATE },
  })
  onCleanup(() => world.proxy.stop(0))
  return { world, asked }
}

test('an upstream behind a company’s proxy is reached through it, with TLS of its own, and metered', async () => {
  const { world, asked } = await behindProxy({ login: 'name:w%20rd@' })
  for (let i = 0; i < 2; i++) {
    const { status, body } = await world.ask('/anthropic/v1/messages', { body: '{}' })
    expect([status, body.toString()]).toEqual([200, STREAMS.messages])
  }
  // the connection is kept
  expect(asked).toEqual([`model.example:443 Basic ${Buffer.from('name:w rd').toString('base64')}`])
  await until(() => world.left().length === 2)
})

test('a company’s proxy that refuses is a failure like any other of the way up', async () => {
  const { world } = await behindProxy({ refuse: true })
  expect((await world.ask('/anthropic/v1/messages', { body: '{}' })).status).toBe(502)
})

test('who is asked without it: loopback, and what NO_PROXY names', () => {
  const env = { NO_PROXY: 'corp.example, .inner.example,other.example:8443' }
  const direct = (host: string, port = 443, by: Record<string, string> = env) => isDirect(host, port, by)
  expect(
    ['127.0.0.1', 'localhost', '[::1]', 'corp.example', 'a.corp.example', 'x.inner.example'].every(host =>
      direct(host),
    ),
  ).toBe(true)
  expect(['notcorp.example', 'example', 'other.example'].some(host => direct(host))).toBe(false)
  expect(direct('other.example', 8443)).toBe(true)
  expect(direct('anything.example', 443, { no_proxy: '*' })).toBe(true)
  expect(companyProxy({})).toBeUndefined()
  expect(companyProxy({ HTTPS_PROXY: 'nonsense' })).toBeUndefined()
  expect(companyProxy({ HTTPS_PROXY: 'socks5://127.0.0.1:1' })).toBeUndefined()
  expect(companyProxy({ https_proxy: 'http://p.example:3128' })?.host).toBe('p.example:3128')
})
