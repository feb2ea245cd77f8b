import { ControlPlaneError } from '#agent/control-plane.ts'
import { crypto, signJws } from '#agent/crypto.ts'
import type { RuleInForce } from '#core/approval/accept.ts'
import { type ApprovalRequest, requestDigest } from '#core/approval/request.ts'
import { crossedFigures } from '#core/boundary/crossed.ts'
import type { Match } from '#core/boundary/evaluate.ts'
import { isUnsupported } from '#core/boundary/shape.ts'
import { base64url } from '#core/bytes.ts'
import { makeHandle } from '#core/id.ts'
import { ANSWER_MAX_MS, REQUEST_WAIT_S } from '#core/limits.ts'
import { roleRank } from '#core/role.ts'
import type { About } from './decision.ts'
import type { DenialWay } from './entry.ts'
import { clockOf, type Runtime, record } from './runtime.ts'
import type { FiledRequest } from './state.ts'
import { keptUnder } from './subject.ts'
import { wireSubject } from './wire-subject.ts'

/** A run without a person ends with its process and may be resumed: its requests wait this long before they are taken back. */
const HEADLESS_GRACE_MS = 30 * 60_000
/** A session that somebody left: nobody will come back to this very one. */
const LEFT_BY_PERSON = new Set(['prompt_input_exit', 'clear', 'logout'])

/**
 * Makes a request about a held call and chains it whole, before anything is sent. Nothing in it is free text: fixed words,
 * numbers, the organisation's own rule names, and references that only this machine can make.
 */
export function openRequest(
  { runtime, client, session, subject, plan }: About,
  matches: readonly Match[],
  keys: string[],
): FiledRequest {
  const { team } = runtime.membership!
  const { organisation, set } = runtime.rules.inForce()
  const now = clockOf(runtime)
  const kept = keptUnder({ subject, session: session.id })
  const earlier = [...runtime.state.requests.values()].filter(
    asked => asked.session === kept && [...asked.keys].sort().join() === keys.join(),
  )
  const waits = matches.map(({ rule }) => (isUnsupported(rule) ? undefined : rule.expires) ?? REQUEST_WAIT_S)
  const request: ApprovalRequest = {
    v: 1,
    handle: freeHandle(runtime),
    org: team.org.id,
    machine: team.machine,
    member: team.member.id,
    client,
    sessionRef: session.ref,
    subject: subject === undefined ? { kind: 'session' } : wireSubject(subject),
    action: plan.action,
    rules: matches.map(({ rule }) => ({ name: rule.name, digest: organisation.get(rule.name)!.digest })),
    ruleset: { version: set!.set.version, digest: set!.digest },
    figures: crossedFigures(matches),
    attempt: Math.max(0, ...earlier.map(asked => asked.request.attempt)) + 1,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + Math.min(Math.min(...waits) * 1000, ANSWER_MAX_MS)).toISOString(),
    nonce: base64url(runtime.random(16)),
  }
  const roles = matches.flatMap(({ require }) => (require.kind === 'approver' ? [require.role] : []))
  const role = roles.reduce((a, b) => (roleRank(b) > roleRank(a) ? b : a), 'member' as const)
  record(runtime, {
    kind: 'request',
    request,
    digest: requestDigest(request, crypto.sha256),
    session: kept,
    keys,
    role,
  })
  return runtime.state.requests.get(request.handle)!
}

function freeHandle(runtime: Runtime): string {
  for (;;) {
    const handle = makeHandle(runtime.random(6))
    if (!runtime.state.requests.has(handle) && !runtime.state.decisions.has(handle)) return handle
  }
}

/**
 * Sends what waits to be sent, and takes back what was taken back. One that the control plane refuses is tried again a while
 * later and keeps no other back; that it cannot be reached is thrown, and the rest waits for the next turn.
 */
export async function sendRequests(runtime: Runtime): Promise<void> {
  const { membership } = runtime
  if (!membership) return
  for (const asked of [...runtime.state.requests.values()]) {
    // one from before this machine joined anew is nobody's any more
    if (asked.request.machine !== membership.team.machine) continue
    if ((refusedUntil.get(asked) ?? 0) > runtime.now()) continue
    try {
      if (asked.state === 'pending' && !asked.filed && Date.parse(asked.request.expiresAt) > runtime.now())
        await fileRequest(runtime, asked)
      if (asked.withdraw && asked.filed) await withdrawRequest(runtime, asked.request.handle, asked.withdraw)
    } catch (error) {
      if (!(error instanceof ControlPlaneError) || error.code === 'unreachable' || error.revoked) throw error
      refusedUntil.set(asked, runtime.now() + REFUSED_AGAIN_MS)
      runtime.log(`${asked.request.handle} was not taken: ${error.code} ${error.message}`)
    }
  }
}

/** A request that was refused is sent again after this: the limit, or what was in the way, may be gone. */
const REFUSED_AGAIN_MS = 60_000
const refusedUntil = new WeakMap<FiledRequest, number>()

