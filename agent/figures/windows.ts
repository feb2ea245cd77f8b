import { type FigureReading, isFresh } from '#core/figure.ts'
import { MICROS_PER_UNIT, type Micros } from '#core/money.ts'
import type { SeenPlan, SeenWindow } from '#core/plan-window.ts'
import { PLANS, type Plan, type PlanWindow, WINDOW_MS } from './plan-window.ts'

/** Clocks that differ a little, and resets that are told as so many seconds from now. */
const SLACK_MS = 5 * 60_000
/** A window is chained again when so much of it is gone: a hundred lines a window at the most. */
const KEEP_EVERY: Micros = MICROS_PER_UNIT
const ODD_MAX = 1000

type Deps = {
  now(): number
  /** What the journal has, of before this start. */
  known: Iterable<PlanWindow>
  /** What the status line has told since it was looked at last. */
  look(): SeenPlan | undefined
  /** Chains a window, so that a restart does not forget how little was left. */
  keep(window: PlanWindow): void
  /** Something was told that cannot be, in words without figures of anybody's. */
  odd(note: string): void
}

/** Who told it, which decides how long it is good for: the status line's half an hour, what the daemon reads five minutes. */
export type WindowSource = PlanWindow['source']

/**
 * The windows of the plans, from whoever tells of them. What is told comes from files of the user's own, which an agent can
 * write: so what is left of a window never rises before it begins anew, no window ends earlier than was told, or later than it
 * is long, and what says otherwise changes nothing and is raised as an alarm. What nobody tells is unread, and so is a window
 * whose end has passed: what was used since then nobody knows.
 */
export class PlanWindows {
  private readonly windows = new Map<string, PlanWindow>()
  private readonly kept = new Map<string, PlanWindow>()
  private readonly told = new Set<string>()

  constructor(private readonly deps: Deps) {
    for (const window of deps.known) {
      this.windows.set(keyOf(window), window)
      this.kept.set(keyOf(window), window)
    }
  }

  /** Takes in what a client told. Nothing at all, as of a login without a plan, leaves everything as it is. */
  note({ plan, observedAt, windows }: SeenPlan, source: WindowSource): void {
    const now = this.deps.now()
    for (const seen of windows) {
      const left = leftOf(seen)
      if (left === undefined || !(seen.resetsAt > now)) continue
      if (seen.resetsAt > now + WINDOW_MS[seen.window] + SLACK_MS) {
        this.odd(`${plan} ${seen.window}: ends later than it is long`, seen)
        continue
      }
      this.take({ plan, ...seen, left, observedAt: Math.min(observedAt, now), source })
    }
  }

  private take({ plan, window, left, resetsAt, observedAt, source }: PlanWindow): void {
    const key = keyOf({ plan, window })
    const before = this.windows.get(key)
    const next = { plan, window, left, resetsAt, observedAt, source }
    if (before && before.resetsAt > this.deps.now()) {
      if (Math.abs(before.resetsAt - resetsAt) > SLACK_MS) {
        this.odd(`${plan} ${window}: another end than was told, and the one before has not passed`, next)
        // less is left all the same: that much may be true of another login
        if (left >= before.left) return
      }
      next.left = Math.min(before.left, left)
      next.resetsAt = Math.max(before.resetsAt, resetsAt)
      if (before.observedAt >= observedAt) Object.assign(next, { observedAt: before.observedAt, source: before.source })
    }
    this.windows.set(key, next)
    const kept = this.kept.get(key)
    const isNew = kept === undefined || kept.resetsAt !== next.resetsAt
    if (!isNew && kept.left - next.left < KEEP_EVERY && (next.left > 0 || kept.left === 0)) return
    this.kept.set(key, next)
    this.deps.keep(next)
  }

  private odd(note: string, { window, resetsAt }: Pick<SeenWindow, 'window' | 'resetsAt'>): void {
    const name = `${window} ${resetsAt} ${note}`
    if (this.told.has(name) || this.told.size >= ODD_MAX) return
    this.told.add(name)
    this.deps.odd(note)
  }

  /** Every window that has not ended, read lately or not. */
  all(): PlanWindow[] {
    const now = this.deps.now()
    const seen = this.deps.look()
    if (seen) this.note(seen, 'status_line')
    return [...this.windows.values()].filter(({ resetsAt }) => resetsAt > now)
  }

  /** What a rule reads of one plan, or of each where nobody knows which one a session draws on: the tightest then decides. */
  readings(plans: readonly Plan[] = PLANS): FigureReading[] {
    return this.all().flatMap(window => (plans.includes(window.plan) ? [readingOf(window)] : []))
  }

  /** Whether a condition on a window (any, when it names none) has a figure that is young enough. */
  isRead(window: string | undefined, plans: readonly Plan[] = PLANS): boolean {
    const now = this.deps.now()
    return this.readings(plans).some(one => (window === undefined || one.qualifier === window) && isFresh(one, now))
  }
}

const keyOf = ({ plan, window }: Pick<PlanWindow, 'plan' | 'window'>) => `${plan} ${window}`

const readingOf = ({ window: qualifier, left: value, observedAt, source }: PlanWindow): FigureReading => ({
  name: 'plan_left_pct',
  qualifier,
  value,
  unit: 'pct',
  observedAt,
  source,
})

/** What is left, rounded down; undefined for what is no percentage. A window that is more than used up has nothing left. */
function leftOf({ usedPct, resetsAt }: SeenWindow): Micros | undefined {
  if (!Number.isFinite(usedPct) || usedPct < 0 || !Number.isSafeInteger(resetsAt)) return undefined
  // 100 − 41.7 is 58.3 and a little less in binary
  return Math.max(0, Math.floor((100 - usedPct) * MICROS_PER_UNIT + 0.001))
}

/** Clients that no plan with windows pays for, whoever makes the model: a plan of their own maker's does, or a key. */
const OF_NO_PLAN: readonly string[] = ['copilot', 'cursor']

/** Where a session does not say of which provider it is. Gemini CLI's has no windows. */
const OF_CLIENT: Readonly<Record<string, readonly Plan[]>> = { codex: ['openai'], gemini: [] }

/** Of whose plan a client's sessions draw. A provider without windows has no figure; where nobody says, any may be meant. */
export function plansOf({ client, provider }: { client: string; provider?: string | undefined }): readonly Plan[] {
  if (client === 'claude-code') return ['anthropic']
  if (OF_NO_PLAN.includes(client)) return []
  if (provider === undefined) return OF_CLIENT[client] ?? PLANS
  return PLANS.filter(plan => plan === provider)
}
