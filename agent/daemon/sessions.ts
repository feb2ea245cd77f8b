import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { CANARY_SESSION, type ClientAdapter, type HookEvent } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type {
  ChangedSession,
  SeenToolResult,
  SeenToolUse,
  SessionUsage,
  UsageRecord,
  UsageState,
} from '#agent/clients/usage-source.ts'
import { sessionRef } from '#agent/crypto.ts'
import { type Home, remove, writeJson } from '#agent/home.ts'
import type { Pricing } from '#agent/pricing/rate-card.ts'
import { costReading, type FigureReading, nameReading } from '#core/figure.ts'
import { subagentTier } from '#core/model-tier.ts'
import { type Micros, microsUp } from '#core/money.ts'
import type { SeenPlan } from '#core/plan-window.ts'
import type { Judged } from './judged.ts'
import { keptSession } from './kept.ts'
import { projectOf } from './project.ts'
import type { Session } from './session.ts'

/** A session that has been quiet for so long is forgotten; it may come back and is then read anew. */
const KEEP_MS = 7 * 24 * 3600_000
/** Tool uses older than this are not compared any more: what judged them may be forgotten. */
export const COMPARE_MS = 2 * 24 * 3600_000
/** Reading on while a call waits takes at most this; a longer transcript is read to its end between calls. */
const READ_MS = 1000

/** Far more than one response asks for at once. */
const SHOWN_MAX = 500

const PICO_PER_MICRO = 1_000_000n

/** What one look at a transcript brought besides the cost. */
export type Observation = { results: SeenToolResult[]; unguarded: { calls: number; fromMs: number; toMs: number } }

/** The sessions there are: who they are, what they have cost, and what ran in them unseen. */
export class Sessions {
  private readonly byKey = new Map<string, Session>()
  private readonly dirty = new Set<Session>()
  /** The newest tool uses that transcripts have named, by session; those of a response whose calls are still to come. */
  private readonly shown = new WeakMap<Session, Set<string>>()
  /** The tools of those that wait to be judged. */
  private readonly named = new WeakMap<Session, Map<string, string>>()
  /** The newest calls from within another, which transcripts name only once they have run. */
  private readonly nested = new WeakMap<Session, Set<string>>()

  constructor(
    private readonly home: Home,
    private readonly clientHome: ClientHome,
    private readonly adapters: ReadonlyMap<string, ClientAdapter>,
    private readonly pricing: Pricing,
    private readonly judged: Judged,
    private readonly secret: Uint8Array,
    private readonly now: () => number,
    /** Tool uses from before this moment are not counted. */
    private readonly since: () => number,
    /** The highest cost that a decision has recorded for a session. */
    private readonly recordedCost: (session: string) => Micros | undefined,
  ) {
    this.load()
  }

  all(): Session[] {
    return [...this.byKey.values()]
  }

  get(client: string, id: string): Session | undefined {
    return this.byKey.get(`${client}\n${id}`)
  }

  /** Hears of every response that a look brings. */
  onRecords: (session: Session, records: readonly UsageRecord[]) => void = () => {}

  /** Hears what a client's records tell of a plan's windows. */
  onPlan: (plan: SeenPlan) => void = () => {}

  /** To be written, unless it is one that is not kept. */
  private touch(session: Session): void {
    if (this.get(session.client, session.id) === session) this.dirty.add(session)
  }

  /** The session of an event, with what the event tells about it. */
  note(client: string, event: HookEvent, attended: boolean | undefined): Session {
    const session = this.get(client, event.sessionId) ?? this.make(client, event.sessionId)
    if (session.cwd === '') {
      session.cwd = event.cwd
      session.project = projectOf(event.cwd)
    }
    session.lastSeen = this.now()
    if (event.transcriptPath !== undefined) session.transcriptPath = event.transcriptPath
    // a subagent's model is its own
    if (event.agentId === undefined) {
      if (event.model !== undefined) session.model = event.model
      if (event.provider !== undefined) session.provider = event.provider
    }
    if (event.kind === 'session_end') session.ended = { at: this.now(), reason: event.reason }
    else delete session.ended
    if (attended !== undefined) session.attended = attended
    if (event.kind === 'tool_call' && event.isNested && event.toolUseId !== undefined)
      this.nested.set(session, newestOf(this.nested.get(session), [event.toolUseId]))
    this.adopt(session)
    return session
  }

  /** A known session's transcript has changed; false where no hook has told of the session. */
  noteChanged(client: string, { sessionId, transcriptPath, changedMs }: ChangedSession): boolean {
    const session = this.get(client, sessionId)
    if (!session) return sessionId === CANARY_SESSION
    session.transcriptPath ??= transcriptPath
    session.lastSeen = Math.max(session.lastSeen, Math.min(changedMs, this.now()))
    return true
  }

