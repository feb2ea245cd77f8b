import { isUnsupported } from '#core/boundary/shape.ts'
import { roleRank } from '#core/role.ts'
import { type About, type Judgement, recordDecision, refuseWith } from './decision.ts'
import { openRequest } from './requests.ts'
import type { FiledRequest } from './state.ts'
import { keptUnder } from './subject.ts'

/**
 * A call that the organisation's approvers must let go on: always refused here. It meets the denial that stands,
 * the request that waits, or files a new one.
 */
export function answerOrganisation(about: About): Judgement {
  const { runtime, plan, session, subject, event, blocked } = about
  const kept = keptUnder({ subject, session: session.id })
  const matches = plan.evaluation.decidedBy
  const keys = matches.map(match => match.key).sort()
  const now = runtime.now()
  const ofSession = [...runtime.state.requests.values()].filter(asked => asked.session === kept)
  const meet = (asked: FiledRequest) =>
    recordDecision(about, {
      did: 'refused',
      matches,
      answeredBy: 'organisation',
      event,
      question: asked.request.handle,
    })

  const denied = ofSession.find(
    asked => asked.state === 'denied' && (asked.standsUntil ?? 0) > now && asked.keys.some(key => keys.includes(key)),
  )
  if (denied) {
    meet(denied)
    return {
      decision: refuseWith(
        matches,
        {
          kind: 'denied',
          until: new Date(denied.standsUntil!).toISOString(),
          ...(denied.filed ? { url: pageOf(runtime, denied) } : {}),
        },
        denied.request.handle,
      ),
      file: false,
    }
  }

  const open = ofSession.find(
    asked => asked.state === 'pending' && Date.parse(asked.request.expiresAt) > now && sameKeys(asked.keys, keys),
  )
  if (open) {
    meet(open)
    return { decision: waiting(about, open), file: open.filed === undefined }
  }

  // approved, but the rules here are too old to release anything: asking again would not help
  const stale = blocked.find(
    ({ grant, why }) => why === 'stale_rules' && grant.rules.some(rule => keys.includes(rule.key)),
  )
  if (stale) {
    const asked = runtime.state.requests.get(stale.grant.handle)
    if (asked) meet(asked)
    return { decision: refuseWith(matches, { kind: 'stale' }, stale.grant.handle), file: false }
  }

  if (runtime.membership?.trust.revoked) {
    const handle = recordDecision(about, { did: 'refused', matches, answeredBy: 'organisation', event })
    return { decision: refuseWith(matches, { kind: 'revoked' }, handle), file: false }
  }

  const readable = matches.filter(match => !isUnsupported(match.rule))
  if (readable.length < matches.length || !runtime.membership) {
    // nothing that could be asked about: the connector is too old for the rule, or has left the organisation
    const handle = recordDecision(about, { did: 'refused', matches, answeredBy: 'organisation', event })
    return { decision: refuseWith(matches, { kind: 'rule_denies' }, handle), file: false }
  }

  const asked = openRequest(about, readable, keys)
  recordDecision(about, { did: 'refused', matches, answeredBy: 'organisation', event, handle: asked.request.handle })
  return { decision: waiting(about, asked), file: true }
}

const sameKeys = (a: readonly string[], sorted: readonly string[]) => [...a].sort().join() === sorted.join()

function waiting({ plan, runtime }: About, asked: FiledRequest) {
  const matches = plan.evaluation.decidedBy
  const roles = matches.flatMap(match => (match.require.kind === 'approver' ? [match.require.role] : []))
  const role = roles.reduce((a, b) => (roleRank(b) > roleRank(a) ? b : a), 'member' as const)
  const { filed, request } = asked
  const url = pageOf(runtime, asked)
  if (!filed && !isReachable(runtime)) return refuseWith(matches, { kind: 'unreachable', role, url }, request.handle)
  const decision = refuseWith(
    matches,
    { kind: 'waiting', role, url, ...(filed ? { approvals: filed.approvals } : {}) },
    request.handle,
  )
  if (filed && filed.eligible < filed.approvals)
    decision.text += ` Right now ${filed.eligible === 0 ? 'nobody' : 'too few people'} in the organisation can answer it: tell the user to ask an owner.`
  return decision
}

/** The request's page, made from the address that was joined: nothing that an answer says ends in what an agent reads. */
function pageOf({ membership }: About['runtime'], { request }: FiledRequest): string {
  const { origin, org } = membership!.team
  return `${origin}/${org.slug}/approvals/${request.handle}`
}

/** As far as is known right now: the newest exchange with the control plane succeeded. */
function isReachable({ membership }: About['runtime']): boolean {
  return membership?.trust.lastError?.code !== 'unreachable'
}
