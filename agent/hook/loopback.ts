/**
 * One request to a door of the daemon, on loopback or at its socket, over a bare connection. The process that a client starts per event cannot afford
 * `node:http`, whose loading alone costs more than the rest of it (measured: about 10 ms on top of `node:net`'s 1).
 */
import { connect } from 'node:net'

/** A door of the daemon: the port on loopback, or the path of its socket. */
export type DoorAddress = { port: number } | { socket: string }

/** What a request to the socket says for its host: no name of a machine, so that no browser can be led there. */
export const SOCKET_HOST = 'holdpoint'

export type LoopbackRequest = DoorAddress & {
  method: 'GET' | 'POST'
  path: string
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array | string
  /** Milliseconds for everything, connecting included. */
  timeoutMs: number
}
export type LoopbackAnswer = { status: number; body: string }

/** Why there was no answer. `down`: nobody listens there. */
export class LoopbackFailure extends Error {
  readonly code: 'down' | 'slow' | 'odd'
  constructor(code: LoopbackFailure['code'], message: string) {
    super(message)
    this.name = 'LoopbackFailure'
    this.code = code
  }
}

/** Nobody listens on the port; the socket is not there, or its daemon is gone. */
const DOWN = ['ECONNREFUSED', 'ENOENT']

/** An answer larger than this is not the daemon's. */
const ANSWER_MAX = 16 * 1024 * 1024

/**
 * Sends a request and reads the whole answer. HTTP/1.0: the server then ends the connection after an answer that it does
 * not cut into chunks, so that nothing needs parsing beyond the status line (RFC 9112 §2.3, §6.3).
 * @throws LoopbackFailure
 */
export function askLoopback(request: LoopbackRequest): Promise<LoopbackAnswer> {
  const { method, path, headers = {}, timeoutMs } = request
  const body = Buffer.from(request.body ?? '')
  const head = [
    `${method} ${path} HTTP/1.0`,
    `Host: ${'port' in request ? `127.0.0.1:${request.port}` : SOCKET_HOST}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value.replace(/[^\x20-\x7e]/g, '')}`),
    ...(method === 'POST' ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
  ]
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const socket = connect('port' in request ? { port: request.port, host: '127.0.0.1' } : { path: request.socket })
    const fail = (code: LoopbackFailure['code'], why: string) => {
      clearTimeout(timer)
      socket.destroy()
      reject(new LoopbackFailure(code, why))
    }
    const timer = setTimeout(() => fail('slow', `no answer within ${timeoutMs} ms`), timeoutMs)
    socket.on('error', (error: NodeJS.ErrnoException) =>
      fail(DOWN.includes(error.code ?? '') ? 'down' : 'odd', error.code ?? error.message),
    )
    socket.on('data', chunk => {
      chunks.push(chunk)
      size += chunk.length
      if (size > ANSWER_MAX) fail('odd', 'an endless answer')
    })
    socket.on('end', () => {
      clearTimeout(timer)
      socket.destroy()
      const text = Buffer.concat(chunks).toString('utf8')
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)
      const blank = text.indexOf('\r\n\r\n')
      if (!status || blank < 0) reject(new LoopbackFailure('odd', 'an answer that is not http'))
      else resolve({ status: Number(status[1]), body: text.slice(blank + 4) })
    })
    socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
  })
}
