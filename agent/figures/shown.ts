/** Every figure that a rule can read, as it stands: for `holdpoint figures` and the local API. */
import type { Runtime } from '#agent/daemon/runtime.ts'
import type { Session } from '#agent/daemon/session.ts'
import { DESTINATIONS, type FigureReading, type FigureSource, isFresh, PLAN_WINDOWS } from '#core/figure.ts'
import { subagentTier } from '#core/model-tier.ts'
import { formatMicros, type Micros } from '#core/money.ts'
import { PLANS, type Plan } from './plan-window.ts'
import { plansOf } from './windows.ts'

/**
 * One figure. `client` and `session` are those whose calls are judged by it, absent for one of the machine. `fresh`: a rule
 * believes it now; `problem`: why there is none, a code or a sentence.
 */
export type ShownFigure = {
  client?: string
  session?: string
  name: string
  qualifier?: string
  plan?: Plan
  /** Exact, or `unread`. */
  value: string
  unit: string
  source?: FigureSource
  observedAt?: string
  ageS?: number
  fresh: boolean
  problem?: string
  pricedAtBound?: string[]
}

const UNREAD = { value: 'unread', fresh: false }

/** What can be told of a plan's windows, and by whom. */
const NO_PLAN = 'plan_untold'
const NO_BUDGET = 'budget_untold'

const momentOf = (observedAt: number, now: number) => ({
  observedAt: new Date(observedAt).toISOString(),
  ageS: Math.max(0, Math.round((now - observedAt) / 1000)),
})

function shown({ name, qualifier, value, unit, source, observedAt }: FigureReading, now: number) {
  const fresh = source === 'event' || isFresh({ name, value, unit, source, observedAt }, now)
  return {
    name,
    ...(qualifier === undefined ? {} : { qualifier }),
    value: typeof value === 'number' ? formatMicros(value as Micros) : value,
    unit,
    source,
    ...momentOf(observedAt, now),
    fresh,
    ...(fresh ? {} : { problem: 'too_old' }),
  }
}

/** `GET /api/figures`: each session's figures, then those of the machine. */
export function shownFigures(runtime: Runtime): ShownFigure[] {
  const now = runtime.now()
  return [...runtime.sessions.all().flatMap(session => ofSession(runtime, session, now)), ...ofMachine(runtime, now)]
}

function ofSession(runtime: Runtime, session: Session, now: number): ShownFigure[] {
  const agent = `${session.client}:${session.project}`
  const budgets = runtime.budgetReadings(session).map(one => shown(one, now))
  const facts: [string, string][] = [
    ['model_tier', subagentTier(session.model === undefined ? {} : { sessionModel: session.model })],
    ['workflow_id', `${agent}:${session.id}`],
    ['agent_id', agent],
  ]
  const figures: ShownFigure[] = [
    costOf(session, now),
    ...PLAN_WINDOWS.flatMap(window => ofWindow(runtime, window, plansOf(session), now)),
    ...(budgets.length > 0 ? budgets : [{ name: 'budget_used_pct', unit: 'pct', ...UNREAD, problem: NO_BUDGET }]),
    ...facts.map(([name, value]) => ({
      name,
      value,
      unit: name === 'model_tier' ? 'tier' : 'name',
      source: 'event' as const,
      fresh: true,
    })),
  ]
  return figures.map(figure => ({ client: session.client, session: session.id, ...figure }))
}

/** A running total: no age makes it unread. */
function costOf({ cost, costReadAt, costProblem, unpriced }: Session, now: number): ShownFigure {
  return {
    name: 'session_cost_usd',
    ...(cost === undefined ? UNREAD : { value: formatMicros(cost), fresh: true, source: 'event' as const }),
    unit: 'usd',
    ...(costReadAt === undefined ? {} : momentOf(costReadAt, now)),
    ...(unpriced.length > 0 ? { pricedAtBound: unpriced } : {}),
    ...(costProblem ? { problem: costProblem } : {}),
  }
}

function ofWindow(runtime: Runtime, window: string, plans: readonly Plan[], now: number): ShownFigure[] {
  const found = plans.flatMap(plan =>
    runtime.planWindows
      .readings([plan])
      .filter(({ qualifier }) => qualifier === window)
      .map(one => ({ plan, ...shown(one, now) })),
  )
  if (found.length > 0) return found
  return [{ name: 'plan_left_pct', qualifier: window, unit: 'pct', ...UNREAD, problem: NO_PLAN }]
}

function ofMachine(runtime: Runtime, now: number): ShownFigure[] {
  return [
    ...PLAN_WINDOWS.flatMap(window => ofWindow(runtime, window, PLANS, now)),
    { name: 'destination', value: DESTINATIONS.join(', '), unit: 'name', source: 'event', fresh: true },
  ]
}
