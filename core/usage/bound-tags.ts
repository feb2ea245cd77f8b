import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { DAY_TAG_SETS_MAX, TAG_KEYS_MAX } from '#core/limits.ts'
import { type Bucket, mergeBuckets } from './bucket.ts'
import { NO_TAGS, type Tags, tagsKey } from './tags.ts'

/** How many combinations of tags stand in a day. */
export const tagSets = (buckets: Iterable<{ tags: Tags }>): number => {
  const sets = new Set<string>()
  for (const { tags } of buckets) sets.add(tagsKey(tags))
  return sets.size
}

type Day = { buckets: readonly Bucket[]; unlisted?: Record<string, string> }

/**
 * A day with no more combinations of tags than the control plane takes of a machine. The dearest keep theirs; of the rest the tenant
 * alone is sent where that is enough, else nothing. No call and no cent goes, and what of each key went up as unattributed stands
 * in `unlisted`, as it does for values that no list has. The ledger of the machine keeps every tag.
 */
export function boundTags<T extends Day>(day: T, most = DAY_TAG_SETS_MAX): T {
  if (tagSets(day.buckets) <= most) return day
  const costs = new Map<string, bigint>()
  for (const { tags, picoUsd } of day.buckets) {
    const key = tagsKey(tags)
    costs.set(key, (costs.get(key) ?? 0n) + picoUsd)
  }
  const dearest = [...costs].sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
  const tenants = new Set(day.buckets.map(({ tags }) => tags.tenant))
  const isEnough = tenants.size < most
  const kept = new Set(dearest.slice(0, most - (isEnough ? tenants.size : 1)).map(([key]) => key))
  const lost = new Map<string, bigint>()
  const buckets = day.buckets.map(bucket => {
    const { tenant, ...others } = bucket.tags
    if (kept.has(tagsKey(bucket.tags))) return bucket
    const isTenantKept = isEnough && tenant !== undefined
    for (const key of Object.keys(isTenantKept ? others : bucket.tags))
      lost.set(key, (lost.get(key) ?? 0n) + bucket.picoUsd)
    return { ...bucket, tags: isTenantKept ? { tenant } : NO_TAGS }
  })
  const unlisted: Record<string, string> = { ...day.unlisted }
  for (const [key, pico] of lost)
    if (pico > 0n && (Object.hasOwn(unlisted, key) || Object.keys(unlisted).length < TAG_KEYS_MAX))
      unlisted[key] = formatDecimal((parseDecimal(unlisted[key] ?? '0') ?? 0n) + pico)
  return { ...day, buckets: mergeBuckets(buckets), ...(Object.keys(unlisted).length > 0 ? { unlisted } : {}) }
}
