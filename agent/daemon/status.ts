import { routesHere, stopsHere } from '#agent/proxy/standing.ts'
import type { ScopedRule } from '#core/boundary/compile.ts'
import { figureLabel } from '#core/boundary/describe.ts'
import { type Action, isUnsupported, requirementText } from '#core/boundary/shape.ts'
import type { FigureName } from '#core/figure.ts'
import { ageMs } from '#core/fresh.ts'
import { formatMicros } from '#core/money.ts'
import type { DecisionEntry, Entry, JudgedRule } from './entry.ts'
import { hookStates } from './hook-levels.ts'
import { isFreshEnough } from './releases.ts'
import { mayHoldTeam, ruleLevels, unreadIn } from './rule-levels.ts'
import { clockOf, type Runtime } from './runtime.ts'
import { unguardedOf } from './sessions.ts'

/** `GET /api/status`. */
export function statusOf(runtime: Runtime, startedAt: string): object {
  const { membership, state, counters } = runtime
  const now = clockOf(runtime)
  const inForce = runtime.rules.inForce()
  const { local } = inForce
  const hooks = hookStates(runtime)
  return {
    version: runtime.version,
    pid: process.pid,
    startedAt,
    team: membership
      ? {
          org: membership.team.org,
          machine: membership.team.machine,
          member: membership.team.member,
          origin: membership.team.origin,
          rules: {
            version: inForce.set?.set.version ?? 0,
            ...(inForce.set ? { digest: inForce.set.digest } : {}),
            rootSeq: membership.trust.root?.root.seq ?? 0,
            custody: membership.trust.root?.root.custody,
            freshAt: membership.trust.fresh?.at,
            ageS: seconds(ageMs(membership.trust.fresh, now)),
            stale: inForce.set !== undefined && !isFreshEnough(runtime),
            lastError: membership.trust.trouble,
            equivocation: membership.trust.equivocation,
            unsupported: inForce.unsupported,
            unknownSections: inForce.set?.unknownSections ?? [],
            highestSeen: membership.trust.version,
          },
          pin: membership.team.firstUse ? 'first use' : 'digest',
        }
      : null,
    clients: hooks,
    local: { source: local.source, errors: local.errors, warnings: local.warnings },
    rules: inForce.rules.map(({ key, scope, rule }) => {
      const fired = counters.ofRule(key)
      const unread = unreadIn(runtime, { key, scope, rule })
      return {
        name: key,
        scope,
        action: rule.action,
        require: requirementText(rule.require),
        stage: rule.stage,
        fired: fired?.fired ?? 0,
        sessions: fired?.sessions.length ?? 0,
        last: fired?.last,
        levels: ruleLevels(runtime, { key, scope, rule }, hooks),
        notes: [
          ...unread.map(figure => unreadWords(figure, rule)),
          ...(isUnsupported(rule) ? [`this connector cannot read the rule: ${rule.reason}`] : []),
          ...(scope === 'local' && rule.require.kind === 'approver' ? ['answered on this machine, like ask'] : []),
          ...(rule.stage === 'shadow' ? ['in shadow: it records what it would have done'] : []),
          ...(rule.action === 'share' ? [shareWords(runtime, rule)] : []),
          ...proxyWords(runtime, rule),
        ],
      }
    }),
    sessions: runtime.sessions.all().map(session => ({
      client: session.client,
      session: session.id,
      project: session.project,
      costUsd: session.cost === undefined ? undefined : formatMicros(session.cost),
      unreadable: session.costProblem,
      unpriced: session.unpriced,
      attended: session.attended ?? false,
      lastSeen: new Date(session.lastSeen).toISOString(),
      ended: session.ended?.reason,
      unguarded: session.unguarded,
    })),
    calls: counters.calls,
    failures: counters.failures,
    notJudged: state.unjudged,
    unguarded: runtime.sessions.all().reduce((sum, session) => sum + unguardedOf(session), 0),
    journal: { ...runtime.journal.head, writable: runtime.journal.writable },
    alarms: [...state.alarms].map(([what, { count, at }]) => ({ what, count, at })),
  }
}

function proxyWords({ home, rules }: Runtime, { action }: ScopedRule['rule']): string[] {
  const { routing } = rules.inForce().local
  if (action === 'model_route') return [routesHere(home, routing).words]
  const stops = stopsHere(home, action as Action | undefined, routing)
  return stops === undefined ? [] : [stops]
}

function shareWords(runtime: Runtime, rule: ScopedRule['rule']): string {
  if (!runtime.membership) return 'this machine has joined no organisation, so nothing leaves it'
  if (!mayHoldTeam(rule)) return 'nothing goes to that destination from here'
  return 'obeyed by this machine’s daemon, which its user can stop: it holds uploads of usage to the organisation; nobody is asked, and the figures of reports are not held'
}

