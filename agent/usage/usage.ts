import { coverageWords } from '#agent/clients/coverage.ts'
import type { Runtime } from '#agent/daemon/runtime.ts'
import type { Session } from '#agent/daemon/session.ts'
import { Telemetry, type TelemetryState } from '#agent/otlp/telemetry.ts'
import { takeOutbox } from '#agent/proxy/outbox.ts'
import type { Attribution } from '#core/boundary/compile.ts'
import { effectOf } from '#core/boundary/evaluate.ts'
import { isUnsupported } from '#core/boundary/shape.ts'
import { DAY_MS } from '#core/day.ts'
import { type FigureReading, nameReading } from '#core/figure.ts'
import { type Attributed, boundaryAttribution } from '#core/usage/attribution.ts'
import type { RateKind } from '#core/usage/bucket.ts'
import { Attributor, attributionOf, type Self, spendOf, type TagProblem } from './attribute.ts'
import { Budgets, type Caller, type ShownBudget } from './budgets.ts'
import { workspaceOf } from './cells.ts'
import { Collector, type CollectProgress } from './collect.ts'
import { EnvironmentRules, environmentPatterns, secretsAsked } from './environment.ts'
import { KeptTags } from './kept-tags.ts'
import { Ledger, ledgerDays, RETAIN_DAYS } from './ledger.ts'
import { takeLedger } from './ledger-lock.ts'
import { Marks } from './marks.ts'
import { type Meter, makeMeter, ratesOf, unpricedOf } from './meter.ts'
import type { Place } from './place.ts'
import { UnreadCalls } from './unread-calls.ts'
import { Uploader, type UploadState } from './upload.ts'

/** What status says of usage. `said`: what is not done here, in sentences for people. */
export type UsageStatus = {
  reading: CollectProgress
  days: number
  retainDays: number
  /** Models of the last thirty days without a price of their own, and how they are priced instead. */
  unpriced: { model: string; rate: RateKind }[]
  brokeOff: number
  tooOld: number
  unsound: number
  tagProblems: TagProblem[]
  upload?: UploadState
  /** What clients have told by OpenTelemetry; absent where none has. */
  telemetry?: TelemetryState
  /** Keys of the boundaries on `share` that hold uploads back. */
  heldBy?: string[]
  problem?: string
  said: string[]
}

/** How far back models without a price are told. */
const UNPRICED_MS = 30 * DAY_MS

/** The machine's side of spend in the daemon: reads calls into the ledger, says whose they are, and sends their sums. */
export class Usage {
  private readonly ledger: Ledger
  private readonly attributor: Attributor
  private readonly collector: Collector
  private readonly uploader: Uploader
  private readonly budgets: Budgets
  /** What the door takes in of telemetry. */
  readonly telemetry: Telemetry
  private readonly unread: UnreadCalls
  readonly environment: EnvironmentRules
  private knownMarks: Marks | undefined
  private unlock: (() => void) | undefined
  private readonly attributed = new WeakMap<Place, { by: unknown; found: Attributed }>()
  private problem: string | undefined
  private newest: Promise<void> = Promise.resolve()

  constructor(private readonly runtime: Runtime) {
    const { home, sources, clientHome } = runtime
    const now = () => runtime.now()
    this.ledger = new Ledger(home, now)
    this.unread = new UnreadCalls(this.ledger)
    this.attributor = new Attributor(new KeptTags(home))
    runtime.sessions.onRecords = (session, records) => this.unread.note(session, records)
    this.collector = new Collector({
      sources,
      clientHome,
      ledger: this.ledger,
      marks: () => this.marks(),
      attributor: this.attributor,
      now,
      onPlan: plan => runtime.planWindows.note(plan, 'daemon'),
      knownSession: (client, session) => runtime.sessions.get(client, session),
    })
    this.environment = new EnvironmentRules(home, () => runtime.rules.inForce().set)
    this.telemetry = new Telemetry({
      home,
      now,
      ledger: this.ledger,
      readsOwn: (client, session) =>
        session === undefined ? this.marks().hasClient(client) : this.marks().get(client, session) !== undefined,
      isSource: client => sources.some(source => source.client === client),
      placeOf: (client, id = 'telemetry', tags) => {
        const session = runtime.sessions.get(client, id)
        const about = session ? { ...session, runTags: session.runTags ?? tags } : { runTags: tags }
        return this.attributor.placeOf(client, id, about)
      },
    })
    this.uploader = new Uploader({
      home,
      now,
      membership: () => runtime.membership,
      meter: () => this.meter(),
    })
    this.budgets = new Budgets({
      home,
      now,
      membership: () => runtime.membership,
      meter: () => this.meter(),
      localBudgets: () => runtime.rules.inForce().local.budgets,
    })
  }

