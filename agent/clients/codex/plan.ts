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
 * Whether an account of the limits says that a plan covers the calls. With a window used up and credits at hand nobody can
 * say: credits are paid for.
 */
export function isCoveredByPlan({ plan_type, primary, secondary, credits }: Json): boolean {
  if (typeof plan_type !== 'string' || !FLAT.has(plan_type)) return false
  const isUsedUp = [primary, secondary].some(
    window => isObject(window) && typeof window.used_percent === 'number' && window.used_percent >= 100,
  )
  return !(isUsedUp && isObject(credits) && credits.has_credits === true)
}
