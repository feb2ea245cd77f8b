import type { PlanWindow } from '#agent/figures/plan-window.ts'
import type { RulesSeen } from '#agent/trust/pin.ts'
import type { Answer, Ceiling } from '#core/approval/answer.ts'
import type { ApprovalRequest } from '#core/approval/request.ts'
import type { ApprovalState } from '#core/approval/state.ts'
import { fromUtf8 } from '#core/bytes.ts'
import type { Level } from '#core/client.ts'
import { parseJws } from '#core/jws.ts'
import { ANSWER_MAX_MS } from '#core/limits.ts'
import { type Micros, parseMicros } from '#core/money.ts'
import type { AlarmKind, HookOff } from '#core/protocol.ts'
import type { DecisionEntry, Entry } from './entry.ts'
import { Mentions } from './mentions.ts'
import { keptUnder } from './subject.ts'
import { Unreported } from './unreported.ts'

/** What an organisation's answer, or a local one, lets through in one session (`session`: what {@link keptUnder} says). */
export type Grant = {
  /** The answer's id, or the handle of a question that was answered here. */
  id: string
  handle: string
  session: string
  /** Keys of the rules it lifts, with the digest each had. */
  rules: { key: string; digest: string | undefined }[]
  scope: 'step' | 'session'
  until: Ceiling[]
  /** Milliseconds since 1970. */
  notAfter: number
  spentBy?: string
  ended?: 'revoked' | 'lapsed'
  /** The organisation's signed answer, verified again before it releases anything; absent for one given on this machine. */
  jws?: string
}

/** A request that was made here, as it was stored before it was sent. */
export type FiledRequest = {
  request: ApprovalRequest
  digest: string
  session: string
  keys: string[]
  role: string
  state: ApprovalState
  filed?: { role: string; approvals: number; eligible: number; url: string }
  answeredBy?: string
  settledAt?: string
  /** Until when a denial stands, milliseconds since 1970. */
  standsUntil?: number
  /** Taken back here, and the control plane has not said yet that it knows. */
  withdraw?: 'session_ended' | 'denied_here' | 'rule_gone'
}

/** A question that a person at this machine can answer: `holdpoint approve <handle>`. */
export type Question = {
  decision: DecisionEntry
  at: string
  state: 'open' | 'answered' | 'denied'
  /** Until when a denial made here stands. */
  standsUntil?: number
}

/** How long what is over stays in memory for `explain`; older records are read from the journal's files. */
const KEEP_MS = 48 * 3600_000

/** Everything the daemon knows of decisions, replayed from the journal. `apply` is the only way in. */
export class State {
  readonly requests = new Map<string, FiledRequest>()
  readonly questions = new Map<string, Question>()
  readonly grants = new Map<string, Grant>()
  readonly decisions = new Map<string, { entry: Extract<Entry, { kind: 'decision' }>; at: number }>()
  private readonly mentions = new Mentions()
  /** Prompts that were put to a person and not yet seen answered: tool use → handle. */
  readonly prompts = new Map<string, string>()
  /** Shadow decisions are recorded once per session and rule. */
  readonly shadowed = new Set<string>()
  /** What the control plane is to be told, until it has it. */
  readonly unreported = new Unreported()
  readonly alarms = new Map<AlarmKind, { count: number; at: string }>()
  /** The highest cost that a decision has recorded for a session: it never falls below that. */
  readonly costHigh = new Map<string, Micros>()
  /** What was left of each plan's windows when it was chained last. */
  readonly planWindows = new Map<string, PlanWindow>()
  /** How far each client's hooks held when that was chained last. */
  readonly hooks = new Map<string, { level: Level; off: readonly HookOff[] }>()
  /** Ids of the answers that have been taken, accepted or not. */
  readonly answered = new Set<string>()
  /** Step answers that the journal shows as spent by a second call, not yet told. */
  readonly doubled = new Map<string, { handle: string; toolUse: string }>()
  /** The highest version of the organisation's rules that was ever in force here, for the machine that this home speaks for. */
  rulesSeen: RulesSeen | undefined
  /** The machine this home speaks for, and the line since which it does. */
  joined: { machine: string; seq: number } | undefined
  answerSeq = 0
  unjudged = 0
  lastEntryAt: string | undefined
  lastStopped = false