  /** A session that no hook has told of: its folder and whoever is there are unknown. Not kept unless {@link adopt}ed. */
  meet(client: string, { sessionId, transcriptPath, changedMs }: ChangedSession): Session {
    return { ...this.make(client, sessionId), transcriptPath, lastSeen: Math.min(changedMs, this.now()) }
  }

  adopt(session: Session): void {
    this.byKey.set(`${session.client}\n${session.id}`, session)
    this.dirty.add(session)
  }

  /** Two clients may use one id (one of them lets its user choose it): each session has a file and a name of its own. */
  private refOf(client: string, id: string): string {
    return sessionRef(this.secret, client === 'claude-code' ? id : `${client} ${id}`)
  }

  private make(client: string, id: string): Session {
    const cost = this.recordedCost(id)
    return {
      client,
      id,
      ref: this.refOf(client, id),
      cwd: '',
      project: 'unknown',
      unpriced: [],
      responses: 0,
      waiting: {},
      unguarded: {},
      lastSeen: 0,
      ...(cost === undefined ? {} : { cost }),
    }
  }

  /** Tool uses from before this moment are not counted: what judged them may be forgotten, or they are nobody's business. */
  countsFrom(): number {
    return Math.max(this.since(), this.now() - COMPARE_MS)
  }

  /** Forgets what ran unjudged: it is from before an organisation was joined, and none of its business. */
  dropUnguarded(): void {
    for (const session of this.byKey.values()) {
      session.unguarded = {}
      this.dirty.add(session)
    }
  }

  /** A state that the adapter cannot go on from is given up: it reads from the start, and nothing is counted twice. */
  private readOn(adapter: ClientAdapter, { id: sessionId, cwd, transcriptPath, usage }: Session): SessionUsage {
    const where = { sessionId, cwd: cwd || undefined, transcriptPath }
    const read = (from: UsageState | undefined) => adapter.usage.readSession(this.clientHome, where, from, this.pricing)
    if (usage === undefined) return read(undefined)
    try {
      return read(usage)
    } catch {
      return read(undefined)
    }
  }

  /** Reads on in a session's transcript. Bounded in time; what is left is read by the next look. */
  observe(session: Session, { budgetMs = READ_MS }: { budgetMs?: number } = {}): Observation {
    const adapter = this.adapters.get(session.client)
    const observation: Observation = { results: [], unguarded: { calls: 0, fromMs: Number.POSITIVE_INFINITY, toMs: 0 } }
    if (!adapter) return observation
    const deadline = performance.now() + budgetMs
    let more = true
    while (more && performance.now() < deadline) {
      const read = this.readOn(adapter, session)
      session.usage = read.state
      if (read.costPicoUsd !== undefined)
        session.cost = Math.max(session.cost ?? 0, microsUp(read.costPicoUsd, PICO_PER_MICRO))
      if (read.fresh) {
        session.costReadAt = this.now()
        delete session.costProblem
      } else if (read.problem !== undefined) session.costProblem = read.problem
      if (read.isWhole !== undefined) session.isWhole = read.isWhole
      if (read.model !== undefined) session.model = read.model
      const newest = read.records.findLast(({ agentId }) => agentId === undefined)
      if (newest?.provider !== undefined) session.provider = newest.provider
      session.unpriced = read.unpricedModels
      this.noteResponses(session, read.records)
      if (read.plan) this.onPlan(read.plan)
      if (read.records.length > 0) this.onRecords(session, read.records)
      this.noteShown(session, read.toolUses)
      this.compare(session, read, observation)
      if (read.records.length + read.toolUses.length + read.toolResults.length > 0) this.touch(session)
      more = read.more
    }
    if (more) session.isUnread = true
    else delete session.isUnread
    return observation
  }

  private noteResponses(session: Session, records: readonly UsageRecord[]): void {
    if (records.length === 0) return
    session.responses += records.length
    delete session.waitedInVain
    for (const response of records) {
      const cost = microsUp(this.pricing.price(response).picoUsd, PICO_PER_MICRO)
      session.dearest = Math.max(session.dearest ?? 0, cost)
    }
  }

  private noteShown(session: Session, toolUses: readonly SeenToolUse[]): void {
    if (toolUses.length === 0) return
    const ids = toolUses.map(({ toolUseId }) => toolUseId)
    this.shown.set(session, newestOf(this.shown.get(session), ids))
  }

  /** Whether the response that asks for a tool use is in the cost: the transcript has named the call, or the one it comes from. */
  hasShown(session: Session, toolUse: string): boolean {
    if (this.shown.get(session)?.has(toolUse)) return true
    return session.isWhole === true && (this.nested.get(session)?.has(toolUse) ?? false)
  }

  /**
   * The oldest tool use that the transcript names for a tool and that was not judged yet: a client gives the call no id that asks
   * now. It is judged under this one.
   */
  claim(session: Session, toolName: string): string | undefined {
    const names = this.named.get(session)
    const id = Object.keys(session.waiting).find(one => names?.get(one) === toolName)
    if (id === undefined) return undefined
    this.judged.add(session.id, id)
    delete session.waiting[id]
    names?.delete(id)
    this.touch(session)
    return id
  }

