import { isObject, type Json } from '#agent/clients/json-lines.ts'
import type { SeenPlan, SeenWindow } from '#core/plan-window.ts'

/** Plans of a fixed price. Those that are billed by use (`enterprise_cbp_usage_based`…) are not among them. */
const FLAT = new Set([
  'free',
  'go',
  'plus',
  'pro',
  'prolite',
  'promax',
  'team',
  'business',
  'enterprise',
  'edu',
  'edu_pro',
])

/**
 * Whether an account of the limits says that a plan covers the calls: by the plan's name, or, where none is written, by the
 * windows that only plans have. With a window used up and credits at hand nobody can say: credits are paid for.
 */
export function isCoveredByPlan({ plan_type, primary, secondary, credits }: Json): boolean {
  const windows = [primary, secondary].filter(isObject)
  const isPlan = typeof plan_type === 'string' ? FLAT.has(plan_type) : windows.length > 0
  const isUsedUp = windows.some(({ used_percent }) => typeof used_percent === 'number' && used_percent >= 100)
  return isPlan && !(isUsedUp && isObject(credits) && credits.has_credits === true)
}

/** What older versions leave out: the first window is the short one. */
const LENGTHS = { primary: 300, secondary: 7 * 24 * 60 }

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

function windowIn(limits: Json, name: keyof typeof LENGTHS, atMs: number): SeenWindow[] {
  const told = limits[name]
  if (!isObject(told)) return []
  const usedPct = numberOf(told.used_percent)
  const minutes = numberOf(told.window_minutes) ?? LENGTHS[name]
  // the provider says 299 as well
  const window = Math.abs(minutes - 300) <= 10 ? '5h' : Math.abs(minutes - 10_080) <= 60 ? 'week' : undefined
  const seconds = numberOf(told.resets_at)
  const left = numberOf(told.resets_in_seconds)
  const resetsAt = seconds !== undefined ? seconds * 1000 : left !== undefined ? atMs + left * 1000 : undefined
  if (usedPct === undefined || window === undefined || resetsAt === undefined) return []
  return [{ window, usedPct, resetsAt: Math.round(resetsAt) }]
}

/** What an account of the limits says of the plan's windows. That of a single model (another `limit_id`) is none of the plan's. */
export function windowsIn(limits: Json, atMs: number): SeenPlan | undefined {
  if (limits.limit_id !== undefined && limits.limit_id !== null && limits.limit_id !== 'codex') return undefined
  const windows = [...windowIn(limits, 'primary', atMs), ...windowIn(limits, 'secondary', atMs)]
  return windows.length > 0 ? { plan: 'openai', observedAt: atMs, windows } : undefined
}
