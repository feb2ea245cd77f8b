import { crypto } from '#agent/crypto.ts'
import { type Judged, type ReleaseContext, releaseByAnswer, withinCeilings } from '#core/approval/accept.ts'
import { type Answer, openAnswer } from '#core/approval/answer.ts'
import type { Figures } from '#core/figure.ts'
import { mayRelease } from '#core/fresh.ts'
import type { Release, Releases } from './decide.ts'
import { clockOf, type Runtime } from './runtime.ts'
import type { Grant } from './state.ts'

/** An approval that is there but releases nothing now. */
export type Blocked = { grant: Grant; why: string }

/** Signatures that were verified under the root in force: a grant is opened once per root, not once per call. */
const opened = new WeakMap<Grant, { root: string; answer: Answer | undefined }>()

/** What lets rules go on for one call of a session, and which approvals cannot, each with the reason. */
export function releasesFor(
  runtime: Runtime,
  session: string,
  toolUse: string | undefined,
  figures: Figures,
): Releases & { blocked: Blocked[] } {
  const standing: Release[] = []
  const steps: Release[] = []
  const blocked: Blocked[] = []
  for (const grant of runtime.state.grants.values()) {
    if (grant.session !== session || grant.ended !== undefined) continue
    const judged = judgeGrant(runtime, grant, toolUse, figures)
    if (!judged.ok) {
      blocked.push({ grant, why: judged.why })
      continue
    }
    const release = { id: grant.id, handle: grant.handle, keys: liftedKeys(runtime, grant) }
    if (grant.scope === 'session' || grant.spentBy !== undefined) standing.push(release)
    else steps.push(release)
  }
  return { standing, steps, blocked }
}

/** Only rules that are still what they were when the question was asked. */
function liftedKeys(runtime: Runtime, grant: Grant): string[] {
  const { digests } = runtime.rules.inForce()
  return grant.rules
    .filter(({ key, digest }) => digest !== undefined && digests.get(key) === digest)
    .map(({ key }) => key)
}

function judgeGrant(
  runtime: Runtime,
  grant: Grant,
  toolUse: string | undefined,
  figures: Figures,
): Judged | { ok: false; why: 'bad_signature' } {
  // the same call keeps its answer, whatever has happened since (a retry, a resumed session)
  const isOwnRetry = grant.scope === 'step' && grant.spentBy !== undefined && grant.spentBy === toolUse
  if (isOwnRetry) return { ok: true }
  if (grant.spentBy !== undefined) return { ok: false, why: 'spent' }
  if (grant.jws === undefined) {
    if (clockOf(runtime) >= grant.notAfter) return { ok: false, why: 'expired' }
    return withinCeilings(grant.until, figures)
  }
  const answer = open(runtime, grant)
  if (!answer) return { ok: false, why: 'bad_signature' }
  return releaseByAnswer(answer, releaseContext(runtime, grant, toolUse, figures))
}

function open(runtime: Runtime, grant: Grant): Answer | undefined {
  const root = runtime.membership?.trust.root
  if (!root || grant.jws === undefined) return undefined
  const known = opened.get(grant)
  if (known?.root === root.digest) return known.answer
  let answer: Answer | undefined
  try {
    answer = openAnswer(grant.jws, root.root, crypto)
  } catch {
    // signed by a key that is no longer in force
  }
  opened.set(grant, { root: root.digest, answer })
  return answer
}

function releaseContext(runtime: Runtime, grant: Grant, toolUse: string | undefined, figures: Figures): ReleaseContext {
  const asked = runtime.state.requests.get(grant.handle)
  const { team, trust } = runtime.membership!
  const { organisation, set } = runtime.rules.inForce()
  const nowMs = clockOf(runtime)
  return {
    stored: asked && { request: asked.request, digest: asked.digest },
    org: team.org.id,
    machine: team.machine,
    rootSeq: trust.root?.root.seq ?? 0,
    rules: organisation,
    selfAnswer: set?.set.selfAnswer ?? 'never',
    nowMs,
    fresh: isFreshEnough(runtime),
    figures,
    spentBy: grant.spentBy,
    toolUse,
  }
}

/** Whether the organisation's rules are young enough to release anything (stale rules hold but never release). */
export function isFreshEnough(runtime: Runtime): boolean {
  const trust = runtime.membership?.trust
  const set = trust?.rules()
  return set !== undefined && mayRelease(trust!.fresh, set.set.maxAge, clockOf(runtime))
}