  /** A call was judged that bears no id and that the transcript has not named: it is one of those that it will. */
  owe(session: Session, toolName: string): void {
    session.owed = { ...session.owed, [toolName]: (session.owed?.[toolName] ?? 0) + 1 }
    this.touch(session)
  }

  private isOwed(session: Session, { toolUseId, toolName }: SeenToolUse): boolean {
    const owed = session.owed?.[toolName] ?? 0
    if (owed === 0) return false
    session.owed![toolName] = owed - 1
    this.judged.add(session.id, toolUseId)
    return true
  }

  /** Counts tool uses that ran and that no hook had judged. One that is still waiting may yet be judged. */
  private compare(
    session: Session,
    read: { toolUses: SeenToolUse[]; toolResults: SeenToolResult[] },
    seen: Observation,
  ): void {
    const since = this.countsFrom()
    for (const use of read.toolUses) {
      const { toolUseId, toolName, atMs } = use
      if (atMs < since || this.judged.has(session.id, toolUseId) || this.isOwed(session, use)) continue
      session.waiting[toolUseId] = atMs
      const names = this.named.get(session) ?? new Map<string, string>()
      this.named.set(session, names.set(toolUseId, toolName))
    }
    for (const result of read.toolResults) {
      seen.results.push(result)
      const atMs = session.waiting[result.toolUseId]
      if (atMs === undefined) continue
      delete session.waiting[result.toolUseId]
      this.named.get(session)?.delete(result.toolUseId)
      if (atMs < since || result.outcome !== 'ran' || this.judged.has(session.id, result.toolUseId)) continue
      this.judged.add(session.id, result.toolUseId)
      const day = new Date(Math.min(atMs, this.now())).toISOString().slice(0, 10)
      session.unguarded[day] = (session.unguarded[day] ?? 0) + 1
      seen.unguarded.calls++
      seen.unguarded.fromMs = Math.min(seen.unguarded.fromMs, atMs)
      seen.unguarded.toMs = Math.max(seen.unguarded.toMs, atMs)
    }
  }

  /** Writes what has changed; called each minute and at the end. Throws what the disk says. */
  save(): void {
    for (const session of this.dirty) {
      writeJson(this.home, this.pathOf(session), session)
      this.dirty.delete(session)
    }
    const old = this.now() - KEEP_MS
    for (const [key, session] of this.byKey) {
      if (session.lastSeen >= old) continue
      this.byKey.delete(key)
      remove(this.pathOf(session))
    }
  }

  private pathOf(session: Session): string {
    return join(this.home.sessions, `${session.ref}.json`)
  }

  private load(): void {
    let names: string[] = []
    try {
      names = readdirSync(this.home.sessions).filter(name => name.endsWith('.json'))
    } catch {
      return
    }
    for (const name of names) {
      const session = keptSession(join(this.home.sessions, name))
      if (!session || session.id === CANARY_SESSION || session.ref !== this.refOf(session.client, session.id)) continue
      const cost = Math.max(session.cost ?? 0, this.recordedCost(session.id) ?? 0)
      this.byKey.set(`${session.client}\n${session.id}`, {
        ...session,
        ...(cost > 0 ? { cost } : {}),
      })
    }
  }
}

/** A set with more ids in it, the oldest given up where there are too many. */
function newestOf(known: Set<string> | undefined, ids: readonly string[]): Set<string> {
  const set = known ?? new Set<string>()
  for (const id of ids.slice(-SHOWN_MAX)) set.add(id)
  if (set.size > 2 * SHOWN_MAX) for (const oldest of [...set].slice(0, -SHOWN_MAX)) set.delete(oldest)
  return set
}

/** How many tool uses of a session ran without having been judged. */
export const unguardedOf = ({ unguarded }: Session): number => Object.values(unguarded).reduce((a, b) => a + b, 0)

/** The figures of one call as the evaluator reads them. What has no source yet (plan windows, budgets) is unread. */
export function figuresOf(session: Session, event: HookEvent, nowMs: number): FigureReading[] {
  const agent = `${session.client}:${session.project}`
  const figures = [nameReading('agent_id', agent, nowMs), nameReading('workflow_id', `${agent}:${session.id}`, nowMs)]
  if (session.cost !== undefined) figures.push(costReading(session.cost, session.costReadAt ?? nowMs))
  if (event.kind === 'tool_call' && event.startsSubagent) {
    // one that names none runs on the model of whoever starts it, itself perhaps a subagent
    const inherited = event.model ?? session.model
    const tier = subagentTier({
      ...(event.subagentModel === undefined ? {} : { model: event.subagentModel }),
      ...(inherited === undefined ? {} : { sessionModel: inherited }),
    })
    figures.push(nameReading('model_tier', tier, nowMs))
  }
  return figures
}
