import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientAddress } from '#server/auth/client-address.ts'
import { isDirectLocal } from '#server/auth/demo-mode.ts'
import { readDoor, watchDoor } from '#server/auth/door.ts'
import { serverEnvironment } from '#test/support/makers.ts'

let server: http.Server
let seen: Headers

beforeAll(async () => {
  serverEnvironment()
  process.env.DATABASE_URL ??= 'postgresql://nobody@127.0.0.1:1/none'
  delete process.env.SMTP_URL
  watchDoor()
  server = http.createServer((request, response) => {
    // What Next does before a route sees the request.
    request.headers['x-forwarded-for'] ??= request.socket.remoteAddress
    request.headers['x-forwarded-host'] ??= request.headers.host
    seen = new Headers(
      Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      ),
    )
    response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise(resolve => server.close(resolve)))

/** One request over a real socket. Gives the headers as a route would see them. */
function ask(headers: Record<string, string> = {}): Promise<Headers> {
  const { port } = server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, headers: { host: 'localhost:3000', ...headers } }, response => {
        response.resume().on('end', () => resolve(seen))
      })
      .on('error', reject)
  })
}

describe('the demo mailbox', () => {
  it('may be seen by a direct request on loopback', async () => {
    expect(isDirectLocal(await ask())).toBe(true)
    expect(isDirectLocal(await ask({ host: '127.0.0.1:3000' }))).toBe(true)
    expect(isDirectLocal(await ask({ host: '[::1]:3000' }))).toBe(true)
  })

  it.each([
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-port',
    'x-forwarded-server',
    'x-forwarded',
    'x-original-forwarded-for',
    'x-client-ip',
    'cf-connecting-ip',
    'true-client-ip',
    'x-real-ip',
    'via',
  ])('may not when %s shows that something forwarded the request', async name => {
    expect(isDirectLocal(await ask({ [name]: '127.0.0.1' }))).toBe(false)
  })

  it.each(['holdpoint.example.com', 'localhost.evil.test', '127.0.0.1.evil.test', '10.0.0.1:3000', ':3000'])(
    'may not under the Host "%s"',
    async host => {
      expect(isDirectLocal(await ask({ host }))).toBe(false)
    },
  )

  it('may not where nothing is known of the socket, whatever the headers claim', async () => {
    expect(isDirectLocal(new Headers({ host: 'localhost:3000' }))).toBe(false)
    expect(isDirectLocal(new Headers({ host: 'localhost:3000', 'x-holdpoint-door': 'made-up 127.0.0.1 direct' }))).toBe(
      false,
    )
    const headers = await ask({ 'x-holdpoint-door': 'made-up 10.9.9.9 direct' })
    expect(readDoor(headers)).toEqual({ address: '127.0.0.1', forwarded: false })
  })
})

describe('the address that limits count', () => {
  it('is the peer’s, and X-Forwarded-For is not believed from just anybody', async () => {
    const headers = await ask({ 'x-forwarded-for': '203.0.113.9' })
    expect(clientAddress(headers, '')).toBe('127.0.0.1')
    expect(clientAddress(headers, '10.0.0.0/8')).toBe('127.0.0.1')
  })

  it('is read past the proxies that are named, from the right end', async () => {
    const headers = await ask({ 'x-forwarded-for': '198.51.100.7, 203.0.113.9, 10.1.2.3' })
    expect(clientAddress(headers, 'loopback')).toBe('10.1.2.3')
    expect(clientAddress(headers, '127.0.0.1, 10.0.0.0/8')).toBe('203.0.113.9')
    expect(clientAddress(await ask({ 'x-forwarded-for': 'nonsense' }), 'loopback')).toBe('127.0.0.1')
  })

  it('is unknown where nothing is known', () => {
    expect(clientAddress(new Headers({ 'x-forwarded-for': '203.0.113.9' }), 'loopback')).toBe('unknown')
  })
})
