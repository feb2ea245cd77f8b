import type { Decision, HookEvent, ToolCall } from '#agent/clients/adapter.ts'
import { crossedText, refusalText } from '#core/boundary/refusal.ts'
import { type Action, isUnsupported } from '#core/boundary/rule.ts'
import type { Client } from '#core/client.ts'
import { makeHandle } from '#core/id.ts'
import { decide } from './decide.ts'
import { type About, type Judgement, recordDecision, refuse } from './decision.ts'
import { answerOrganisation } from './held.ts'
import { type Blocked, releasesFor } from './releases.ts'
import { alarm, type Runtime, record } from './runtime.ts'
import { figuresOf, type Observation, type Session } from './sessions.ts'

const PASS: Decision = { outcome: 'pass', text: '' }

/**
 * Judges one tool call: reads the figures, decides, and chains what was crossed before the answer goes out. Synchronous from
 * end to end, so that two calls at once are decided one after the other and a step answer cannot be spent twice.
 */
export function judgeCall(
  runtime: Runtime,
  client: Client,
  event: ToolCall,
  session: Session,
  canAsk: boolean,
): Judgement {
  const now = runtime.now()
  const rules = runtime.rules.inForce()
  if (event.toolUseId !== undefined) runtime.judged.add(session.id, event.toolUseId)
  takeResults(runtime, session, runtime.sessions.observe(session))
  const figures = figuresOf(session, event, now)
  const actions: Action[] = event.startsSubagent ? ['subagent_model', 'continue', 'spend'] : ['continue', 'spend']
  for (const action of actions) runtime.counters.judged({ client, action, sessionRef: session.ref, figures }, now)

  const releases =
    runtime.state.grants.size === 0 ? NO_RELEASES : releasesFor(runtime, session.id, event.toolUseId, figures)
  const attribution = {
    project: session.project,
    ...(runtime.membership ? { machine: runtime.membership.team.machine } : {}),
  }
  const plan = decide(rules.compiled, { actions, figures, attribution, canAsk, now }, releases)
  const about: About = { runtime, client, event, session, plan, blocked: releases.blocked }
  recordShadow(about)
  for (const match of plan.evaluation.enforced) runtime.counters.fired(match.key, session.ref, now)
  if (plan.effect === 'pass') return { decision: passed(about), file: false }
  if (plan.effect === 'request') return answerOrganisation(about)
  return { decision: plan.effect === 'ask' ? asked(about) : refusedHere(about), file: false }
}

const NO_RELEASES = { standing: [], steps: [], blocked: [] as Blocked[] }

/** A call that goes on; where an answer let it, the answer is spent first, on disk. */
function passed(about: About): Decision {
  const { plan, event } = about
  if (plan.by.length > 0) {
    const refusal = spendSteps(about)
    if (refusal) return refusal
    const lifted = plan.all.flatMap(({ evaluation }) => evaluation.lifted)
    const answeredBy = plan.by.some(release => about.runtime.state.grants.get(release.id)?.jws)
      ? 'organisation'
      : 'machine'
    recordDecision(about, {
      did: 'released',
      matches: lifted,
      answeredBy,
      grants: plan.by.map(release => release.id),
      event,
    })
  } else if (plan.evaluation.outcome.kind === 'allow') {
    recordDecision(about, { did: 'passed', matches: plan.evaluation.decidedBy, answeredBy: 'nobody', event })
  }
  return PASS
}

/** Spends step answers durably. A disk that cannot keep the spend lets nothing through on its strength. */
function spendSteps({ runtime, plan, event, session }: About): Decision | undefined {
  for (const step of plan.spend) {
    // a call without an id cannot be told from the next one: it is given one of its own, so that no retry is let through
    const toolUse = event.toolUseId ?? `unnamed-${makeHandle(runtime.random(6))}`
    const { written } = record(
      runtime,
      { kind: 'spend', handle: step.handle, answerId: step.id, toolUse, session: session.id },
      { durable: true },
    )
    if (written) continue
    alarm(runtime, 'disk_full')
    return refuse(
      'Holdpoint cannot write to its disk, so the approval cannot be used once and only once. Stop here and tell the user: free some space, then try again.',
    )
  }
  return undefined
}

/** Asked at the client's own prompt; what is answered there is read back from what follows. */
function asked(about: About): Decision {
  const { runtime, plan, event, session } = about
  const denied = deniedHere(about)
  if (denied) return denied
  const refusal = spendSteps(about)
  if (refusal) return refusal
  const matches = plan.evaluation.decidedBy
  const handle = recordDecision(about, { did: 'asked', matches, answeredBy: 'machine', event })
  if (event.toolUseId === undefined)
    runtime.log(`a prompt in ${session.client} cannot be read back: the call has no id`)
  const notes = matches.flatMap(({ rule }) => (isUnsupported(rule) || rule.note === undefined ? [] : [` ${rule.note}`]))
  const names = matches.map(match => match.key).join(', ')
  return {
    outcome: 'ask',
    text: `${names}: ${crossedText(matches)}.${notes.join('')} Yes holds for the rest of this session, at most a day (decision ${handle}).`,
  }
}

