import { homedir } from 'node:os'
import type { ClientAdapter } from '#agent/clients/adapter.ts'
import type { ClientHome } from '#agent/clients/client-home.ts'
import { ADAPTERS, USAGE_SOURCES } from '#agent/clients/sources.ts'
import type { UsageSource } from '#agent/clients/usage-source.ts'
import { random } from '#agent/crypto.ts'
import { StatusLineFile } from '#agent/figures/status-line.ts'
import { PlanWindows, plansOf } from '#agent/figures/windows.ts'
import type { Home } from '#agent/home.ts'
import { pricingFrom } from '#agent/pricing/rate-card.ts'
import { Usage } from '#agent/usage/usage.ts'
import { formatMicros } from '#core/money.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { ClientVersions } from './client-versions.ts'
import { Counters } from './counters.ts'
import { logTo, readSecret, readTokens, type Tokens, userName } from './identity.ts'
import { Journal } from './journal.ts'
import { Judged } from './judged.ts'
import { join, noteJoined } from './membership.ts'
import { Rules } from './rules.ts'
import { alarm, type Runtime, record } from './runtime.ts'
import { Sessions } from './sessions.ts'
import { State } from './state.ts'

/** What a daemon runs with; tests give their own. */
export type RuntimeOptions = {
  version: string
  /** Milliseconds since 1970. */
  now: () => number
  clientHome?: ClientHome | undefined
  adapters?: readonly ClientAdapter[] | undefined
  sources?: readonly UsageSource[] | undefined
}

/** `downFrom`: the last sign of life of a daemon that did not end by itself. */
export type Opened = { runtime: Runtime; usage: Usage; tokens: Tokens; downFrom: string | undefined }

/** Opens what a home holds: its journal replayed, its rules and its membership read. */
export function openRuntime(home: Home, { version, now, clientHome, adapters, sources }: RuntimeOptions): Opened {
  const log = logTo(home, now)
  const secret = readSecret(home)
  const tokens = readTokens(home, now)
  const journal = new Journal(home, now, version)
  const state = new State()
  for (const entry of journal.entries) state.apply(entry)
  journal.entries = []
  const downFrom = state.lastStopped ? undefined : state.lastEntryAt
  for (const entry of journal.opened) state.apply(entry)
  for (const trouble of journal.troubles) log(`the journal: ${trouble}`)

  const judging = new Map((adapters ?? ADAPTERS).map(adapter => [adapter.client, adapter]))
  const place = clientHome ?? { homeDir: homedir(), env: process.env }
  const judged = new Judged(home, now)
  const sessions = new Sessions(
    home,
    place,
    judging,
    pricingFrom(builtInRates()),
    judged,
    secret,
    now,
    // what was before is nobody's business
    () => Math.max(Date.parse(tokens.since), Date.parse(runtime.membership?.team.joinedAt ?? '') || 0),
    session => state.costHigh.get(session),
  )
  const counters = new Counters(home)
  const statusLine = new StatusLineFile(home)
  const planWindows = new PlanWindows({
    now,
    known: state.planWindows.values(),
    look: () => statusLine.look(),
    keep: ({ left, resetsAt, observedAt, ...window }) => {
      const moments = { resetsAt: new Date(resetsAt).toISOString(), observedAt: new Date(observedAt).toISOString() }
      record(runtime, { kind: 'plan_window', ...window, left: formatMicros(left), ...moments })
    },
    odd: note => alarm(runtime, 'figure_odd', note),
  })
  sessions.onPlan = plan => planWindows.note(plan, 'daemon')
  const runtime: Runtime = {
    home,
    version,
    user: userName(),
    clientHome: place,
    adapters: judging,
    sources: sources ?? USAGE_SOURCES,
    secret,
    journal,
    state,
    rules: new Rules(
      home,
      () => runtime.membership?.trust,
      local => {
        record(runtime, {
          kind: 'local_rules',
          ok: local.errors.length === 0,
          rules: local.rules.length,
          problems: local.errors.length,
        })
        if (local.errors.length > 0) alarm(runtime, 'local_rules_broken')
      },
    ),
    sessions,
    judged,
    counters,
    membership: undefined,
    attributionOf: session => usage.boundaryAttribution(session),
    budgetReadings: session => usage.budgetReadings(session),
    isBudgetRead: qualifier => usage.isBudgetRead(qualifier),
    planWindows,
    planReadings: session => planWindows.readings(plansOf(session)),
    tagsOf: session => usage.attributedTo(session).tags,
    environmentHeld: said => usage.environment.heldBy(said),
    clientVersions: new ClientVersions({ adapters: judging, clientHome: place }),
    now,
    random,
    log,
  }
  const usage = new Usage(runtime)
  runtime.membership = join(runtime)
  if (journal.troubles.includes('disk_full')) alarm(runtime, 'disk_full')
  for (const [answerId, { handle, toolUse }] of [...state.doubled])
    record(runtime, { kind: 'second_use', handle, answerId, toolUse })
  runtime.rules.inForce()
  noteJoined(runtime)
  return { runtime, usage, tokens, downFrom }
}
