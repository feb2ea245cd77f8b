/** What the proxy says itself, in the form in which each provider's clients read an error. */
import type { ServerResponse } from 'node:http'
import type { Protocol } from './target.ts'

export type Failure = { status: number; type: string; message: string }

/** One body that both forms read: Anthropic's `type` and `error.type`, OpenAI's `error.code` and `error.param`. */
export function bodyOf({ type, message }: Failure, protocol: Protocol | undefined): string {
  if (protocol === 'messages') return JSON.stringify({ type: 'error', error: { type, message } })
  if (protocol !== undefined) return JSON.stringify({ error: { message, type, param: null, code: type } })
  return JSON.stringify({ type: 'error', error: { type, message, param: null, code: type } })
}

/** Answers, unless an answer has begun. */
export function fail(response: ServerResponse, failure: Failure, protocol?: Protocol): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = Buffer.from(`${bodyOf(failure, protocol)}\n`)
  response.writeHead(failure.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(failure.status < 500 ? { 'x-should-retry': 'false' } : {}),
  })
  response.end(body)
}
