/** Everything that somebody should see at one glance: for `holdpoint glance`, the local API, and agents that read it. */
import { releasesFor } from '#agent/daemon/releases.ts'
import type { Runtime } from '#agent/daemon/runtime.ts'
import type { Session } from '#agent/daemon/session.ts'
import { waitingOf } from '#agent/daemon/status.ts'
import { PLANS, type Plan } from '#agent/figures/plan-window.ts'
import { plansOf } from '#agent/figures/windows.ts'
import type { ShownBudget } from '#agent/usage/budgets.ts'
import type { Client } from '#core/client.ts'
import { type FigureReading, isFresh } from '#core/figure.ts'
import { type Advice, adviceOf, adviceText } from '#core/glance.ts'
import { formatMicros } from '#core/money.ts'

/** Newer ones stand first; more do not fit on a screen. */
const SESSIONS_MAX = 20

export type GlanceSession = {
  client: string
  session: string
  project: string
  /** Exact dollars at list prices; absent where it could not be read. */
  costUsd?: string
  attended: boolean
  lastSeen: string
}
export type GlancePlan = { plan: Plan; window: string; leftPct: string; resetsAt: string; ageS: number; fresh: boolean }
export type GlanceBudget = Pick<ShownBudget, 'name' | 'scope' | 'amount' | 'currency' | 'used' | 'pct' | 'exhausted'>

export type Glance = {
  at: string
  organisation?: string
  waiting: ReturnType<typeof waitingOf>
  /** Rules that hold a call now and can be judged without knowing the session. */
  boundaries: (Advice & { text: string })[]
  budgets: GlanceBudget[]
  plans: GlancePlan[]
  sessions: GlanceSession[]
  moreSessions: number
}

/** `GET /api/glance`. `client`: whose plans the rules are judged by; all of them when it is not said. */
export function glanceOf(runtime: Runtime, budgets: readonly ShownBudget[], client?: Client): Glance {
  const now = runtime.now()
  const live = runtime.sessions
    .all()
    .filter(({ ended }) => !ended)
    .sort((a, b) => b.lastSeen - a.lastSeen)
  const organisation = runtime.membership?.team.org.name
  return {
    at: new Date(now).toISOString(),
    ...(organisation === undefined ? {} : { organisation }),
    waiting: waitingOf(runtime),
    boundaries: advised(
      runtime,
      live.filter(session => client === undefined || session.client === client),
      client,
    ),
    budgets: budgets.map(({ name, scope, amount, currency, used, pct, exhausted }) => ({
      name,
      scope,
      amount,
      currency,
      used,
      pct,
      exhausted,
    })),
    plans: plansNow(runtime, now),
    sessions: live.slice(0, SESSIONS_MAX).map(({ client: of, id, project, cost, attended, lastSeen }) => ({
      client: of,
      session: id,
      project,
      ...(cost === undefined ? {} : { costUsd: formatMicros(cost) }),
      attended: attended ?? false,
      lastSeen: new Date(lastSeen).toISOString(),
    })),
    moreSessions: Math.max(0, live.length - SESSIONS_MAX),
  }
}

/** A rule that an answer lets go on in every session there is advises nobody to stop. */
function advised(runtime: Runtime, live: readonly Session[], client: Client | undefined): Glance['boundaries'] {
  const plans = client === undefined ? PLANS : plansOf({ client })
  const seen = new Map<string, FigureReading>()
  for (const session of live)
    for (const reading of runtime.budgetReadings(session)) seen.set(reading.qualifier ?? '', reading)
  const figures = [...runtime.planWindows.readings(plans), ...seen.values()]
  const { rules } = runtime.rules.inForce()
  const lifted = live.map(({ id }) => releasesFor(runtime, id, undefined, figures).standing.flatMap(({ keys }) => keys))
  return adviceOf(rules, { figures, machine: runtime.membership?.team.machine, now: runtime.now() })
    .filter(({ rule }) => lifted.length === 0 || !lifted.every(keys => keys.includes(rule)))
    .map(advice => ({ ...advice, text: adviceText(advice) }))
}

function plansNow(runtime: Runtime, now: number): GlancePlan[] {
  return runtime.planWindows.all().map(({ plan, window, left, resetsAt, observedAt, source }) => ({
    plan,
    window,
    leftPct: formatMicros(left),
    resetsAt: new Date(resetsAt).toISOString(),
    ageS: Math.max(0, Math.round((now - observedAt) / 1000)),
    fresh: isFresh({ name: 'plan_left_pct', value: left, unit: 'pct', observedAt, source }, now),
  }))
}
