import type { z } from 'zod/mini'
import type { MachineActor, MemberActor, TokenActor } from '#core/actor.ts'
import { AppError, isAppError } from '#core/error.ts'
import { CONNECTOR_BODY_MAX, RULE_SET_MAX } from '#core/limits.ts'
import { DOOR_SCOPES, TOKEN_DOORS, tokenKind } from '#core/token.ts'
import { actorFromAdminToken } from '../auth/admin-token.ts'
import { tokenActor } from '../auth/api-token.ts'
import { machineActor } from '../auth/machine-token.ts'
import { type FeatureContext, openVisit, type Visit } from '../features/context.ts'
import { demandRate } from '../features/rate.ts'
import { log } from '../log.ts'
import { toAppError } from './outage.ts'
import { readText } from './read-text.ts'
import { STATUS } from './status.ts'

type CredentialActor = MemberActor & { credentialId: string }
/** One call at a door: who, what was sent, and the parameters of the path. */
export type Call<Actor, Body> = {
  ctx: Actor extends MachineActor | MemberActor | TokenActor ? FeatureContext<Actor> : Visit
  body: Body
  request: Request
  params: Record<string, string>
  query: URLSearchParams
}
type Route = (request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>
type Answer = Response | object | undefined

/** A door that machines use with their token. `door` is the name that the table of token kinds knows it by. */
export function machineRoute<Body = undefined>(
  door: string,
  schema: Shape<Body>,
  work: (call: Call<MachineActor, Body>) => Promise<Answer>,
  most = CONNECTOR_BODY_MAX,
): Route {
  return guarded(async (request, params) => {
    const token = bearer(request, 'machine', door)
    const visit = openVisit()
    const actor = await machineActor(visit.db, token, visit.now)
    const body = await readBody(request, schema, most)
    return work({ ctx: { ...visit, actor }, body, request, params, query: new URL(request.url).searchParams })
  })
}

/** A door that an owner's or admin's own credential opens (`team admin login`). */
export function credentialRoute<Body = undefined>(
  schema: Shape<Body>,
  work: (call: Call<CredentialActor, Body>) => Promise<Answer>,
): Route {
  return guarded(async (request, params) => {
    bearer(request, 'admin', 'admin')
    const visit = openVisit()
    const actor = await actorFromAdminToken(visit.db, request.headers.get('authorization'), visit.now)
    if (!actor)
      throw new AppError('NOT_SIGNED_IN', 'This credential is not known, or not any more.', {
        remedy: 'Run holdpoint team admin login again.',
      })
    // A text of boundaries at its limit grows by its escapes.
    const body = await readBody(request, schema, RULE_SET_MAX)
    return work({ ctx: { ...visit, actor }, body, request, params, query: new URL(request.url).searchParams })
  })
}

/** A door for an organisation's programs, which they open with a token of its own. They read, so there is no body. */
export function programRoute(door: string, work: (call: Call<TokenActor, undefined>) => Promise<Answer>): Route {
  return guarded(async (request, params) => {
    const token = bearer(request, 'api', door)
    const visit = openVisit()
    const actor = await tokenActor(visit.db, token, DOOR_SCOPES[door]!, visit.now)
    await demandRate(visit, 'apiByToken', actor.tokenId)
    const query = new URL(request.url).searchParams
    return work({ ctx: { ...visit, actor }, body: undefined, request, params, query })
  })
}

/** A door without a token: joining, and the start of `team admin login`. What it takes proves itself. */
export function openRoute<Body = undefined>(
  schema: Shape<Body>,
  work: (call: Call<undefined, Body>) => Promise<Answer>,
): Route {
  return guarded(async (request, params) => {
    const body = await readBody(request, schema)
    return work({ ctx: openVisit(), body, request, params, query: new URL(request.url).searchParams })
  })
}

type Shape<Body> = z.ZodMiniType<Body> | undefined

/** Of another kind, or for another door: refused by the text alone, before any look-up. */
function bearer(request: Request, kind: 'machine' | 'admin' | 'api', door: string): string {
  const [scheme, token = ''] = (request.headers.get('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || token === '')
    throw new AppError('NOT_SIGNED_IN', 'This call needs a token.')
  const named = tokenKind(token)
  if (!named || named !== kind || !TOKEN_DOORS[named]?.includes(door))
    throw new AppError('NOT_SIGNED_IN', 'That token does not open this door.')
  return token
}

/** Bytes under the limit, JSON, of exactly the shape: an unknown field is refused by its place. */
async function readBody<Body>(request: Request, schema: Shape<Body>, most = CONNECTOR_BODY_MAX): Promise<Body> {
  if (!schema) return undefined as Body
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
    throw new AppError('BAD_INPUT', 'The body must be application/json.')
  let value: unknown
  try {
    const text = await readText(request, most)
    if (text === undefined) throw new AppError('TOO_LARGE', `The body is larger than ${most / 1024} KiB.`)
    value = JSON.parse(text)
  } catch (cause) {
    if (isAppError(cause)) throw cause
    throw new AppError('BAD_INPUT', 'The body is not JSON.', { cause })
  }
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const issue = read.error.issues[0]
  const where = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!].join('.') : issue?.path.join('.')
  throw new AppError('BAD_INPUT', `The body is not of the form that this takes${where ? ` (at ${where})` : ''}.`)
}

/** What every answer carries: proxies keep nothing. */
const HEADERS = { 'cache-control': 'no-store' }

function guarded(work: (request: Request, params: Record<string, string>) => Promise<Answer>): Route {
  return async (request, context) => {
    try {
      const answer = await work(request, (await context?.params) ?? {})
      if (answer instanceof Response) return answer
      return answer === undefined
        ? new Response(null, { status: 204, headers: HEADERS })
        : Response.json(answer, { headers: HEADERS })
    } catch (error) {
      return errorResponse(error, new URL(request.url).pathname)
    }
  }
}

/** An error as connectors read it: `{error:{code, message, remedy?, details?}}`; what is not ours is logged and hidden. */
export function errorResponse(error: unknown, path: string): Response {
  const known = isAppError(error) ? error : toAppError(error)
  if (known.code === 'INTERNAL' || known.code === 'UNAVAILABLE') log.error('api.failed', known.cause ?? known, { path })
  const { code, message, remedy, details } = known
  const body = { error: { code, message, ...(remedy ? { remedy } : {}), ...(details ? { details } : {}) } }
  const headers = code === 'UNAVAILABLE' || code === 'RATE_LIMITED' ? { ...HEADERS, 'retry-after': '5' } : HEADERS
  return Response.json(body, { status: STATUS[code].http, headers })
}
