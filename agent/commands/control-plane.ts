/** One request of a command to the control plane. Redirects are not followed: a token goes to one address only. */

import { plainDeep } from '#agent/terminal.ts'
import { API } from '#core/protocol.ts'
import { CommandFailure } from './exit.ts'

export type PlaneRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/api/v1/`. */
  path: string
  token?: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
  timeoutMs?: number
}
export type PlaneAnswer = { status: number; text: string; headers: Headers }

/** What the control plane refused: its own code, words and facts. */
export class PlaneRefusal extends CommandFailure {
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  constructor(
    status: number,
    code: string,
    message: string,
    remedy: string | undefined,
    details: Record<string, unknown>,
  ) {
    super('failed', code, message, remedy)
    this.status = status
    this.details = details
  }
}

/** @throws CommandFailure `unreachable`; PlaneRefusal for any answer of 400 and above */
export async function askPlane(origin: string, request: PlaneRequest): Promise<PlaneAnswer> {
  const { method, path, token, body, headers = {}, timeoutMs = 15_000 } = request
  let response: Response
  let text: string
  try {
    response = await fetch(`${origin}${API}/${path}`, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        Accept: 'application/json',
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    text = await response.text()
  } catch (error) {
    throw new CommandFailure(
      'unreachable',
      'unreachable',
      `${origin} cannot be reached: ${networkWords(error)}.`,
      'Check the address and the network, then try again.',
    )
  }
  if (response.status >= 300 && response.status < 400 && response.status !== 304) {
    throw new CommandFailure(
      'failed',
      'redirected',
      `${origin} sends this request elsewhere, and a token follows no redirect.`,
      'Use the address that the Machines page shows.',
    )
  }
  if (response.status >= 400) throw refusal(response.status, text)
  return { status: response.status, text, headers: response.headers }
}

/** As {@link askPlane}, the answer read as JSON, as it came: whoever prints a text of it cleans it. */
export async function askPlaneJson<T>(origin: string, request: PlaneRequest): Promise<T> {
  const { text } = await askPlane(origin, request)
  try {
    return JSON.parse(text === '' ? 'null' : text) as T
  } catch {
    throw new CommandFailure('failed', 'odd_answer', `${origin} does not answer as a Holdpoint control plane does.`)
  }
}

function refusal(status: number, text: string): PlaneRefusal {
  let said: { error?: { code?: unknown; message?: unknown; remedy?: unknown; details?: unknown } } = {}
  try {
    said = plainDeep(JSON.parse(text)) as typeof said
  } catch {
    // a proxy's page: the status alone tells
  }
  const { code, message, remedy, details } = said.error ?? {}
  return new PlaneRefusal(
    status,
    typeof code === 'string' ? code : `http_${status}`,
    typeof message === 'string' ? message : `The control plane answered ${status}.`,
    typeof remedy === 'string' ? remedy : undefined,
    typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {},
  )
}

/** Node hides why a request failed behind "fetch failed". */
function networkWords(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  const cause = error instanceof Error ? (error.cause as { code?: string; message?: string } | undefined) : undefined
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : 'unknown trouble')
}