  apply(entry: Entry): void {
    this.mentions.add(entry)
    this.lastEntryAt = entry.at
    if (entry.kind !== 'journal_reset') this.lastStopped = entry.kind === 'stopped'
    const at = Date.parse(entry.at)
    switch (entry.kind) {
      case 'decision':
        this.decide(entry, at)
        break
      case 'late':
        this.passLate(entry.handle)
        break
      case 'request': {
        if (entry.replaces) this.rename(entry.replaces, entry.request.handle)
        const { request, digest, session, keys, role } = entry
        this.requests.set(request.handle, { request, digest, session, keys, role, state: 'pending' })
        break
      }
      case 'filed': {
        const asked = this.requests.get(entry.handle)
        if (asked) {
          const { role, approvals, eligible, url } = entry
          asked.filed = { role, approvals, eligible, url }
        }
        break
      }
      case 'state':
        this.settle(entry.handle, entry.state, entry.at2)
        this.noteWithdrawal(entry)
        this.answerSeq = Math.max(this.answerSeq, entry.place ?? 0)
        break
      case 'answer':
        this.answerSeq = Math.max(this.answerSeq, entry.place)
        this.answered.add(entry.answerId)
        this.answer(entry.handle, entry.jws, entry.ok)
        break
      case 'answer_refused':
        this.answerSeq = Math.max(this.answerSeq, entry.place)
        break
      case 'local_answer':
        this.answerHere(entry.handle, entry.scope, at, entry.how)
        if (entry.toolUse) this.prompts.delete(entry.toolUse)
        break
      case 'declined':
        this.prompts.delete(entry.toolUse)
        break
      case 'denied_here':
        this.denyHere(entry.handle, at)
        break
      case 'spend': {
        const grant = this.grants.get(entry.answerId)
        // two calls on one answer: what the daemon never does, so somebody else has written here
        if (grant?.spentBy !== undefined && grant.spentBy !== entry.toolUse)
          this.doubled.set(entry.answerId, { handle: entry.handle, toolUse: entry.toolUse })
        else if (grant) grant.spentBy = entry.toolUse
        this.settle(entry.handle, 'used', entry.at)
        break
      }
      case 'lapsed': {
        const grant = this.grants.get(entry.answerId)
        if (grant) grant.ended = 'lapsed'
        this.settle(entry.handle, 'lapsed', entry.at)
        break
      }
      case 'rules':
        if (entry.version > (this.rulesSeen?.version ?? 0)) {
          const { version, digest, rootSeq, rootDigest } = entry
          this.rulesSeen = { version, digest, rootSeq, ...(rootDigest ? { rootDigest } : {}), at }
        }
        break
      case 'root':
        if (this.rulesSeen && entry.rootSeq >= this.rulesSeen.rootSeq)
          Object.assign(this.rulesSeen, { rootSeq: entry.rootSeq, rootDigest: entry.digest })
        break
      case 'joined':
        this.rulesSeen = undefined
        this.joined = { machine: entry.machine, seq: entry.seq }
        break
      case 'left':
        this.rulesSeen = undefined
        this.joined = undefined
        break
      case 'not_judged':
        this.unjudged += entry.calls
        break
      case 'journal_reset':
        this.alarm('journal_reset', entry.at)
        break
      case 'journal_rolled_back':
        this.alarm('journal_rolled_back', entry.at)
        break
      case 'second_use':
        this.doubled.delete(entry.answerId)
        this.alarm('second_use_of_answer', entry.at)
        break
      case 'guard_refused':
        this.alarm('guard_refused', entry.at)
        break
      case 'plan_window':
        this.notePlanWindow(entry)
        break
      case 'hooks_changed':
        this.hooks.set(entry.client, { level: entry.to, off: entry.off })
        break
      case 'alarm':
        this.alarm(entry.what, entry.at)
        break
      default:
        break
    }
    this.unreported.add(entry)
  }

  /** What the journal says about a handle, as far as memory goes back; undefined = look into its files. */
  about(handle: string): Entry[] | undefined {
    return this.mentions.of(handle)
  }

  private decide(entry: Extract<Entry, { kind: 'decision' }>, at: number): void {
    this.decisions.set(entry.handle, { entry, at })
    const cost = parseMicros(entry.wire.find(figure => figure.name === 'session_cost_usd')?.value ?? '')
    if (cost !== undefined) this.costHigh.set(entry.session, Math.max(cost, this.costHigh.get(entry.session) ?? 0))
    if (entry.stage === 'shadow') for (const rule of entry.rules) this.shadowed.add(`${entry.session}\n${rule.key}`)
    if (entry.stage !== 'enforce' || entry.answeredBy !== 'machine' || entry.question) return
    if (entry.did === 'asked' || entry.did === 'refused')
      this.questions.set(entry.handle, { decision: entry, at: entry.at, state: 'open' })
    if (entry.did === 'asked' && entry.toolUse) this.prompts.set(entry.toolUse, entry.handle)
  }

  /** The call had gone on before its answer: it was held by nobody, and nobody here need answer it. */
  private passLate(handle: string): void {
    const known = this.decisions.get(handle)
    if (!known) return
    const entry = { ...known.entry, did: 'passed' as const, why: 'late' as const }
    this.decisions.set(handle, { ...known, entry })
    this.unreported.replace(entry)
    this.questions.delete(handle)
    if (entry.toolUse) this.prompts.delete(entry.toolUse)
  }