/** Refused on this machine: denied by a rule, or nobody is at the keyboard to be asked. */
function refusedHere(about: About): Decision {
  const { plan, event, runtime, session } = about
  const matches = plan.evaluation.decidedBy
  if (plan.evaluation.outcome.kind === 'deny') {
    const handle = recordDecision(about, { did: 'refused', matches, answeredBy: 'nobody', event })
    return refuse(refusalText({ matches, state: { kind: 'rule_denies' }, handle }))
  }
  const denied = deniedHere(about)
  if (denied) return denied
  const keys = matches
    .map(match => match.key)
    .sort()
    .join()
  const open = [...runtime.state.questions.values()].find(
    q =>
      q.state === 'open' &&
      q.decision.did === 'refused' &&
      q.decision.session === session.id &&
      q.decision.rules
        .map(r => r.key)
        .sort()
        .join() === keys,
  )
  const question = open?.decision.handle
  const own = recordDecision(about, {
    did: 'refused',
    matches,
    answeredBy: 'machine',
    event,
    ...(question ? { question } : {}),
  })
  const handle = question ?? own
  return refuse(
    refusalText({ matches, state: { kind: 'waiting_here', command: `holdpoint approve ${handle}` }, handle }),
  )
}

/** A person at this machine said no: it stands for the session up to a day, and asks nobody again. */
function deniedHere(about: About): Decision | undefined {
  const { runtime, plan, session, event } = about
  const matches = plan.evaluation.decidedBy
  const now = runtime.now()
  for (const [handle, question] of runtime.state.questions) {
    if (question.state !== 'denied' || (question.standsUntil ?? 0) <= now || question.decision.session !== session.id)
      continue
    if (!question.decision.rules.some(rule => matches.some(match => match.key === rule.key))) continue
    recordDecision(about, { did: 'refused', matches, answeredBy: 'machine', event, question: handle })
    return refuse(
      refusalText({ matches, state: { kind: 'denied', until: new Date(question.standsUntil!).toISOString() }, handle }),
    )
  }
  return undefined
}

/** Shadow rules change nothing: counted on every call, recorded once per session and rule. */
function recordShadow(about: About): void {
  const { runtime, session, plan, event } = about
  for (const { action, evaluation } of plan.all) {
    for (const match of evaluation.shadow) {
      runtime.counters.fired(match.key, session.ref, runtime.now())
      if (runtime.state.shadowed.has(`${session.id}\n${match.key}`)) continue
      recordDecision(about, { did: 'passed', matches: [match], answeredBy: 'nobody', event, stage: 'shadow', action })
    }
  }
}

/** What a look at the transcript brought: answers given at the client's prompt, and calls that nobody judged. */
export function takeResults(runtime: Runtime, session: Session, { results, unguarded }: Observation): void {
  for (const { toolUseId, outcome } of results) {
    if (outcome === 'ran') promptAnswered(runtime, toolUseId)
    else if (outcome === 'declined') {
      const handle = runtime.state.prompts.get(toolUseId)
      if (handle) record(runtime, { kind: 'declined', handle, toolUse: toolUseId })
    }
  }
  if (unguarded.calls === 0) return
  const time = (ms: number) => new Date(ms).toISOString()
  const { calls, fromMs, toMs } = unguarded
  record(runtime, {
    kind: 'not_judged',
    client: session.client,
    session: session.id,
    sessionRef: session.ref,
    calls,
    from: time(fromMs),
    to: time(toMs),
  })
}

/** A call that was asked about has run: the person said yes, which holds for the rest of the session, at most a day. */
export function promptAnswered(runtime: Runtime, toolUse: string): void {
  const handle = runtime.state.prompts.get(toolUse)
  if (handle) record(runtime, { kind: 'local_answer', handle, scope: 'session', how: 'prompt', toolUse })
}

/** Everything that is not a tool call: nothing is held, but something may be learned. */
export function noteEvent(runtime: Runtime, event: HookEvent, session: Session): void {
  if (event.kind === 'tool_done' && event.toolUseId !== undefined) promptAnswered(runtime, event.toolUseId)
  if (event.kind === 'session_end')
    record(runtime, {
      kind: 'session_end',
      client: session.client,
      session: session.id,
      reason: event.reason.slice(0, 40),
    })
  if (event.kind === 'turn_end' || event.kind === 'prompt' || event.kind === 'session_end')
    takeResults(runtime, session, runtime.sessions.observe(session))
}
