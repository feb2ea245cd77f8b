import { connect, type Socket } from 'node:net'

export type Load = {
  port: number
  method: 'GET' | 'HEAD'
  path: string
  headers?: Record<string, string>
  /** Every answer must have this status; a server that refuses quickly is not fast. */
  status: number
  /** Every answer must have this header. */
  header?: string
}

/**
 * Requests a second that a server answers to so many connections, each asking again as soon as it has been answered.
 * Bare sockets: a client library would cost more than the server and make any two servers look alike.
 */
export async function requestsPerSecond(load: Load, connections: number, ms: number): Promise<number> {
  const head = [
    `${load.method} ${load.path} HTTP/1.1`,
    `Host: 127.0.0.1:${load.port}`,
    ...Object.entries(load.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ]
  const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n`)
  const started = performance.now()
  let answered = 0
  await Promise.all(
    Array.from({ length: connections }, () =>
      keepAsking(load, request, () => {
        answered++
        return performance.now() - started < ms
      }),
    ),
  )
  return (answered * 1000) / (performance.now() - started)
}

/** One connection: asks, reads the answer to its end, and asks again while `more` says so. */
function keepAsking(load: Load, request: Buffer, more: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket: Socket = connect({ port: load.port, host: '127.0.0.1' }, () => socket.write(request))
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    socket.on('error', fail)
    socket.on('end', () => fail(new Error(`${load.path}: the server ended the connection`)))
    socket.on('data', part => {
      text += part
      const length = answerLength(text, load.method)
      if (length === undefined) return
      if (!text.startsWith(`HTTP/1.1 ${load.status} `) || (load.header && !text.includes(`\r\n${load.header}: `)))
        return fail(new Error(`${load.path} answered: ${text.slice(0, 400)}`))
      text = text.slice(length)
      if (more()) return void socket.write(request)
      socket.destroy()
      resolve()
    })
  })
}

/** How many bytes the answer at the beginning of `text` has; undefined while it is not whole (RFC 9112 §6.3). */
function answerLength(text: string, method: string): number | undefined {
  const blank = text.indexOf('\r\n\r\n')
  if (blank < 0) return undefined
  const body = blank + 4
  if (method === 'HEAD' || /^HTTP\/1\.1 (204|304)/.test(text)) return body
  const head = text.slice(0, body)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length !== undefined) return text.length >= body + Number(length) ? body + Number(length) : undefined
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return undefined
  if (text.startsWith('0\r\n\r\n', body)) return body + 5
  const end = text.indexOf('\r\n0\r\n\r\n', body)
  return end < 0 ? undefined : end + 7
}
