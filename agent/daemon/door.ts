import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv4, type Socket } from 'node:net'
import { sameSecret } from '#agent/crypto.ts'
import { SOCKET_HOST } from '#agent/hook/loopback.ts'
import { HOOK_BODY_MAX } from '#core/limits.ts'

/** Bodies of the local API are a few fields. */
const API_BODY_MAX = 64 * 1024
/** A body that does not come in this time is not waited for. */
const BODY_MS = 2000
/**
 * Connections to the port that have brought no token; of more the oldest is let go. Any user of the machine can open them, and
 * by the thousand they would keep the daemon from everything else for longer than a hook waits.
 */
const STRANGERS_MAX = 128

export type Reply = {
  status: number
  body?: unknown
  text?: string /** Instead, with their type. */
  bytes?: Buffer
  type?: string
}
export type Incoming = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Buffer
  /** When it came, as `performance.now()` has it; over the socket when it was sent. */
  arrivedMs: number
}

/** Exporters take a header from the environment, where its space is written `%20`; some send it as it stands there. */
const BEARER = { plain: /^Bearer ([\x21-\x7e]{1,200})$/, asSet: /^Bearer(?: |%20)([\x21-\x7e]{1,200})$/ }

const JSON_ALONE = { pattern: /^application\/json\s*(;.*)?$/i, words: 'The body must be application/json.' }

/** How a request comes in: over a port of this machine, or over the socket that only this user can open. */
export type Way = 'loopback' | 'socket'

/** What lies behind the door. `token`: which secret opens it. */
export type Route = {
  method: 'GET' | 'POST'
  path: RegExp
  token: 'hook' | 'api' | 'otlp' | 'none'
  bodyMax?: number
  /** Types of the body, and what is said to any other; JSON when absent. */
  types?: { pattern: RegExp; words: string }
  handle(incoming: Incoming, match: RegExpExecArray): Reply | Promise<Reply>
}

export type DoorSecrets = { port: number; hookToken: string; apiToken: string; otlpToken: string }

const refuse = (status: number, code: string, message: string): Reply => ({
  status,
  body: { error: { code, message } },
})

/**
 * The daemon's HTTP server, once on loopback and once on its socket. Before anything is read it refuses what a browser or
 * another program could send: a Host that is not exactly ours, any Origin or Sec-Fetch header, a missing or wrong token,
 * another type. At the socket the folder's mode stands for the hook's token, and the API is not there.
 */
export function makeDoor(
  secrets: () => DoorSecrets,
  routes: readonly Route[],
  onError: (error: unknown) => void,
  way: Way = 'loopback',
): Server {
  const behind = way === 'socket' ? routes.filter(({ token }) => token === 'hook' || token === 'none') : routes
  const strangers = new Strangers()
  const server = createServer(
    { maxHeaderSize: 32 * 1024, requestTimeout: 10_000, headersTimeout: 5000 },
    (request, response) => {
      if (!strangers.mayAsk(request.socket)) return
      const arrivedMs = performance.now()
      serve(request, arrivedMs, secrets(), behind, onError, way, strangers)
        .catch(error => {
          onError(error)
          return refuse(500, 'INTERNAL', 'The daemon failed at this.')
        })
        .then(reply => answer(request, response, reply, strangers.has(request.socket)))
    },
  )
  server.keepAliveTimeout = 60_000
  if (way === 'loopback') server.on('connection', (socket: Socket) => strangers.add(socket))
  return server
}

/** Whoever came to the port and has shown no token: a bounded number, with one question each. */
class Strangers {
  private readonly open = new Set<Socket>()
  private readonly asked = new WeakSet<Socket>()

  add(socket: Socket): void {
    this.open.add(socket)
    socket.once('close', () => this.open.delete(socket))
    const [oldest] = this.open
    if (this.open.size > STRANGERS_MAX) oldest!.destroy()
  }

  has(socket: Socket): boolean {
    return this.open.has(socket)
  }

  /** False for the second question of a stranger, of which one write can hold hundreds. */
  mayAsk(socket: Socket): boolean {
    if (!this.open.has(socket)) return !this.asked.has(socket)
    if (this.asked.has(socket)) return false
    this.asked.add(socket)
    return true
  }

  /** A right token came. */
  know(socket: Socket): void {
    this.open.delete(socket)
    this.asked.delete(socket)
  }
}

