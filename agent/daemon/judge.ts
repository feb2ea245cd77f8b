import type { Decision, HookEvent, ToolCall } from '#agent/clients/adapter.ts'
import { crossedText, refusalText } from '#core/boundary/refusal.ts'
import { type Action, isUnsupported } from '#core/boundary/shape.ts'
import type { Client } from '#core/client.ts'
import type { Figures } from '#core/figure.ts'
import { makeHandle } from '#core/id.ts'
import { PAUSE_POINT_MS } from '#core/limits.ts'
import { awaitResponse, isWorthWaiting, mayHaveBeenAnswered } from './await-response.ts'
import { decide, type Plan } from './decide.ts'
import { type About, type Judgement, recordDecision, refuse } from './decision.ts'
import { answerOrganisation } from './held.ts'
import { type Blocked, releasesFor } from './releases.ts'
import { promptAnswered, takeResults } from './results.ts'
import { forgetTries, insist } from './retries.ts'
import type { RulesInForce } from './rules.ts'
import { alarm, type Runtime, record } from './runtime.ts'
import type { Session } from './session.ts'
import { figuresOf } from './sessions.ts'
import { keptUnder } from './subject.ts'

/** A tool call that waits for an answer. `arrivedMs`: when its hook came, as `performance.now()` has it. */
export type AskedCall = {
  runtime: Runtime
  client: Client
  event: ToolCall
  session: Session
  canAsk: boolean
  arrivedMs: number
}

const PASS: Decision = { outcome: 'pass', text: '' }

/**
 * Judges one tool call: reads the figures, decides, and chains what was crossed before the answer goes out. It waits only for
 * what may cross a limit or answer a question (see {@link isWorthWaiting}, {@link mayHaveBeenAnswered}); from the newest
 * reading to the answer it is synchronous, so that two calls at once are decided one after the other and a step answer
 * cannot be spent twice.
 */
export function judgeCall(asked: AskedCall): Judgement | Promise<Judgement> {
  const { runtime, session, event, arrivedMs } = asked
  if (event.toolUseId !== undefined) runtime.judged.add(session.id, event.toolUseId)
  takeResults(runtime, session, runtime.sessions.observe(session))
  let named = withId(asked)
  const figures = figuresAt(named)
  const planned = planCall(named, figures)
  const { comparesCost } = planned.rules
  const needsModel = event.startsSubagent && event.subagentModel === undefined
  const { toolUseId } = named.event
  const planWith = (others: Figures) => planCall(named, others).plan
  if (
    !isWorthWaiting({ runtime, session, comparesCost, needsModel }, toolUseId, figures, planned.plan, planWith) &&
    !mayHaveBeenAnswered(runtime, session, toolUseId, planned.plan)
  )
    return settleCall(named, figures, planned)
  const idOf = () => {
    named = withId(named)
    return named.event.toolUseId
  }
  return awaitResponse(runtime, session, idOf, arrivedMs).then(() => {
    const read = figuresAt(named)
    return settleCall(named, read, planCall(named, read))
  })
}

/** A call that its client gives no id, under the one that the transcript has for it, as far as that has named it. */
function withId(asked: AskedCall): AskedCall {
  const { runtime, session, event } = asked
  if (event.toolUseId !== undefined) return asked
  const toolUseId = runtime.sessions.claim(session, event.toolName)
  return toolUseId === undefined ? asked : { ...asked, event: { ...event, toolUseId } }
}

const figuresAt = ({ runtime, session, event }: AskedCall): Figures => [
  ...figuresOf(session, event, runtime.now()),
  ...runtime.budgetReadings(session),
  ...runtime.planReadings(session),
]

const NO_RELEASES = { standing: [], steps: [], blocked: [] as Blocked[] }

type Planned = { plan: Plan; blocked: Blocked[]; rules: RulesInForce }

const actionsOf = (event: ToolCall): Action[] =>
  event.startsSubagent ? ['subagent_model', 'continue', 'spend'] : ['continue', 'spend']

/** What the rules in force say about a call at these figures. Changes nothing. */
function planCall({ runtime, session, event, canAsk }: AskedCall, figures: Figures): Planned {
  const releases =
    runtime.state.grants.size === 0 ? NO_RELEASES : releasesFor(runtime, session.id, event.toolUseId, figures)
  const attribution = runtime.attributionOf(session)
  const call = { actions: actionsOf(event), figures, attribution, canAsk, now: runtime.now() }
  const rules = runtime.rules.inForce()
  return { plan: decide(rules.compiled, call, releases), blocked: releases.blocked, rules }
}

/** Does what was planned, and chains it. */
function settleCall(asked: AskedCall, figures: Figures, { plan, blocked, rules }: Planned): Judgement {
  const { runtime, client, event, session, arrivedMs } = asked
  if (event.toolUseId === undefined) runtime.sessions.owe(session, event.toolName)
  const now = runtime.now()
  for (const action of actionsOf(event))
    runtime.counters.judged({ client, action, sessionRef: session.ref, figures }, now)
  const about: About = { runtime, client, event, session, plan, blocked, rules, recorded: [] }
  recordShadow(about)
  for (const match of plan.evaluation.enforced) runtime.counters.fired(match.key, session.ref, now)
  const isLate = () => performance.now() - arrivedMs > PAUSE_POINT_MS
  if (isLate()) return passedLate(about)
  const judged = judgementOf(about)
  const held = plan.evaluation.decidedBy.map(match => match.key)
  const judgement = { ...judged, decision: insist(session, held, now, judged.decision) }
  if (!isLate() || plan.effect === 'pass') return judgement
  // the disk took its time: what was just chained has not come about
  for (const handle of about.recorded) record(runtime, { kind: 'late', handle })
  return { ...judgement, late: true }
}

function judgementOf(about: About): Judgement {
  switch (about.plan.effect) {
    case 'pass':
      return { decision: passed(about), file: false }
    case 'request':
      return answerOrganisation(about)
    case 'ask':
      return { decision: askedHere(about), file: false }
    case 'refuse':
      return { decision: refusedHere(about), file: false }
  }
}

/** The client has gone on without us: nothing is held, asked or spent any more, and the journal says so. */
function passedLate(about: About): Judgement {
  const { plan, event } = about
  const matches =
    plan.by.length > 0 ? plan.all.flatMap(({ evaluation }) => evaluation.lifted) : plan.evaluation.decidedBy
  if (matches.length > 0) recordDecision(about, { did: 'passed', why: 'late', matches, answeredBy: 'nobody', event })
  return { decision: PASS, file: false, late: true }
}

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
function askedHere(about: About): Decision {
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
export function refusedHere(about: About): Decision {
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
      keptUnder(q.decision) === session.id &&
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
    if (
      question.state !== 'denied' ||
      (question.standsUntil ?? 0) <= now ||
      keptUnder(question.decision) !== session.id
    )
      continue
    if (!question.decision.rules.some(rule => matches.some(match => match.key === rule.key))) continue
    recordDecision(about, { did: 'refused', matches, answeredBy: 'machine', event, question: handle })
    return refuse(
      refusalText({
        matches,
        state: { kind: 'denied_here', until: new Date(question.standsUntil!).toISOString() },
        handle,
      }),
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
  // whatever was judged before has been named by now, or never is
  if (event.kind === 'prompt' || event.kind === 'session_start') delete session.owed
  if (event.kind === 'prompt') forgetTries(session)
}
