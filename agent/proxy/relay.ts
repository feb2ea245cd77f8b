/** One request on its way to its upstream and back, byte for byte. */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { type AgentOptions, type Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { AnswerReader, type AnswerUsage } from './answer-usage.ts'
import { httpsAgent, type ProxyEnv } from './company-proxy.ts'
import { makeDecoder, UNREAD_ENCODINGS } from './decode.ts'
import { fail } from './failure.ts'
import { passedOn, withoutEncodings } from './headers.ts'
import type { Target } from './target.ts'
import { OWN_HEADERS } from './who.ts'

/** Connections to upstreams are kept for the next request, and let go before the other side is likely to. */
const IDLE_MS = 15_000
const KEPT = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 256, timeout: IDLE_MS }

export type Agents = { http: HttpAgent; https: HttpsAgent }
export const makeAgents = (env: ProxyEnv, tls: Pick<AgentOptions, 'ca'> = {}): Agents => ({
  http: new HttpAgent(KEPT),
  https: httpsAgent({ ...KEPT, ...tls }, env),
})

/** What an exchange came to. `usage` is absent where nothing could be read; `packed`: in a packing that is not known here. */
export type Relayed = {
  status: number
  headers: IncomingMessage['headers']
  usage?: AnswerUsage
  packed?: string
}

/** What goes up: the client's own bytes as they come, or a body that was read whole. `left`: what of it is still to come. */
export type Upload = { body?: Uint8Array; left?: IncomingMessage }

const NOT_PASSED = new Set(['host', 'expect'])
const NOT_PASSED_WITH_BODY = new Set([...NOT_PASSED, 'content-length'])

/**
 * Sends a request on and its answer back. Whoever goes away takes the other side with them. `onHeaders` hears of the answer
 * when it begins, `onEnd` once when all is over.
 */
export function relay(
  exchange: { request: IncomingMessage; response: ServerResponse; target: Target; agents: Agents; upload: Upload },
  heard: { onHeaders(status: number, headers: IncomingMessage['headers']): void; onEnd(done: Relayed): void },
): void {
  const { request, response, target, agents, upload } = exchange
  const url = new URL(target.upstream.url)
  const isTls = url.protocol === 'https:'
  const { body, left } = upload
  const up = (isTls ? requestHttps : requestHttp)({
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (isTls ? 443 : 80),
    method: request.method ?? 'GET',
    path: target.path,
    agent: isTls ? agents.https : agents.http,
    headers: upHeaders(request, url.host, target.protocol !== undefined, body, left) as unknown as Record<
      string,
      string
    >,
  })
  // a client that has gone takes its request with it
  response.once('close', () => {
    if (!response.writableFinished) up.destroy()
  })
  up.on('error', () => {
    fail(
      response,
      { status: 502, type: 'api_error', message: `Holdpoint’s proxy could not reach ${url.host}.` },
      target.protocol,
    )
  })
  up.on('response', answer => giveBack(answer, response, target, heard))
  if (body !== undefined && left === undefined) up.end(body)
  else {
    if (body !== undefined) up.write(body)
    const rest = left ?? request
    rest.pipe(up)
    // a client that has gone before it had sent all
    rest.once('close', () => {
      if (!rest.complete) up.destroy()
    })
  }
}

function upHeaders(
  request: IncomingMessage,
  host: string,
  isRead: boolean,
  body: Uint8Array | undefined,
  left: IncomingMessage | undefined,
): string[] {
  const isWhole = body !== undefined && left === undefined
  const kept = passedOn(request.rawHeaders, isWhole ? NOT_PASSED_WITH_BODY : NOT_PASSED, OWN_HEADERS)
  const asked = isRead ? withoutEncodings(kept, UNREAD_ENCODINGS) : kept
  const length = isWhole ? ['Content-Length', String(body.length)] : []
  // what came in pieces goes on in pieces; a request without a body has none there either
  const { 'transfer-encoding': coding, 'content-length': said } = request.headers
  const chunked = !isWhole && coding !== undefined ? ['Transfer-Encoding', 'chunked'] : []
  const none = !isWhole && coding === undefined && said === undefined && hasBody(request) ? ['Content-Length', '0'] : []
  return ['Host', host, ...asked, ...length, ...chunked, ...none]
}

/** Methods to which Node would otherwise add an encoding of its own. */
const hasBody = ({ method }: IncomingMessage) => method === 'POST' || method === 'PUT' || method === 'PATCH'

const NONE = new Set<string>()

/** A stream whose first event comes late has its headers at once; else they go with it in one write. */
function flushUnlessData(answer: IncomingMessage, response: ServerResponse): void {
  let hasData = false
  answer.once('data', () => {
    hasData = true
  })
  setImmediate(() => {
    if (!hasData && !response.destroyed) response.flushHeaders()
  })
}

function giveBack(
  answer: IncomingMessage,
  response: ServerResponse,
  target: Target,
  heard: Parameters<typeof relay>[1],
): void {
  const status = answer.statusCode ?? 502
  heard.onHeaders(status, answer.headers)
  const { protocol } = target
  const isRead = protocol !== undefined && status >= 200 && status < 300
  const type = answer.headers['content-type'] ?? ''
  const reader = isRead ? new AnswerReader(protocol, /^text\/event-stream/i.test(type)) : undefined
  const decoder = reader && makeDecoder(answer.headers['content-encoding'], chunk => reader.take(chunk))
  if (decoder) answer.on('data', chunk => decoder.take(chunk as Buffer))
  response.sendDate = false
  response.writeHead(status, answer.statusMessage, passedOn(answer.rawHeaders, NONE))
  answer.pipe(response)
  flushUnlessData(answer, response)
  answer.on('error', () => {})
  // an answer that broke off is not made to look whole: its client's connection breaks off as well
  answer.once('close', () => {
    if (!answer.complete) response.destroy()
    const done = { status, headers: answer.headers }
    if (!reader) return heard.onEnd(done)
    if (!decoder) return heard.onEnd({ ...done, packed: answer.headers['content-encoding'] ?? '' })
    void decoder.end().then(() => {
      const usage = reader.end(answer.complete)
      heard.onEnd({ ...done, ...(usage ? { usage } : {}) })
    })
  })
}
