import { DEFAULT_UNPRICED, type RateCard, type RateRow, type Rates, type UnpricedPolicy } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import { DAY_MS, dayStart } from '#core/usage/bucket.ts'
import type { Tx } from '../../db.ts'

/** Prices of each day: those of the version that was in force when the day ended, or is now. Version 0: the card alone. */
export type DayRates = { version: number; rates: Rates }

/**
 * Which prices hold for each of some days. A day that was priced by a later version before (an explicit repricing) keeps to
 * that one.
 * @param atLeast by day, the version that priced it
 */
export async function ratesOfDays(
  tx: Tx,
  orgId: string,
  days: readonly string[],
  atLeast: ReadonlyMap<string, number> = new Map(),
): Promise<Map<string, DayRates>> {
  const versions = await tx.ruleSetVersion.findMany({
    where: { orgId },
    select: { version: true, publishedAt: true },
    orderBy: { version: 'asc' },
  })
  const versionOf = (day: string) => {
    const end = dayStart(day) + DAY_MS
    const inForce = versions.findLast(one => one.publishedAt.getTime() < end)?.version ?? 0
    return Math.max(inForce, atLeast.get(day) ?? 0)
  }
  const found = new Map<string, DayRates>()
  for (const day of days) {
    const version = versionOf(day)
    found.set(day, { version, rates: await ratesOfVersion(tx, orgId, version) })
  }
  return found
}

/** Published versions never change, so what they come to is kept; the oldest look-ups are forgotten. */
const kept = new Map<string, Rates>()
const KEPT_MOST = 200

/** The card with the overrides of one published version. */
export async function ratesOfVersion(tx: Tx, orgId: string, version: number): Promise<Rates> {
  if (version === 0) return kept.get('card') ?? keep('card', builtInRates())
  const key = `${orgId} ${version}`
  const held = kept.get(key)
  if (held) return held
  const row = await tx.ruleSetVersion.findUniqueOrThrow({
    where: { orgId_version: { orgId, version } },
    select: { jws: true, digest: true },
  })
  const set = JSON.parse(Buffer.from(row.jws.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
    rateCard?: unknown
  }
  const { overrides, policy } = readRateSection(set.rateCard, row.digest)
  if (overrides === undefined && policy === undefined) return ratesOfVersion(tx, orgId, 0)
  return keep(key, builtInRates(policy, overrides))
}

function keep(key: string, rates: Rates): Rates {
  if (kept.size >= KEPT_MOST) kept.delete(kept.keys().next().value!)
  kept.set(key, rates)
  return rates
}

/** The forms that the section `rateCard` of a published set has: canonical JSON, checked when it was published. */
type Section = {
  rates?: {
    model: string
    provider: string
    aliases?: string[]
    from?: string
    input: string
    output: string
    cache_read?: string
    cache_write_5m?: string
    cache_write_1h?: string
    web_search?: string
  }[]
  unpriced?: { on_unpriced_model?: string; providers?: string[] }
}

function readRateSection(section: unknown, digest: string): { overrides?: RateCard; policy?: UnpricedPolicy } {
  if (typeof section !== 'object' || section === null || Array.isArray(section)) return {}
  const { rates = [], unpriced } = section as Section
  const rows = rates.map(
    (rate): RateRow => ({
      provider: rate.provider,
      id: rate.model,
      ...(rate.aliases ? { aliases: rate.aliases } : {}),
      entries: [
        {
          ...(rate.from ? { from: rate.from } : {}),
          input: rate.input,
          output: rate.output,
          cacheRead: rate.cache_read,
          cacheWrite5m: rate.cache_write_5m,
          cacheWrite1h: rate.cache_write_1h,
          webSearches: rate.web_search,
        },
      ],
    }),
  )
  const on = unpriced?.on_unpriced_model
  return {
    ...(rows.length > 0 ? { overrides: { name: digest, rows } } : {}),
    ...(unpriced
      ? {
          policy: {
            onUnpricedModel:
              on === undefined || on === 'max_rate' || on === 'zero' ? (on ?? 'max_rate') : { model: on },
            providers: unpriced.providers ?? DEFAULT_UNPRICED.providers,
          },
        }
      : {}),
  }
}