/** What is unread, what that does to the rule, and what can be done about it. */
function unreadWords(figure: FigureName, { onUnknown }: ScopedRule['rule']): string {
  const then = `so this rule ${onUnknown === 'hold' ? 'always holds' : 'lets calls through'}`
  return figure === 'plan_left_pct'
    ? `${figureLabel(figure)} is unread: nothing has told it lately, ${then}; \`holdpoint statusline install\` lets Claude Code tell it at the keyboard, Codex tells it in its own records`
    : `${figureLabel(figure)} cannot be read on this machine yet, ${then}`
}

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / 1000))

/** `GET /api/waiting`: what somebody can still answer, the newest last. */
export function waitingOf(runtime: Runtime): object[] {
  const now = clockOf(runtime)
  const { state } = runtime
  const here = [...state.questions.values()]
    .filter(({ state, decision }) => state === 'open' && decision.did === 'refused' && isHeldStill(runtime, decision))
    .map(({ decision, at }) => ({
      handle: decision.handle,
      rules: decision.rules.map(rule => rule.key),
      action: decision.action,
      subject: decision.subject,
      client: decision.client,
      session: decision.session,
      figures: decision.figures,
      state: 'waiting here',
      since: at,
      expiresAt: undefined,
    }))
  const there = [...state.requests.values()]
    .filter(asked => asked.state === 'pending' && Date.parse(asked.request.expiresAt) > now)
    .map(({ request, keys, role, session, filed }) => ({
      handle: request.handle,
      rules: keys,
      action: request.action,
      subject: request.subject.kind === 'session' ? undefined : request.subject,
      client: request.client,
      session,
      figures: request.figures,
      state: `waiting for ${role}`,
      role,
      since: request.createdAt,
      expiresAt: request.expiresAt,
      url: filed?.url,
      sent: filed !== undefined,
      eligible: filed?.eligible,
      refused: state.about(request.handle)?.findLast(isRefusedAnswer)?.why,
    }))
  return [...here, ...there].sort((a, b) => Date.parse(a.since) - Date.parse(b.since))
}

/** A question whose rules were changed, removed or put in shadow holds nothing any more: no answer is needed. */
function isHeldStill(runtime: Runtime, { rules }: DecisionEntry): boolean {
  const inForce = runtime.rules.inForce()
  return rules.every(({ key, digest }) => {
    const found = inForce.rules.find(one => one.key === key)
    return found?.rule.stage === 'enforce' && inForce.digests.get(key) === digest
  })
}

const isRefusedAnswer = (entry: Entry): entry is Extract<Entry, { kind: 'answer' }> =>
  entry.kind === 'answer' && !entry.ok

/** `GET /api/decisions/HANDLE`: everything that the journal holds about a decision; undefined when it holds nothing. */
export function explain(runtime: Runtime, handle: string): object | undefined {
  const { state } = runtime
  const recall = (of: string) => state.about(of) ?? runtime.journal.find(of)
  const own = recall(handle)
  const decision = state.decisions.get(handle)?.entry ?? own.find(entry => entry.kind === 'decision')
  // a call that met another one's question, or went on under its answer, is told with that one's story
  const granted = decision?.grants?.map(id => state.grants.get(id)?.handle).find(found => found !== undefined)
  const about = decision?.question ?? granted ?? handle
  const asked = state.requests.get(about)
  const question = state.questions.get(about)
  const history = about === handle ? own : merge(recall(about), own)
  if (!decision && !asked && history.length === 0) return undefined
  const grants = [...state.grants.values()].filter(
    grant => grant.handle === about || decision?.grants?.includes(grant.id),
  )
  return {
    handle,
    decision,
    request: asked && {
      ...asked.request,
      digest: asked.digest,
      state: asked.state,
      role: asked.role,
      filed: asked.filed,
      answeredBy: asked.answeredBy,
      standsUntil: time(asked.standsUntil),
    },
    question: question && {
      handle: question.decision.handle,
      state: question.state,
      standsUntil: time(question.standsUntil),
    },
    grants: grants.map(grant => ({
      id: grant.id,
      handle: grant.handle,
      scope: grant.scope,
      until: grant.until,
      notAfter: time(grant.notAfter),
      spentBy: grant.spentBy,
      ended: grant.ended,
      answeredHere: grant.jws === undefined,
    })),
    now: decision?.rules.map(rule => ruleNow(runtime, rule)),
    history: history.map(({ prev: _, ...entry }) => entry),
  }
}

/** What a rule that a decision met is now: its digest says whether it still asks the same, its stage whether it binds. */
function ruleNow(runtime: Runtime, { key, digest }: JudgedRule): object {
  const { rules, digests } = runtime.rules.inForce()
  const found = rules.find(one => one.key === key)
  if (!found) return { key, state: 'gone' }
  const { stage, require } = found.rule
  return { key, state: digests.get(key) === digest ? 'same' : 'changed', stage, require: requirementText(require) }
}

const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())

/** The asked one's story without its other calls, and this call's own lines. */
function merge(asked: Entry[], own: Entry[]): Entry[] {
  const seqs = new Set(own.map(entry => entry.seq))
  return [...asked.filter(entry => entry.kind !== 'decision' && !seqs.has(entry.seq)), ...own].sort(
    (a, b) => a.seq - b.seq,
  )
}
