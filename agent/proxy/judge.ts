/** The daemon's answers to the proxy: whether a route may be applied, and whether a session's calls are stopped. */
import type { ToolCall } from '#agent/clients/adapter.ts'
import { decide, type Plan, type Releases } from '#agent/daemon/decide.ts'
import { type About, recordDecision } from '#agent/daemon/decision.ts'
import { answerOrganisation } from '#agent/daemon/held.ts'
import { refusedHere } from '#agent/daemon/judge.ts'
import { type Blocked, releasesFor } from '#agent/daemon/releases.ts'
import { takeResults } from '#agent/daemon/results.ts'
import { alarm, type Runtime, record } from '#agent/daemon/runtime.ts'
import type { Session } from '#agent/daemon/session.ts'
import { figuresOf } from '#agent/daemon/sessions.ts'
import { subjectId } from '#agent/daemon/subject.ts'
import type { Action } from '#core/boundary/shape.ts'
import { CLIENTS, type Client } from '#core/client.ts'
import { type FigureReading, nameReading } from '#core/figure.ts'
import { makeHandle } from '#core/id.ts'
import { modelTier } from '#core/model-tier.ts'
import type { Question, Verdict } from './ask.ts'
import { Told } from './told.ts'

/** No answer is spent in the last third of the time that the proxy waits: it may have gone on, and it would be spent on nothing. */
const IN_TIME = 2 / 3
/** Reading on in a session's records while a model request waits. */
const READ_MS = 40

const NO_RELEASES = { standing: [], steps: [], blocked: [] as Blocked[] }

type Route = NonNullable<Question['route']>

/** Judges one question of the proxy. `file`: a request is to be sent to the organisation. */
export class ProxyJudge {
  private readonly told: Told

  constructor(private readonly runtime: Runtime) {
    this.told = new Told(runtime)
  }

  judge(question: Question, arrivedMs: number): { verdict: Verdict; file: boolean } {
    const session = this.sessionOf(question)
    const stopped = question.stop ? this.judgeStop(question, session) : undefined
    if (stopped?.stop) return { verdict: { stop: stopped.stop }, file: stopped.file }
    const route = question.route && this.judgeRoute(question, question.route, session, arrivedMs)
    return { verdict: route ? { route: route.goes ? 'go' : 'hold' } : {}, file: route?.file ?? false }
  }

  /** That of the request; one that no hook has told of is known by its name alone. */
  private sessionOf({ client, session }: Question): Session {
    const { sessions } = this.runtime
    const id = session ?? 'proxy'
    return sessions.get(client, id) ?? this.meet(client, id)
  }

  private meet(client: string, sessionId: string): Session {
    const { sessions, now } = this.runtime
    const { transcriptPath: _, ...session } = sessions.meet(client, { sessionId, transcriptPath: '', changedMs: now() })
    return session
  }

  /** A session of a client whose records are read is looked into from now on, also where no hook has told of it. */
  private know({ session: id, client }: Question, session: Session): void {
    const { sessions, adapters } = this.runtime
    if (id !== undefined && adapters.has(client) && sessions.get(client, id) === undefined) sessions.adopt(session)
  }

  /**
   * A route that a rule holds leaves the request on its own model. Each route is its own decision: what is answered about it
   * holds for every session, once or for a day.
   */
  private judgeRoute(question: Question, route: Route, session: Session, arrivedMs: number) {
    const { runtime } = this
    const now = runtime.now()
    const subject = { kind: 'route', ...route } as const
    const toolUse = `route-${makeHandle(runtime.random(6))}`
    const figures = [
      nameReading('model_tier', modelTier(route.to), now),
      ...(session.cwd === '' ? [] : namesOf(session, now)),
      ...runtime.planReadings({ client: session.client, provider: route.provider }),
    ]
    const kept = subjectId(subject)
    const releases = runtime.state.grants.size === 0 ? NO_RELEASES : releasesFor(runtime, kept, toolUse, figures)
    const about = this.about(question, session, toolUse, ['model_route'], figures, releases)
    about.subject = subject
    this.count(about, 'model_route', figures)
    const { plan } = about
    if (plan.effect === 'pass') {
      const goes =
        plan.spend.length === 0 ||
        (performance.now() - arrivedMs < question.waitMs * IN_TIME && this.spend(about, toolUse))
      if (goes) this.recordPassed(about)
      return { goes, file: false }
    }
    const held = this.told.again(about) ?? this.told.note(about, () => this.hold(about))
    return { goes: false, file: held.file }
  }

