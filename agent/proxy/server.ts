/** The proxy's server on loopback: who may ask, where it goes, what is done with it before, and what is learned from it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { sameSecret } from '#agent/crypto.ts'
import type { ObservedCall } from '#agent/otlp/observed.ts'
import { isLoopbackHost } from '#core/loopback.ts'
import type { Routing } from '#core/routing.ts'
import { fail } from './failure.ts'
import { observedCall } from './observed.ts'
import { type Agents, type Relayed, relay, type Upload } from './relay.ts'
import type { RouteCount, Router } from './router.ts'
import { type Target, targetOf } from './target.ts'
import { type Who, whoAsks } from './who.ts'
import { type WindowReading, type Windows, windowsIn } from './windows.ts'

/** A request that is longer goes on unread. */
const READ_MAX = 64 * 1024 * 1024

export type ProxyDeps = {
  routing(): Routing
  router: Router
  windows: Windows
  agents: Agents
  /** Takes a call whose usage was read. */
  meter(call: ObservedCall): void
  noteWindows(readings: readonly WindowReading[]): void
  now(): number
  log(line: string): void
  /** Opens the counts. */
  token: string
}

/** `untold`: answers that bore no counts; `unread`: in a packing that is not known here, or with counts that cannot be. */
export type ProxyCounts = {
  requests: number
  open: number
  metered: number
  untold: number
  unread: number
  stopped: number
  unanswered: number
  routes: RouteCount[]
  windows: WindowReading[]
}

export function makeProxy(deps: ProxyDeps): { server: Server; counts(): ProxyCounts } {
  const seen = { requests: 0, open: 0, metered: 0, untold: 0, unread: 0 }
  const counts = (): ProxyCounts => ({
    ...seen,
    stopped: deps.router.stopped,
    unanswered: deps.router.unanswered,
    routes: deps.router.all(),
    windows: deps.windows.all(),
  })
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (request, response) => {
    const stranger = strangerOf(request)
    if (stranger) return fail(response, stranger)
    if (request.url === '/holdpoint/status') {
      const given = /^Bearer ([\x21-\x7e]{1,200})$/.exec(request.headers.authorization ?? '')?.[1]
      if (given === undefined || !sameSecret(given, deps.token))
        return fail(response, {
          status: 401,
          type: 'forbidden',
          message: 'The token is missing or is not this proxy’s.',
        })
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify(counts()))
    }
    const { upstreams } = deps.routing()
    const target = targetOf(request.method ?? '', request.url ?? '', upstreams)
    if (!target) {
      const names = upstreams.map(({ name }) => `/${name}/`).join(', ')
      return fail(response, {
        status: 404,
        type: 'not_found_error',
        message: `Holdpoint’s proxy knows no upstream of this path. It begins with one of ${names}; see \`holdpoint proxy --help\`.`,
      })
    }
    seen.requests++
    seen.open++
    response.once('close', () => {
      seen.open--
    })
    handle(deps, seen, target, request, response).catch(error => {
      deps.log(`a request: ${(error as Error).message}`)
      fail(response, { status: 502, type: 'api_error', message: 'Holdpoint’s proxy failed at this.' }, target.protocol)
    })
  })
  server.on('upgrade', (_, socket) =>
    refuseSwitch(
      socket,
      'Holdpoint’s proxy has no WebSockets: switch them off in the client (Codex: supports_websockets = false).',
    ),
  )
  server.on('connect', (_, socket) =>
    refuseSwitch(socket, 'Holdpoint’s proxy is a base URL, not an HTTP proxy: see `holdpoint proxy --help`.'),
  )
  return { server, counts }
}

/** What a browser, or a page that had its name point here, would send. */
function strangerOf({ headers, socket, url }: IncomingMessage) {
  const forbidden = (status: number, message: string) => ({ status, type: 'forbidden', message })
  const host = /^(\[[0-9a-f:]+\]|[^:]*)(?::(\d+))?$/i.exec(headers.host ?? '')
  if (!host || !isLoopbackHost(host[1]!.toLowerCase()) || host[2] !== String(socket.localPort))
    return forbidden(421, 'This proxy answers to its own address only.')
  // Node's own fetch sends Sec-Fetch-Mode, and programs use it; the site only browsers send
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined)
    return forbidden(403, 'No browser comes through this proxy.')
  if (!url?.startsWith('/')) return forbidden(400, 'The request’s target is no path.')
  return undefined
}

function refuseSwitch(socket: Duplex, message: string): void {
  const body = JSON.stringify({ type: 'error', error: { type: 'not_supported', message, param: null, code: null } })
  socket.on('error', () => {})
  socket.end(
    `HTTP/1.1 501 Not Implemented\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** What each client shows once and does not try again (measured): 402, but Codex tries a 402 again and a 400 not. */
const stoppedFor = ({ client }: Who, message: string) => ({
  status: client === 'codex' ? 400 : 402,
  type: 'holdpoint_boundary',
  message,
})

type Seen = { metered: number; untold: number; unread: number }

async function handle(
  deps: ProxyDeps,
  seen: Seen,
  target: Target,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { agents, router, windows, now } = deps
  const who = whoAsks(request.headers)
  let upload: Upload = {}
  if (target.protocol !== undefined && router.reads()) {
    const read = await readUpTo(request, READ_MAX)
    if (read === undefined) return
    const isReadable = read.whole && request.headers['content-encoding'] === undefined
    const decided = await router.decide(target, who, isReadable ? read.body : undefined)
    if (decided.stop) {
      if (!read.whole) request.resume()
      return fail(response, stoppedFor(who, decided.stop.text), target.protocol)
    }
    upload = { body: decided.body ?? read.body, ...(read.whole ? {} : { left: request }) }
  }
  if (response.destroyed) return
  const onHeaders = (status: number, headers: IncomingMessage['headers']) => {
    if (status >= 500) return
    const readings = windowsIn(headers, target.upstream.provider, now())
    if (readings.length === 0) return
    windows.note(readings)
    deps.noteWindows(readings)
  }
  relay(
    { request, response, target, agents, upload },
    { onHeaders, onEnd: done => meterAnswer(deps, seen, target, who, done) },
  )
}

function meterAnswer(deps: ProxyDeps, seen: Seen, target: Target, who: Who, { usage, packed, headers }: Relayed): void {
  if (packed !== undefined) seen.unread++
  if (!usage) return
  const call = observedCall(target, who, usage, headers, deps.now())
  if (!call) {
    seen.unread++
    return
  }
  if (usage.told) seen.metered++
  else seen.untold++
  deps.meter(call)
}

/** A body up to a size; what is longer stays in the request, paused. Undefined when its sender has gone. */
function readUpTo(request: IncomingMessage, max: number): Promise<{ body: Buffer; whole: boolean } | undefined> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let size = 0
    const done = (read: { body: Buffer; whole: boolean } | undefined) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      resolve(read)
    }
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= max) return
      request.pause()
      done({ body: Buffer.concat(chunks), whole: false })
    }
    const onEnd = () => done({ body: Buffer.concat(chunks), whole: true })
    const onGone = () => done(undefined)
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}
