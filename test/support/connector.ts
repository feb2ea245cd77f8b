import { base64url } from '#core/bytes.ts'
import type { Report } from '#core/protocol.ts'
import * as admin from '#server/api/admin-route.ts'
import * as doors from '#server/api/connector.ts'
import { hashToken } from '#server/keys/token-hash.ts'
import { makeSigner, random, type TestMachine } from './makers.ts'

type Route = (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>
type Ask = {
  method?: string
  token?: string
  body?: unknown
  headers?: Record<string, string>
  params?: Record<string, string>
  query?: string
  signal?: AbortSignal
}

/** Calls a door of /api/v1 as the server does, without a socket in between. */
export function ask(
  route: Route,
  { method = 'GET', token, body, headers = {}, params = {}, query = '', signal }: Ask = {},
): Promise<Response> {
  const request = new Request(`http://localhost:3000/api/v1/x${query}`, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  })
  return route(request, { params: Promise.resolve(params) })
}

/** The code of a refused call, with its status. */
export async function refusal(response: Response): Promise<{ status: number; code: string }> {
  const { error } = (await response.json()) as { error: { code: string } }
  return { status: response.status, code: error.code }
}

/** The body of a join with a key of its own, and the key that signs as the machine will. */
export function joinBody(token: string, over: Record<string, unknown> = {}) {
  const signer = makeSigner()
  const proof = signer.sign('holdpoint-join+jws', { v: 1, token: hashToken(token) })
  return {
    signer,
    body: {
      token,
      key: signer.publicKey,
      label: 'dana-laptop',
      platform: 'linux',
      connector: '0.1.0',
      proof,
      pinned: true,
      ...over,
    },
  }
}

/** A report that says as little as a report can. */
export function reportOf(
  machine: TestMachine,
  seq: number,
  over: Omit<Partial<Report>, 'rules'> & { rules?: Partial<Report['rules']> } = {},
): Report {
  const { rules, ...rest } = over
  return {
    v: 1,
    org: machine.org.id,
    machine: machine.id,
    seq,
    at: new Date().toISOString(),
    connector: '0.1.0',
    rules: { version: 0, rootSeq: 0, rootDigest: 'A'.repeat(43), unsupported: [], unknownSections: 0, ...rules },
    hooks: [],
    unguarded: [],
    outcomes: [],
    counts: [],
    grants: [],
    alarms: [],
    ...rest,
  }
}

export const signReport = (machine: TestMachine, report: unknown): string =>
  machine.sign('holdpoint-report+jws', report)

/** A hash of nothing in particular, in the form that heads and session references have. */
export const someDigest = (): string => base64url(random(32))

export { admin, doors }
