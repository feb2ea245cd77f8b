import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { endChildren } from '#server/boot/child.mjs'
import { answering, findPort, startServer } from '#server/boot/serving.mjs'

/** Whoever opens the printed address must reach this server, and no other program of the machine. */
let data: string
let port: number
const strangers: net.Server[] = []
const listen = (at: number, host: string) =>
  new Promise<net.Server>((resolve, reject) => {
    const server = net.createServer(socket => socket.end('HTTP/1.1 200 OK\r\n\r\nstranger'))
    strangers.push(server)
    server.once('error', reject).listen(at, host, () => resolve(server))
  })

beforeEach(async () => {
  data = fs.mkdtempSync(path.join(os.tmpdir(), 'serving-'))
  const probe = await listen(0, '127.0.0.1')
  port = (probe.address() as net.AddressInfo).port
  await new Promise(resolve => probe.close(resolve))
  vi.stubEnv('PORT', String(port))
  vi.stubEnv('HOST', '')
})
afterEach(async () => {
  await endChildren()
  for (const server of strangers.splice(0)) server.close()
  vi.unstubAllEnvs()
  fs.rmSync(data, { recursive: true, force: true })
})

/** A server as Next's is: it tries to listen, and ends when it cannot, some time later. */
function server() {
  const file = path.join(data, 'server.mjs')
  fs.writeFileSync(
    file,
    `import http from 'node:http'
    const server = http.createServer((_, response) => response.end('ours'))
    server.on('error', () => setTimeout(() => process.exit(1), 300))
    server.listen(${port}, '127.0.0.1')`,
  )
  return startServer([file], { ...process.env } as Record<string, string>)
}
const ask = async (host: string) => (await fetch(`http://${host}:${port}/`)).text()

describe('a server that was started', () => {
  it('has both addresses of localhost, which a browser takes for one', async () => {
    await answering(server())
    expect(await ask('127.0.0.1')).toBe('ours')
    expect(await ask('[::1]')).toBe('ours')
    await expect(listen(port, '::1')).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  it('is not taken to answer when another program took the port meanwhile', async () => {
    await listen(port, '127.0.0.1')
    await expect(answering(server())).rejects.toThrow('the server ended before it answered')
  })

  it('ends when another program took the other address meanwhile', async () => {
    await listen(port, '::1')
    await expect(answering(server())).rejects.toThrow('the server ended before it answered')
  })
})

describe('the port that is wanted', () => {
  it('is taken when another program listens on the other address of localhost', async () => {
    await listen(port, '::1')
    await expect(findPort(data)).rejects.toThrow(`Port ${port} is in use by another program (::1).`)
  })

  it('is free then for a server that nobody reaches by localhost', async () => {
    await listen(port, '::1')
    vi.stubEnv('HOLDPOINT_PUBLIC_URL', 'https://holdpoint.example.com')
    expect(await findPort(data)).toBeUndefined()
  })
})