  /**
   * What a pause point would refuse is refused here as well. What it would ask somebody at the keyboard goes on: it is asked at
   * the next tool call. A step that was approved is that call's, and is not spent here.
   */
  private judgeStop(question: Question, session: Session) {
    const { runtime } = this
    this.know(question, session)
    if (runtime.sessions.get(session.client, session.id) === session)
      takeResults(runtime, session, runtime.sessions.observe(session, { budgetMs: READ_MS }))
    const now = runtime.now()
    const event = callOf(question, session, undefined, now)
    const figures = [
      ...figuresOf(session, event, now),
      ...runtime.planReadings(session),
      ...runtime.budgetReadings(session),
    ]
    const found = runtime.state.grants.size === 0 ? NO_RELEASES : releasesFor(runtime, session.id, undefined, figures)
    const releases = { ...found, standing: [...found.standing, ...found.steps], steps: [] }
    const about = this.about(question, session, undefined, ['continue', 'spend'], figures, releases)
    if (about.plan.effect === 'pass' || about.plan.effect === 'ask') return undefined
    for (const { key } of about.plan.evaluation.decidedBy) runtime.counters.fired(key, session.ref, now)
    const { decision, file } = this.told.again(about) ?? this.told.note(about, () => this.hold(about))
    return { stop: { text: decision.text, handle: about.recorded[0] ?? '' }, file }
  }

  private about(
    question: Question,
    session: Session,
    toolUse: string | undefined,
    actions: Action[],
    figures: FigureReading[],
    { blocked, ...releases }: Releases & { blocked: Blocked[] },
  ): About {
    const { runtime } = this
    const now = runtime.now()
    const rules = runtime.rules.inForce()
    const canAsk = session.attended === true && actions.includes('continue')
    const call = { actions, figures, attribution: runtime.attributionOf(session), canAsk, now }
    const plan: Plan = decide(rules.compiled, call, releases)
    const event = callOf(question, session, toolUse, now)
    // programs that are none of the known ones stand in the journal under that name
    return { runtime, client: question.client as Client, event, session, plan, blocked, rules, recorded: [] }
  }

  /** Here, or by the organisation's approvers; which knows no request of a program that is not on its list. */
  private hold(about: About): { decision: { text: string }; file: boolean } {
    if (about.plan.effect !== 'request') return { decision: refusedHere(about), file: false }
    if ((CLIENTS as readonly string[]).includes(about.client)) return answerOrganisation(about)
    const matches = about.plan.evaluation.decidedBy
    recordDecision(about, { did: 'refused', matches, answeredBy: 'nobody', event: about.event })
    return { decision: { text: '' }, file: false }
  }

  private spend({ plan, session, runtime }: About, toolUse: string): boolean {
    for (const { handle, id: answerId } of plan.spend) {
      const spent = { kind: 'spend', handle, answerId, toolUse, session: session.id } as const
      if (record(runtime, spent, { durable: true }).written) continue
      alarm(runtime, 'disk_full')
      return false
    }
    return true
  }

  /** What an answer let go on is chained: each step, and of what stands for a day the first in each session. */
  private recordPassed(about: About): void {
    const { plan, runtime, event, session } = about
    const isNews = plan.spend.length > 0 || plan.by.some(({ id }) => this.told.first(`${id} ${session.id}`))
    if (plan.by.length === 0 || !isNews) return
    recordDecision(about, {
      did: 'released',
      matches: plan.evaluation.lifted,
      answeredBy: plan.by.some(({ id }) => runtime.state.grants.get(id)?.jws) ? 'organisation' : 'machine',
      grants: plan.by.map(({ id }) => id),
      event,
    })
  }

  /** Shadow rules change nothing: counted on every route, recorded once per session and rule. */
  private count(about: About, action: Action, figures: FigureReading[]): void {
    const { runtime, session, plan, event, client } = about
    const now = runtime.now()
    if ((CLIENTS as readonly string[]).includes(client))
      runtime.counters.judged({ client, action, sessionRef: session.ref, figures }, now)
    for (const match of plan.evaluation.enforced) runtime.counters.fired(match.key, session.ref, now)
    for (const match of plan.evaluation.shadow) {
      runtime.counters.fired(match.key, session.ref, now)
      if (runtime.state.shadowed.has(`${session.id}\n${match.key}`)) continue
      recordDecision(about, { did: 'passed', matches: [match], answeredBy: 'nobody', event, stage: 'shadow', action })
    }
  }
}

const namesOf = (session: Session, now: number): FigureReading[] => {
  const agent = `${session.client}:${session.project}`
  return [nameReading('agent_id', agent, now), nameReading('workflow_id', `${agent}:${session.id}`, now)]
}

/** A model request as the journal has calls: no tool, and an id only where an answer is spent on it. */
const callOf = ({ agent }: Question, session: Session, toolUseId: string | undefined, atMs: number): ToolCall => ({
  kind: 'tool_call',
  sessionId: session.id,
  atMs,
  cwd: session.cwd,
  toolName: 'model request',
  startsSubagent: false,
  ...(agent === undefined ? {} : { agentId: agent }),
  ...(toolUseId === undefined ? {} : { toolUseId }),
})
