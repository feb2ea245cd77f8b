import { DAY_MS, dayStart } from '#core/day.ts'
import type { Rates } from '#core/pricing.ts'
import { builtInRates } from '#core/rate-card/built-in.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { rateRows } from '#core/rules/read-rates.ts'
import type { Tx } from '../../db.ts'
import { storedPayload } from '../../keys/stored.ts'
import { keptValues } from '../kept.ts'

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

/** Published versions never change, so what they come to is kept. */
const kept = keptValues<Rates>(200)

/** The card with the overrides of one published version. */
export async function ratesOfVersion(tx: Tx, orgId: string, version: number): Promise<Rates> {
  if (version === 0) return kept.get('card') ?? kept.put('card', builtInRates())
  const key = `${orgId} ${version}`
  const held = kept.get(key)
  if (held) return held
  const row = await tx.ruleSetVersion.findUniqueOrThrow({
    where: { orgId_version: { orgId, version } },
    select: { jws: true, digest: true },
  })
  const { rates, unpriced } = readSpend(storedPayload<RuleSet>(row.jws))
  if (rates.length === 0 && unpriced === undefined) return ratesOfVersion(tx, orgId, 0)
  return kept.put(
    key,
    builtInRates(unpriced, rates.length > 0 ? { name: row.digest, rows: rateRows(rates) } : undefined),
  )
}
