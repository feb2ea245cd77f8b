import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeDoor, type Route } from '#agent/daemon/door.ts'

/** Any user of a machine can connect to the daemon's port. None of them may keep it from judging. */
const SECRETS = { port: 0, hookToken: 'hook-token', apiToken: 'api-token', otlpToken: 'otlp-token' }
let door: Server
let asked: number
const sockets: Peer[] = []

beforeEach(async () => {
  asked = 0
  const handle = () => ({ status: 200, body: { n: ++asked } })
  const routes: Route[] = [
    { method: 'GET', path: /^\/prove$/, token: 'none', handle },
    { method: 'GET', path: /^\/api\/status$/, token: 'api', handle },
  ]
  door = makeDoor(
    () => SECRETS,
    routes,
    () => {},
  )
  await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve))
  SECRETS.port = (door.address() as AddressInfo).port
})
afterEach(async () => {
  for (const { socket } of sockets.splice(0)) socket.destroy()
  await new Promise(resolve => door.close(resolve))
})

type Peer = { socket: Socket; said: string; closed: Promise<void>; isClosed: boolean }
async function come(): Promise<Peer> {
  const socket = connect(SECRETS.port, '127.0.0.1')
  const peer: Peer = { socket, said: '', closed: Promise.resolve(), isClosed: false }
  sockets.push(peer)
  peer.closed = new Promise(resolve =>
    socket.on('close', () => {
      peer.isClosed = true
      resolve()
    }),
  )
  socket.on('data', chunk => {
    peer.said += String(chunk)
  })
  socket.on('error', () => {})
  await new Promise<void>(resolve => socket.once('connect', resolve))
  return peer
}
const request = (path: string, token?: string) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${SECRETS.port}\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`
const answers = ({ said }: Peer) => said.split('HTTP/1.1 ').length - 1
const heard = async (peer: Peer, n: number) => {
  while (answers(peer) < n) await new Promise(resolve => peer.socket.once('data', resolve))
}

describe('whoever has brought no token', () => {
  it.each([
    ['/prove', undefined],
    ['/api/status', 'wrong'],
    ['/nothing', undefined],
  ])('is answered once and let go, however much was written at once (%s)', async (path, token) => {
    const peer = await come()
    peer.socket.write(request(path, token).repeat(500))
    await peer.closed
    expect(answers(peer)).toBe(1)
    expect(asked).toBeLessThanOrEqual(1)
  })

  it('is let go, the oldest first, when there are too many', async () => {
    const first = await come()
    const others: Peer[] = []
    for (let i = 0; i < 140; i++) others.push(await come())
    await first.closed
    await Promise.all(others.slice(0, 12).map(peer => peer.closed))
    const last = others.at(-1)!
    last.socket.write(request('/prove'))
    await last.closed
    expect(answers(last)).toBe(1)
    expect(others.filter(peer => !peer.isClosed)).toHaveLength(127)
  })
})

describe('whoever has brought the token', () => {
  it('keeps the connection, whoever else comes, and may ask on', async () => {
    const own = await come()
    own.socket.write(request('/api/status', SECRETS.apiToken))
    await heard(own, 1)
    for (let i = 0; i < 140; i++) await come()
    own.socket.write(request('/api/status', SECRETS.apiToken).repeat(3))
    await heard(own, 4)
    expect(own.isClosed).toBe(false)
    expect(asked).toBe(4)
  })
})