  /** A request whose handle was another machine's: who was told the old one finds the new. */
  private rename(old: string, handle: string): void {
    this.requests.delete(old)
    const told = this.decisions.get(old)
    if (told) told.entry = { ...told.entry, question: handle }
  }

  private settle(handle: string, state: ApprovalState, at: string): void {
    const asked = this.requests.get(handle)
    if (asked) {
      asked.state = state
      asked.settledAt = at
    }
    // told without the signed answer: it stands for a while and is then asked about anew
    if (asked && state === 'denied') asked.standsUntil ??= Date.parse(at) + UNSIGNED_DENIAL_MS
    if (state !== 'revoked') return
    for (const grant of this.grants.values()) if (grant.handle === handle) grant.ended = 'revoked'
  }

  private noteWithdrawal({ handle, state, by, why }: Extract<Entry, { kind: 'state' }>): void {
    const asked = this.requests.get(handle)
    if (!asked || state !== 'withdrawn') return
    if (by === 'control plane') delete asked.withdraw
    else if (why === 'session_ended' || why === 'denied_here' || why === 'rule_gone') asked.withdraw = why
  }

  private answer(handle: string, jws: string, ok: boolean): void {
    const asked = this.requests.get(handle)
    if (!asked || !ok) return
    // verified when it was chained; the journal is the record of that
    const answer = JSON.parse(fromUtf8(parseJws(jws).payload)) as Answer
    asked.answeredBy = answer.approvers.map(a => a.name).join(', ')
    asked.settledAt = answer.notBefore
    if (answer.decision === 'deny') {
      asked.state = 'denied'
      asked.standsUntil = Math.min(Date.parse(answer.notAfter), Date.parse(asked.request.createdAt) + ANSWER_MAX_MS)
      return
    }
    asked.state = 'approved'
    this.grants.set(answer.answerId, {
      id: answer.answerId,
      handle,
      session: asked.session,
      rules: asked.request.rules.map(rule => ({ key: `org:${rule.name}`, digest: rule.digest })),
      scope: answer.scope,
      until: answer.until,
      notAfter: Date.parse(answer.notAfter),
      jws,
    })
  }

  private answerHere(handle: string, scope: 'step' | 'session', at: number, how: 'cli' | 'prompt'): void {
    const question = this.questions.get(handle)
    if (!question) return
    question.state = 'answered'
    const { decision } = question
    // an answer given earlier under the same handle is replaced: one question, one standing answer
    this.grants.set(handle, {
      id: handle,
      handle,
      session: keptUnder(decision),
      rules: decision.rules.map(({ key, digest }) => ({ key, digest })),
      scope,
      until: how === 'prompt' || scope === 'session' ? (decision.until ?? []) : [],
      notAfter: at + ANSWER_MAX_MS,
    })
  }

  private denyHere(handle: string, at: number): void {
    const question = this.questions.get(handle)
    if (question) {
      question.state = 'denied'
      question.standsUntil = at + ANSWER_MAX_MS
    }
    const grant = this.grants.get(handle)
    if (grant) grant.ended = 'revoked'
  }

  private notePlanWindow({
    plan,
    window,
    left,
    resetsAt,
    observedAt,
    source,
  }: Extract<Entry, { kind: 'plan_window' }>) {
    const read = parseMicros(left)
    if (read === undefined) return
    const moments = { resetsAt: Date.parse(resetsAt), observedAt: Date.parse(observedAt) }
    this.planWindows.set(`${plan} ${window}`, { plan, window, left: read, ...moments, source })
  }

  private alarm(what: AlarmKind, at: string): void {
    this.alarms.set(what, { count: (this.alarms.get(what)?.count ?? 0) + 1, at })
  }

  /** Forgets what has been over for two days. `reportedTo`: the control plane has everything up to that number. */
  forget(nowMs: number, reportedTo: number): void {
    const old = nowMs - KEEP_MS
    for (const [handle, { at }] of this.decisions) if (at < old) this.decisions.delete(handle)
    this.mentions.forget(old)
    for (const [handle, question] of this.questions) if (Date.parse(question.at) < old) this.questions.delete(handle)
    for (const [handle, asked] of this.requests) {
      if (asked.state !== 'pending' && Date.parse(asked.request.createdAt) < old) this.requests.delete(handle)
    }
    for (const [id, grant] of this.grants) if (grant.notAfter < old) this.grants.delete(id)
    this.unreported.forget(reportedTo)
    for (const seen of [this.shadowed, this.answered]) {
      if (seen.size > SEEN_MAX) for (const oldest of [...seen].slice(0, SEEN_MAX / 2)) seen.delete(oldest)
    }
  }
}

/** How long a denial stands of which only the control plane knows the answer. */
const UNSIGNED_DENIAL_MS = 3600_000
/** Sessions and answers remembered so as not to be told twice; of older ones a repetition does no harm. */
const SEEN_MAX = 50_000
