import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import type { UsageSource } from '#agent/clients/usage-source.ts'
import type { ControlPlane } from '#agent/control-plane.ts'
import type { PrivateKey } from '#agent/crypto.ts'
import type { PlanWindows } from '#agent/figures/windows.ts'
import type { Home } from '#agent/home.ts'
import type { TrustStore } from '#agent/trust/store.ts'
import type { Team } from '#agent/trust/team.ts'
import type { Attribution } from '#core/boundary/compile.ts'
import type { FigureReading } from '#core/figure.ts'
import type { AlarmKind } from '#core/protocol.ts'
import type { Tags } from '#core/usage/tags.ts'
import type { ClientVersions } from './client-versions.ts'
import type { Counters } from './counters.ts'
import type { Entry, EntryBody } from './entry.ts'
import type { Journal } from './journal.ts'
import type { Judged } from './judged.ts'
import type { Rules } from './rules.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { State } from './state.ts'

/** What this machine has joined, with everything needed to speak for it. */
export type Membership = { team: Team; key: PrivateKey | undefined; trust: TrustStore; controlPlane: ControlPlane }

/** The parts of a running daemon, handed to whoever works with them. */
export type Runtime = {
  readonly home: Home
  readonly version: string
  readonly user: string
  readonly clientHome: ClientHome
  readonly adapters: ReadonlyMap<string, ClientAdapter>
  /** The clients whose own records of their calls are read, those of the adapters among them. */
  readonly sources: readonly UsageSource[]
  readonly secret: Uint8Array
  readonly journal: Journal
  readonly state: State
  readonly rules: Rules
  readonly sessions: Sessions
  readonly judged: Judged
  readonly counters: Counters
  membership: Membership | undefined
  /** Whose a session's calls are, for rules that are `for:` somebody. Fast: nothing is read that was read before. */
  attributionOf(session: Session): Attribution
  /** How far the budgets are used that a session may draw on. Fast, as well. */
  budgetReadings(session: Session): FigureReading[]
  /** Whether a condition's budget has a figure that is young enough. */
  isBudgetRead(qualifier: string | undefined): boolean
  /** What is left of the plans that a session may draw on. Fast, as well. */
  planReadings(session: Pick<Session, 'client' | 'provider'>): FigureReading[]
  readonly planWindows: PlanWindows
  /** Every tag of a session, local ones too. */
  tagsOf(session: Session): Tags
  /** Which patterns of the signed rules a hook found to hold in its client's environment. */
  environmentHeld(said: string | string[] | undefined): string[] | undefined
  readonly clientVersions: ClientVersions
  now(): number
  random(n: number): Uint8Array
  log(line: string): void
}

/** Chains an entry and applies it to what is known: the one way in which anything changes. */
export function record(
  runtime: Pick<Runtime, 'journal' | 'state'>,
  body: EntryBody,
  options?: { durable?: boolean },
): { entry: Entry; written: boolean } {
  const done = runtime.journal.append(body, options)
  runtime.state.apply(done.entry)
  return done
}

/** Alarms of one kind within this time are one alarm: a broken disk must not write a line a second. */
const ALARM_EVERY_MS = 10 * 60_000

/** Raises an alarm, at most once in a while for each kind. */
export function alarm(runtime: Pick<Runtime, 'journal' | 'state' | 'now'>, what: AlarmKind, note?: string): void {
  const last = runtime.state.alarms.get(what)
  if (last && runtime.now() - Date.parse(last.at) < ALARM_EVERY_MS && runtime.now() >= Date.parse(last.at)) return
  record(runtime, { kind: 'alarm', what, ...(note === undefined ? {} : { note }) })
}

/** The moment that limits are compared with: the clock, and never less than it has ever shown. */
export const clockOf = (runtime: Pick<Runtime, 'membership' | 'now'>): number =>
  runtime.membership?.trust.clock() ?? runtime.now()
