import { isObject, type Json } from '#agent/clients/json-lines.ts'

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
