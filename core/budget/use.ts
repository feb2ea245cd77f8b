import type { FigureReading, FigureSource } from '#core/figure.ts'
import { MAX_MICROS, MICROS_PER_UNIT, type Micros } from '#core/money.ts'
import type { Tags } from '#core/usage/tags.ts'
import type { BudgetFor } from './budget.ts'

/** How far a budget is used in its window. Both in 10^-12 of the budget's currency; nothing here is ever rounded first. */
export interface Use {
  limit: bigint
  used: bigint
}

const MICROS_PER_WHOLE = 100n * BigInt(MICROS_PER_UNIT)

/**
 * The percentage that is used, in the evaluator's numbers: cut at six places, with `cut` where something was cut off, so that a
 * comparison takes the end that holds. A budget of nothing is full from the start. Adjustments below zero count as zero.
 */
export function usedPct({ limit, used }: Use): { value: Micros; cut: boolean } {
  if (limit <= 0n) return { value: used > 0n ? MAX_MICROS : 100 * MICROS_PER_UNIT, cut: false }
  if (used <= 0n) return { value: 0, cut: false }
  const scaled = used * MICROS_PER_WHOLE
  const floor = scaled / limit
  if (floor >= BigInt(MAX_MICROS)) return { value: MAX_MICROS, cut: false }
  return { value: Number(floor), cut: scaled % limit !== 0n }
}

/** True from the moment all of it is spent: a sum that equals the limit leaves nothing for another call. */
export const isExhausted = ({ limit, used }: Use): boolean => used >= limit

/** What may still be spent; never below zero. */
export const remaining = ({ limit, used }: Use): bigint => (used >= limit ? 0n : used < 0n ? limit : limit - used)

/** The steps (whole percentages) that have been reached, rising. Compared exactly: 50 % is reached at one half, not before. */
export const stepsReached = ({ limit, used }: Use, steps: readonly number[]): number[] =>
  [...new Set(steps)].filter(step => used > 0n && used * 100n >= limit * BigInt(step)).sort((a, b) => a - b)

/** Of several, the one of which the largest part is used; undefined of none. Of equal ones the first. */
export function fullest<T extends Use>(uses: readonly T[]): T | undefined {
  let chosen: T | undefined
  for (const use of uses) if (chosen === undefined || isFuller(use, chosen)) chosen = use
  return chosen
}

function isFuller(a: Use, b: Use): boolean {
  // a budget of nothing is fuller than any that has something left to spend
  if (a.limit <= 0n || b.limit <= 0n) return b.limit > 0n ? !isExhausted(b) : a.limit <= 0n && a.used > b.used
  return a.used * b.limit > b.used * a.limit
}

/** What the next run may spend at most: the smallest amount left, and whose it is. Undefined without a budget. */
export function nextRunCap<T extends Use>(uses: readonly T[]): { cap: bigint; binding: T } | undefined {
  let binding: T | undefined
  for (const use of uses) if (binding === undefined || remaining(use) < remaining(binding)) binding = use
  return binding === undefined ? undefined : { cap: remaining(binding), binding }
}

/** What the control plane last said of a budget: the fleet's spend in its window, and what of it this machine had reported. */
export interface FleetUse extends Use {
  own: bigint
  /** The window it is about, and when it was taken; milliseconds since 1970. */
  end: number
  cutAt: number
}

/**
 * The fleet's use with this machine's own spend brought up to date. `ownNow` is what the machine knows to have spent in the same
 * window; a ledger that was lost knows less than it reported, and what was reported counts then. Undefined once the window is
 * over: what was spent in it says nothing about the next.
 */
export function useSince(fleet: FleetUse, ownNow: bigint, now: number): Use | undefined {
  if (now >= fleet.end) return undefined
  const own = ownNow > fleet.own ? ownNow : fleet.own
  return { limit: fleet.limit, used: fleet.used - fleet.own + own }
}

/** Whose call it is, as far as it is known. A machine goes by its id and its label, a member by the id. */
export interface Belonging {
  tags: Tags
  machine?: readonly string[]
  member?: readonly string[]
}

/** False only when the call is known to be somebody else's: what is unknown may be anybody's. */
export function mayDrawOn(whom: BudgetFor | undefined, call: Belonging): boolean {
  if (whom === undefined || whom.value === '*') return true
  if (whom.key === 'machine' || whom.key === 'member') return call[whom.key]?.includes(whom.value) ?? true
  const value = call.tags[whom.key]
  return value === undefined || value === whom.value
}

/** A budget, or one value's share of a budget per value, as a connector can judge by it. */
export interface ReadableBudget {
  /** As conditions name it: `monthly`, or `org:monthly` for one of the organisation's. */
  qualifier: string
  for?: BudgetFor
  /** Undefined: unread. */
  use: Use | undefined
  observedAt: number
  source: Extract<FigureSource, 'fleet' | 'daemon'>
}

/**
 * The readings of `budget_used_pct` for one call: of every budget that it may draw on. Of a budget per value the call reads its
 * own value's; where that is unknown all of them, and the evaluator takes the fullest.
 */
export function budgetReadings(budgets: readonly ReadableBudget[], call: Belonging): FigureReading[] {
  return budgets.flatMap(({ qualifier, for: whom, use, observedAt, source }): FigureReading[] => {
    if (use === undefined || !mayDrawOn(whom, call)) return []
    const { value, cut } = usedPct(use)
    return [{ name: 'budget_used_pct', qualifier, value, unit: 'pct', ...(cut ? { cut } : {}), observedAt, source }]
  })
}
