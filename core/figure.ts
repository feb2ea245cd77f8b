import { cutDecimal, cutNumber, type Micros } from './money.ts'

/** The fixed list of figures a condition can read. Nothing outside it is ever read, sent or stored. */
export const FIGURE_NAMES = [
  'session_cost_usd',
  'plan_left_pct',
  'budget_used_pct',
  'model_tier',
  'destination',
  'workflow_id',
  'agent_id',
] as const
export type FigureName = (typeof FIGURE_NAMES)[number]

/** `usd` and `pct` values are Micros (six places); `tier` and `name` values are strings. */
export type FigureUnit = 'usd' | 'pct' | 'tier' | 'name'

/**
 * Where a reading comes from, which decides how long it is good for. `event` is the call itself (its model, its
 * session's running cost, its attribution): a fact of this moment, without an age.
 */
export type FigureSource = 'event' | 'status_line' | 'daemon' | 'fleet'

/** How old a reading of each source may be, in milliseconds, before it counts as unread. */
const FIGURE_MAX_AGE_MS: Record<FigureSource, number> = {
  event: Number.POSITIVE_INFINITY,
  status_line: 30 * 60_000,
  daemon: 5 * 60_000,
  fleet: 5 * 60_000,
}

export interface FigureKind {
  unit: FigureUnit
  /** How a page or a mail names it. */
  label: string
  /** The key beside the condition that narrows it. */
  qualifier?: 'window' | 'budget'
  /** With several readings and no qualifier, the one a rule reads: the tightest plan, the fullest budget. */
  worst: 'min' | 'max'
  /** Largest meaningful value in whole units. */
  max?: number
}

/** Everything about each figure; code below receives an entry and never lists figures again. */
export const FIGURES: Record<FigureName, FigureKind> = {
  session_cost_usd: { unit: 'usd', label: 'session cost', worst: 'max', max: 1_000_000_000 },
  plan_left_pct: { unit: 'pct', label: 'plan left', qualifier: 'window', worst: 'min', max: 100 },
  budget_used_pct: { unit: 'pct', label: 'budget used', qualifier: 'budget', worst: 'max', max: 1000 },
  model_tier: { unit: 'tier', label: 'model tier', worst: 'max' },
  destination: { unit: 'name', label: 'destination', worst: 'max' },
  workflow_id: { unit: 'name', label: 'workflow', worst: 'max' },
  agent_id: { unit: 'name', label: 'agent', worst: 'max' },
}

/** The windows of a plan that `window:` can name. */
export const PLAN_WINDOWS = ['5h', 'week'] as const

/** Where figures can be sent. */
export const DESTINATIONS = ['team', 'otel'] as const

/**
 * One figure as somebody measured it. `value` is Micros for `usd` and `pct`, rounded down, with `cut: true` when
 * digits beyond the sixth place were dropped: a comparison then takes whichever end holds. A cost that its maker has
 * already rounded up needs no `cut`. `qualifier` is the plan window, or the budget's name (`org:<name>` for one of the
 * organisation's). `observedAt` is milliseconds since 1970.
 */
export interface FigureReading {
  name: FigureName
  qualifier?: string
  value: Micros | string
  unit: FigureUnit
  cut?: boolean
  observedAt: number
  source: FigureSource
}

/** What the evaluator is given: the readings there are. A figure that is missing is unread. */
export type Figures = readonly FigureReading[]

/** True for the name of a figure. */
export function isFigureName(value: unknown): value is FigureName {
  return typeof value === 'string' && (FIGURE_NAMES as readonly string[]).includes(value)
}

/**
 * True while a reading may still be believed. A reading from further in the future than its own age limit (a clock
 * that was set back) is not believed either.
 */
export function isFresh(reading: FigureReading, nowMs: number): boolean {
  const maxAgeMs = FIGURE_MAX_AGE_MS[reading.source]
  const ageMs = nowMs - reading.observedAt
  return ageMs <= maxAgeMs && ageMs >= -maxAgeMs
}

/** A session's cost so far, in Micros already rounded up by whoever priced it. */
export function costReading(micros: Micros, observedAt: number): FigureReading {
  return { name: 'session_cost_usd', value: micros, unit: 'usd', observedAt, source: 'event' }
}

/**
 * A percentage as measured; undefined when it is no number. What is left of a plan may be measured below zero
 * (a window more than used up): that is 0.
 */
export function percentReading(
  name: 'plan_left_pct' | 'budget_used_pct',
  measured: number | string,
  rest: { qualifier?: string; observedAt: number; source: FigureSource },
): FigureReading | undefined {
  const clamped = typeof measured === 'number' && name === 'plan_left_pct' && measured < 0 ? 0 : measured
  const read = typeof clamped === 'number' ? cutNumber(clamped) : cutDecimal(clamped)
  if (read === undefined) return undefined
  return { name, value: read.floor, unit: 'pct', ...(read.cut ? { cut: true } : {}), ...rest }
}

/** A fact of the call itself: its model's tier, where figures are going, or its attribution. */
export function nameReading(
  name: 'model_tier' | 'destination' | 'workflow_id' | 'agent_id',
  value: string,
  observedAt: number,
): FigureReading {
  return { name, value, unit: FIGURES[name].unit, observedAt, source: 'event' }
}
