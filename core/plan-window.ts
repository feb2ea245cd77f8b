import type { PLAN_WINDOWS } from './figure.ts'

/** A window of a flat plan: how much of it is used, and when it begins anew (milliseconds since 1970). */
export type SeenWindow = { window: (typeof PLAN_WINDOWS)[number]; usedPct: number; resetsAt: number }
/** What a client tells of the plan that it draws on, and when it was told. */
export type SeenPlan = { plan: 'anthropic' | 'openai'; observedAt: number; windows: readonly SeenWindow[] }