  private callerOf(session: Session): Caller {
    const { team } = this.runtime.membership ?? {}
    return {
      tags: this.attributedTo(session).tags,
      workspace: workspaceOf(this.placeOf(session)),
      ...this.unread.spentBy(session, this.meter()),
      ...(team
        ? {
            machine: [team.machine, ...(team.label === undefined ? [] : [team.label])],
            member: [team.member.id],
          }
        : {}),
    }
  }

  private live(): Caller[] {
    return this.unread.sessions().map(session => this.callerOf(session))
  }

  /** How far the budgets are used that a call of a session may draw on; nothing is read that was not read before. */
  budgetReadings(session: Session): FigureReading[] {
    return this.budgets.isEmpty ? [] : this.budgets.readings(this.callerOf(session), this.live())
  }

  /** Whether a budget that a condition names (any, when it names none) has a figure that is young enough. */
  isBudgetRead(qualifier: string | undefined): boolean {
    return this.budgets.isRead(qualifier)
  }

  /** For the terminal: every budget that can be read. */
  shownBudgets(): { budgets: ShownBudget[]; problem?: Budgets['problem'] } {
    const { problem } = this.budgets
    return { budgets: this.budgets.shown(this.live()), ...(problem ? { problem } : {}) }
  }

  /** Asks how far the fleet is, and counts this machine's own beside it. */
  private async askFleet(): Promise<void> {
    const { set } = this.runtime.rules.inForce()
    if ((spendOf(set)?.budgets.length ?? 0) === 0) return
    await this.budgets.fetch()
    await this.collect()
  }

  /** What was read lies in a file: looked at once nobody else writes it. */
  private marks(): Marks {
    this.knownMarks ??= new Marks(this.runtime.home)
    return this.knownMarks
  }

  /** One process at a time writes the ledger: a command may be reading years into it just now. @throws while it does */
  private lock(): void {
    this.unlock ??= takeLedger(this.runtime.home)
  }

  private get self(): Self {
    const { clientHome, membership, rules } = this.runtime
    return { homeDir: clientHome.homeDir, team: membership?.team, declared: rules.inForce().local.covered }
  }

  private meter(): Meter {
    return makeMeter(this.runtime.rules.inForce().set, this.self)
  }

  /** Hooks are told what the rules in force ask of them. */
  noteRules(): void {
    try {
      this.environment.write()
    } catch (error) {
      this.runtime.log(`what rules ask of environments was not written: ${(error as Error).message}`)
    }
  }

  private placeOf(session: Session): Place {
    return this.attributor.placeOf(session.client, session.id, session, Number.POSITIVE_INFINITY)
  }

  /** To whom a session's calls belong now. What its folder says is as old as the newest look at it. */
  attributedTo(session: Session): Attributed {
    const place = this.placeOf(session)
    const { set } = this.runtime.rules.inForce()
    const before = this.attributed.get(place)
    if (before && before.by === set) return before.found
    const found = attributionOf(place, spendOf(set), this.self)
    this.attributed.set(place, { by: set, found })
    return found
  }

  /**
   * What boundaries are judged by. Where the organisation lists projects the tag alone says which one it is; elsewhere the
   * repository's name stands for it.
   */
  boundaryAttribution(session: Session): Attribution {
    const { membership, rules } = this.runtime
    const found = boundaryAttribution(this.attributedTo(session).tags, membership?.team.machine)
    const listsProjects = (spendOf(rules.inForce().set)?.tags.project?.length ?? 0) > 0
    return found.project !== undefined || listsProjects ? found : { ...found, project: session.project }
  }

  /** Reads what the clients have recorded, and counts it. What goes wrong is told in status and tried again. */
  collect(): Promise<void> {
    this.newest = this.newest.then(async () => {
      try {
        this.lock()
        await this.collector.run()
        const left = takeOutbox(this.runtime.home, this.telemetry)
        await this.telemetry.settle()
        await this.budgets.count()
        this.unread.forget()
        this.problem = left
      } catch (error) {
        this.problem = (error as Error).message
        this.runtime.log(`the usage ledger: ${this.problem}`)
      }
    })
    return this.newest
  }