async function serve(
  request: IncomingMessage,
  arrivedMs: number,
  secrets: DoorSecrets,
  routes: readonly Route[],
  onError: (error: unknown) => void,
  way: Way,
  strangers: Strangers,
): Promise<Reply> {
  const { headers, method = '', url = '' } = request
  if (headers.host !== (way === 'socket' ? SOCKET_HOST : `127.0.0.1:${secrets.port}`))
    return refuse(421, 'FORBIDDEN', 'This door answers to its own address only.')
  if (headers.origin !== undefined || Object.keys(headers).some(name => name.startsWith('sec-fetch-')))
    return refuse(403, 'FORBIDDEN', 'No browser comes through this door.')
  const remote = request.socket.remoteAddress ?? ''
  if (way === 'loopback' && (!isIPv4(remote) || !remote.startsWith('127.')))
    return refuse(403, 'FORBIDDEN', 'This door is on loopback.')
  const target = URL.canParse(url, 'http://127.0.0.1') ? new URL(url, 'http://127.0.0.1') : undefined
  if (!target) {
    onError(`a request whose target is no address was refused: ${JSON.stringify(url.slice(0, 80))}`)
    return refuse(400, 'BAD_INPUT', 'The request’s target is no address.')
  }
  const { pathname, searchParams } = target
  const found = routes
    .map(route => ({ route, match: route.path.exec(pathname) }))
    .find(({ route, match }) => match && route.method === method)
  if (!found?.match) {
    const other = routes.find(route => route.path.test(pathname))
    return other
      ? refuse(405, 'BAD_INPUT', `This takes ${other.method}.`)
      : refuse(404, 'NOT_FOUND', 'There is nothing here.')
  }
  const { route, match } = found
  if (route.token !== 'none' && way === 'loopback') {
    const given = BEARER[route.token === 'otlp' ? 'asSet' : 'plain'].exec(headers.authorization ?? '')?.[1]
    const wanted = { hook: secrets.hookToken, api: secrets.apiToken, otlp: secrets.otlpToken }[route.token]
    if (given === undefined || !sameSecret(given, wanted))
      return refuse(401, 'NOT_SIGNED_IN', 'The token is missing or is not this door’s.')
    strangers.know(request.socket)
  }
  let body: Buffer = Buffer.alloc(0)
  if (method === 'POST') {
    const { pattern, words } = route.types ?? JSON_ALONE
    if (!pattern.test(headers['content-type'] ?? '')) return refuse(415, 'BAD_INPUT', words)
    const max = route.bodyMax ?? API_BODY_MAX
    if (Number(headers['content-length'] ?? 0) > max)
      return refuse(413, 'TOO_LARGE', 'The body is larger than allowed.')
    const read = await readBody(request, max)
    if (read === 'too large') return refuse(413, 'TOO_LARGE', 'The body is larger than allowed.')
    if (read === 'too slow') return refuse(408, 'BAD_INPUT', 'The body did not come in time.')
    body = read
  }
  const sentMs = way === 'socket' ? arrivedMs - waitedMs(headers['x-holdpoint-sent']) : arrivedMs
  return route.handle({ method, path: pathname, query: searchParams, headers, body, arrivedMs: sentMs }, match)
}

/**
 * How long a request had waited for this process before it came in. Its hook waits two seconds from when it was sent, and
 * what is decided after that binds nobody.
 */
function waitedMs(sent: string | string[] | undefined): number {
  const at = typeof sent === 'string' && /^\d{1,15}$/.test(sent) ? Number(sent) : Date.now()
  return Math.max(0, Date.now() - at)
}

/** The parsed body of an API call: an object with no other members than those named. */
export function readFields(body: Buffer, allowed: readonly string[]): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body.toString('utf8') || '{}') as unknown
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return Object.keys(value).every(key => allowed.includes(key)) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

export const hookBodyMax = HOOK_BODY_MAX
export { refuse as refuseRequest }

function readBody(request: IncomingMessage, max: number): Promise<Buffer | 'too large' | 'too slow'> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const timer = setTimeout(() => {
      request.removeAllListeners('data')
      resolve('too slow')
    }, BODY_MS)
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > max) {
        clearTimeout(timer)
        request.removeAllListeners('data')
        resolve('too large')
      } else chunks.push(chunk)
    })
    request.on('end', () => {
      clearTimeout(timer)
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    request.on('error', error => {
      clearTimeout(timer)
      reject(error)
    })
  })
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, text, bytes, type }: Reply,
  isStranger: boolean,
): void {
  // what is left of a refused body is not read, and neither is what a stranger has still to say
  const isLast = status === 413 || status === 408 || isStranger
  if (isStranger) request.socket.pause()
  // text, not bytes: head and body then leave in one write
  const written = bytes ?? text ?? (body === undefined ? '' : JSON.stringify(body))
  response.writeHead(status, {
    'content-type':
      type ?? (text === undefined || text.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8'),
    // a length, never chunks: the process that a client starts per event reads to the end of the connection
    'content-length': Buffer.byteLength(written),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(isLast ? { connection: 'close' } : {}),
  })
  response.end(written)
  if (isLast) response.once('finish', () => request.destroy())
}
