import type { Server } from 'node:http'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { proof, random, sameSecret } from '#agent/crypto.ts'
import { hex } from '#core/bytes.ts'

/** Opens a server on 127.0.0.1; resolves with the port it got. */
export function openPort(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Ports of the first start: below those that systems hand out for outgoing connections, where one would be taken by chance. */
const FIRST_PORT = 21_000
const PORTS = 10_000

/** Opens a server on a port that nobody has; it stays this machine's. */
export async function openFreePort(server: Server, random2: () => Uint8Array): Promise<number> {
  for (let tries = 0; tries < 20; tries++) {
    const [high = 0, low = 0] = random2()
    try {
      return await openPort(server, FIRST_PORT + ((high * 256 + low) % PORTS))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  return openPort(server, 0)
}

/** Whether whoever listens on a port holds this machine's secret. */
export function proves(port: number, secret: Uint8Array): Promise<boolean> {
  const n = hex(random(16))
  return new Promise(resolve => {
    const asked = request({ host: '127.0.0.1', port, path: `/prove?n=${n}`, timeout: 1000 }, response => {
      let text = ''
      response.on('data', chunk => {
        text += String(chunk)
        if (text.length > 1000) asked.destroy()
      })
      response.on('end', () => resolve(sameSecret(text.trim(), proof(secret, n))))
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
    asked.on('close', () => resolve(false))
    asked.end()
  })
}