  /**
   * Boundaries on `share` that keep usage from leaving for the team. Nobody is asked: held until the rule says otherwise, and
   * then whole days fill the gap.
   */
  private heldBy(): string[] {
    const { rules, membership } = this.runtime
    const now = this.runtime.now()
    const evaluation = rules.inForce().compiled.decide({
      action: 'share',
      figures: [nameReading('destination', 'team', now)],
      attribution: membership ? { machine: membership.team.machine } : {},
      now,
      lifted: new Set(),
    })
    return effectOf(evaluation, { action: 'share', canAsk: false }) === 'pass'
      ? []
      : evaluation.decidedBy.map(({ key }) => key)
  }

  /** What happens each minute: reading, and sending when it is time. */
  async tick(): Promise<void> {
    this.noteRules()
    await this.collect()
    if (this.uploader.isDue(this.readsBudget()) && this.heldBy().length === 0)
      await this.uploader.send().catch(error => this.runtime.log(`the upload of usage: ${(error as Error).message}`))
    await this.askFleet()
  }

  /** Reads and sends now. A control plane that takes no usage yet is no failure: status says so. */
  async sync(): Promise<void> {
    this.noteRules()
    await this.collect()
    if (this.heldBy().length === 0)
      await this.uploader.send().catch(error => {
        if ((error as { code?: string }).code !== 'NOT_FOUND') throw error
      })
    await this.askFleet()
  }

  /** The exact bytes of the next upload; see {@link Uploader.preview}. */
  async preview(): Promise<string | undefined> {
    await this.collect()
    return this.uploader.preview()
  }

  /** Whether a rule or budget in force wants the current day each minute. */
  private readsBudget(): boolean {
    const { set, rules } = this.runtime.rules.inForce()
    return (
      (spendOf(set)?.budgets.length ?? 0) > 0 ||
      rules.some(
        ({ rule, scope }) =>
          scope === 'organisation' &&
          !isUnsupported(rule) &&
          rule.when.some(({ figure }) => figure === 'budget_used_pct'),
      )
    )
  }

  /** Deletes what is older than is kept; once a day would do. */
  forget(): void {
    this.ledger.forget()
  }

  status(): UsageStatus {
    const { set } = this.runtime.rules.inForce()
    const spend = spendOf(set)
    const upload = this.uploader.state()
    const telemetry = this.telemetry.state()
    const now = this.runtime.now()
    const { brokeOff, tooOld, unsound } = this.ledger
    const byEnvironment = environmentPatterns(set).length > 0
    const secrets = secretsAsked(set)
    return {
      reading: this.collector.progress,
      days: ledgerDays(this.runtime.home).length,
      retainDays: RETAIN_DAYS,
      unpriced: unpricedOf(this.ledger.modelsSince(now - UNPRICED_MS), ratesOf(set), now),
      brokeOff,
      tooOld,
      unsound,
      tagProblems: this.attributor.tagProblems(),
      ...(upload ? { upload, heldBy: this.heldBy() } : {}),
      ...(telemetry ? { telemetry } : {}),
      ...(this.problem === undefined ? {} : { problem: this.problem }),
      said: [
        ...coverageWords(this.runtime.sources),
        ...(upload && !this.self.team?.backfill
          ? [
              'what was used before this machine joined stays on it (to send it too: `holdpoint leave`, then `holdpoint join --backfill` with a new line)',
            ]
          : []),
        ...(byEnvironment
          ? [
              'attribution by environment holds for sessions whose start or prompt a hook of ours has seen; of a variable only that a rule’s pattern holds is kept',
            ]
          : []),
        ...(secrets > 0
          ? [
              `${secrets} attribution rule${secrets === 1 ? ' asks' : 's ask'} about a variable with a secret’s name: not looked at`,
            ]
          : []),
        ...(spend?.unsupported.map(({ section, name, reason }) => `${section} ${name}: ${reason}`) ?? []),
      ],
    }
  }

  async stop(): Promise<void> {
    await this.collector.stop()
    await this.newest
    await this.uploader.idle()
    this.unlock?.()
    this.unlock = undefined
  }
}
