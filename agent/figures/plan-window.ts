/** What is known of the windows of flat plans: five hours, a week. */
import type { PLAN_WINDOWS } from '#core/figure.ts'
import type { Micros } from '#core/money.ts'

/** Whose plan: the provider that counts. */
export const PLANS = ['anthropic', 'openai'] as const
export type Plan = (typeof PLANS)[number]
export type WindowName = (typeof PLAN_WINDOWS)[number]

/** How long each window is: nothing can begin anew later than that from now. */
export const WINDOW_MS: Readonly<Record<WindowName, number>> = { '5h': 5 * 3600_000, week: 7 * 24 * 3600_000 }

/** A window as it is believed: `left` in per cent (Micros), the least that was told of it since it began. */
export type PlanWindow = {
  plan: Plan
  window: WindowName
  left: Micros
  resetsAt: number
  /** When it was told last. */
  observedAt: number
  source: 'status_line' | 'daemon'
}
