import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { LONG_POLL_MS, RULE_SET_MAX } from '#core/limits.ts'
import {
  AnswersAnswer,
  API,
  FileAnswer,
  FRESH_HEADER,
  ReportAnswer,
  RootsAnswer,
  WaitAnswer,
  type WithdrawBody,
} from '#core/protocol.ts'
import { UsageAnswer } from '#core/usage/upload.ts'

/** An answer of the control plane is read up to this, whatever it claims its length to be. */
const BODY_MAX = 4 * RULE_SET_MAX
const TIMEOUT_MS = 15_000
/** Forty days of usage are priced before they are answered. */
const USAGE_TIMEOUT_MS = 60_000

/** No usable answer. `code`: the control plane's own, or what kept us from it. */
export class ControlPlaneError extends Error {
  constructor(
    /** `unreachable`, `malformed`, or a code of core/error.ts. */
    readonly code: string,
    readonly status: number,
    message: string,
    /** The closed reason that some refusals carry beside their code. */
    readonly why?: string,
    /** The highest number that was used, where a number was refused as used. */
    readonly seq?: number,
  ) {
    super(message)
    this.name = 'ControlPlaneError'
  }
  /** The token is no longer one: the machine was revoked or has left. */
  get revoked(): boolean {
    return this.status === 401 && this.code === 'NOT_SIGNED_IN'
  }
}

type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

/** The connector's side of `/api/v1` (core/protocol.ts). Redirects are not followed; https, or http to loopback. */
export class ControlPlane {
  constructor(
    private readonly origin: string,
    private readonly token: string,
  ) {}

  private checkOrigin(): void {
    const { protocol, hostname } = URL.canParse(this.origin) ? new URL(this.origin) : { protocol: '', hostname: '' }
    const loopback = hostname === '127.0.0.1' || hostname === 'localhost' || hostname === '[::1]'
    if (protocol !== 'https:' && !(protocol === 'http:' && loopback))
      throw new ControlPlaneError('malformed', 0, 'The control plane’s address must be https.')
  }

  async roots(after: number): Promise<RootsAnswer> {
    return parse(RootsAnswer, await this.call('GET', `/roots?after=${after}`))
  }

  /** `rules` is absent when nothing has changed, or nothing was ever published; `fresh` comes with every answer. */
  async rules(
    etag: string | undefined,
    signal?: AbortSignal,
  ): Promise<{ rules?: string; fresh?: string; etag?: string }> {
    const reply = await this.call('GET', '/rules', {
      ...(etag ? { headers: { 'if-none-match': etag } } : {}),
      ...(signal ? { signal } : {}),
    })
    const fresh = reply.headers[FRESH_HEADER]
    return {
      ...(reply.status === 200 ? { rules: reply.body } : {}),
      ...(typeof fresh === 'string' ? { fresh } : {}),
    }
  }

  /** Held by the control plane until there is something newer, at most {@link LONG_POLL_MS}. */
  async wait(rules: string | undefined, answers: number, signal: AbortSignal): Promise<WaitAnswer> {
    const query = new URLSearchParams({ ...(rules ? { rules } : {}), answers: String(answers) })
    return parse(WaitAnswer, await this.call('GET', `/wait?${query}`, { signal, timeoutMs: LONG_POLL_MS + TIMEOUT_MS }))
  }

  async file(request: string): Promise<FileAnswer> {
    return parse(FileAnswer, await this.call('POST', '/approvals', { body: { request } }))
  }

  async answers(after: number): Promise<AnswersAnswer> {
    return parse(AnswersAnswer, await this.call('GET', `/answers?after=${after}`))
  }

  async withdraw(handle: string, body: WithdrawBody): Promise<FileAnswer> {
    return parse(FileAnswer, await this.call('POST', `/approvals/${handle}/withdraw`, { body }))
  }

  async report(report: string): Promise<ReportAnswer> {
    return parse(ReportAnswer, await this.call('POST', '/reports', { body: { report } }))
  }

  async usage(usage: string): Promise<UsageAnswer> {
    return parse(UsageAnswer, await this.call('POST', '/usage', { body: { usage }, timeoutMs: USAGE_TIMEOUT_MS }))
  }

  /** How far the organisation's budgets are used: a JWS, not yet verified. */
  async budgets(): Promise<string> {
    return (await this.call('GET', '/budgets')).body
  }

  private async call(
    method: string,
    path: string,
    {
      body,
      headers = {},
      signal,
      timeoutMs = TIMEOUT_MS,
    }: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<Reply> {
    this.checkOrigin()
    const reply = await send(`${this.origin}${API}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        accept: 'application/json',
        'cache-control': 'no-cache',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      timeoutMs,
    })
    if (reply.status === 304 || (reply.status >= 200 && reply.status < 300)) return reply
    throw refused(reply)
  }
}

function refused({ status, body }: Reply): ControlPlaneError {
  try {
    const { error } = JSON.parse(body) as {
      error?: { code?: unknown; message?: unknown; details?: { why?: unknown; seq?: unknown } }
    }
    if (typeof error?.code === 'string') {
      // a control plane that fails inside is, for us, one that is not there
      const code = error.code === 'UNAVAILABLE' || error.code === 'INTERNAL' ? 'unreachable' : error.code
      const why = typeof error.details?.why === 'string' ? error.details.why : undefined
      const seq = Number.isSafeInteger(error.details?.seq) ? (error.details?.seq as number) : undefined
      return new ControlPlaneError(code, status, String(error.message ?? '').slice(0, 300), why, seq)
    }
  } catch {
    // not the control plane's own words: a proxy's page, or an odd answer
  }
  return new ControlPlaneError(
    // a proxy that wants to know who asks says nothing about this machine's token
    status >= 500 || [401, 407, 429].includes(status) ? 'unreachable' : 'malformed',
    status,
    `The control plane answered ${status}.`,
  )
}

function parse<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  reply: Reply,
): T {
  let value: unknown
  try {
    value = JSON.parse(reply.body)
  } catch {
    throw new ControlPlaneError('malformed', reply.status, 'The control plane’s answer is no JSON.')
  }
  const read = schema.safeParse(value)
  if (!read.success)
    throw new ControlPlaneError('malformed', reply.status, 'The control plane’s answer is not of the agreed form.')
  return read.data
}

/** One bounded exchange. `timeoutMs` bounds the whole of it, reading included. */
function send(
  url: string,
  options: { method: string; headers: Record<string, string>; body?: string; signal?: AbortSignal; timeoutMs: number },
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const unreachable = (why: string) =>
      reject(new ControlPlaneError('unreachable', 0, `The control plane cannot be reached: ${why}.`))
    const { method, body, headers, signal, timeoutMs } = options
    const start = url.startsWith('https:') ? httpsRequest : httpRequest
    const request = start(url, {
      method,
      headers:
        body === undefined
          ? headers
          : { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
      ...(signal ? { signal } : {}),
    })
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    request.on('error', error => {
      clearTimeout(timer)
      unreachable(error.message)
    })
    request.on('response', response => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > BODY_MAX) request.destroy(new Error('its answer has no end'))
        else chunks.push(chunk)
      })
      response.on('error', error => unreachable(error.message))
      response.on('end', () => {
        clearTimeout(timer)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        })
      })
    })
    request.end(body)
  })
}