async function fileRequest(runtime: Runtime, asked: FiledRequest): Promise<void> {
  const { controlPlane, key } = runtime.membership!
  const { request } = asked
  if (!key) throw new ControlPlaneError('no_key', 0, 'The machine’s key is gone; join again.')
  let filed: Awaited<ReturnType<typeof controlPlane.file>>
  try {
    filed = await controlPlane.file(signJws('holdpoint-request+jws', key, request))
  } catch (error) {
    if (!(error instanceof ControlPlaneError) || error.code !== 'CONFLICT' || error.why !== 'handle_taken') throw error
    // somebody else has the handle: the same request under a new one
    mintAgain(runtime, asked)
    return
  }
  if (filed.handle !== request.handle && filed.state !== 'denied') {
    // an open request about this subject from before this journal began: nobody here could use its answer
    await controlPlane.withdraw(filed.handle, { why: 'rule_gone' })
    filed = await controlPlane.file(signJws('holdpoint-request+jws', key, request))
  }
  if (filed.handle !== request.handle) {
    // a denial that this journal does not know stands there; or something is in the way that a later try may find gone
    if (filed.state !== 'denied') throw new ControlPlaneError('CONFLICT', 409, `${filed.handle} is in the way.`)
    const at2 = new Date(clockOf(runtime)).toISOString()
    record(runtime, { kind: 'state', handle: request.handle, state: 'denied', at2, by: 'control plane' })
    return
  }
  const { handle, state, role, approvals, eligible, url } = filed
  record(runtime, { kind: 'filed', handle, state, role, approvals, eligible, url })
}

function mintAgain(runtime: Runtime, asked: FiledRequest): void {
  const request = { ...asked.request, handle: freeHandle(runtime), nonce: base64url(runtime.random(16)) }
  const { session, keys, role } = asked
  record(runtime, {
    kind: 'request',
    request,
    digest: requestDigest(request, crypto.sha256),
    session,
    keys,
    role,
    replaces: asked.request.handle,
  })
}

async function withdrawRequest(
  runtime: Runtime,
  handle: string,
  why: NonNullable<FiledRequest['withdraw']>,
): Promise<void> {
  try {
    const { state } = await runtime.membership!.controlPlane.withdraw(handle, { why })
    if (state !== 'withdrawn') runtime.log(`${handle} was ${state} before it could be taken back`)
  } catch (error) {
    // answered or ended meanwhile: there is nothing to take back any more
    const over = error instanceof ControlPlaneError && ['NOT_PENDING', 'NOT_FOUND', 'EXPIRED'].includes(error.code)
    if (!over) throw error
  }
  record(runtime, {
    kind: 'state',
    handle,
    state: 'withdrawn',
    at2: new Date(runtime.now()).toISOString(),
    by: 'control plane',
  })
}

/** Takes a request back: no record says that a person denied it. */
export function takeBack(
  runtime: Runtime,
  handle: string,
  why: NonNullable<FiledRequest['withdraw']>,
  how?: DenialWay,
): void {
  if (runtime.state.requests.get(handle)?.state !== 'pending') return
  record(runtime, {
    kind: 'state',
    handle,
    state: 'withdrawn',
    at2: new Date(runtime.now()).toISOString(),
    by: 'machine',
    why,
    ...(how === undefined ? {} : { how }),
  })
}

/**
 * A machine that left, or was revoked, gets no answer any more: what it asked for has ended, and so has what it was allowed.
 * The control plane knows this already; here it is chained, so that nothing is shown as waiting for ever.
 */
export function endAllOf(runtime: Runtime, machine: string, why: 'left' | 'revoked'): void {
  const now = clockOf(runtime)
  const isLive = (handle: string) =>
    [...runtime.state.grants.values()].some(
      grant => grant.handle === handle && !grant.ended && grant.spentBy === undefined && grant.notAfter > now,
    )
  for (const { request, state } of [...runtime.state.requests.values()]) {
    if (request.machine !== machine) continue
    const { handle } = request
    const end = state === 'pending' ? 'withdrawn' : state === 'approved' && isLive(handle) ? 'revoked' : undefined
    if (!end) continue
    record(runtime, { kind: 'state', handle, state: end, at2: new Date(now).toISOString(), by: 'machine', why })
  }
}

/** What ends by itself: requests whose time is up, whose session or rule is gone; answers that nobody has used. */
export function endWhatIsOver(runtime: Runtime): void {
  const now = clockOf(runtime)
  const at2 = new Date(now).toISOString()
  const { organisation } = runtime.rules.inForce()
  for (const { request, session, state } of [...runtime.state.requests.values()]) {
    if (state !== 'pending') continue
    const ended = runtime.sessions.get(request.client, session)?.ended
    if (Date.parse(request.expiresAt) <= now)
      record(runtime, { kind: 'state', handle: request.handle, state: 'expired', at2, by: 'machine' })
    else if (ended && (LEFT_BY_PERSON.has(ended.reason) || now - ended.at > HEADLESS_GRACE_MS))
      takeBack(runtime, request.handle, 'session_ended')
    else if (runtime.membership && !request.rules.every(asked => holdsStill(organisation, asked)))
      takeBack(runtime, request.handle, 'rule_gone')
  }
  for (const grant of runtime.state.grants.values()) {
    if (grant.jws === undefined || grant.ended !== undefined || grant.spentBy !== undefined || grant.notAfter > now)
      continue
    record(runtime, { kind: 'lapsed', handle: grant.handle, answerId: grant.id })
  }
}

/** Whether a rule that was asked about is what it was, and still holds calls: one that was put in shadow holds none. */
function holdsStill(
  organisation: ReadonlyMap<string, RuleInForce>,
  { name, digest }: ApprovalRequest['rules'][number],
): boolean {
  const now = organisation.get(name)
  return now?.digest === digest && now.rule.stage === 'enforce'
}
