import type { Rates } from '#core/pricing.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import type { SpendRules } from '#core/rules/shape.ts'
import type { Tx } from '../../db.ts'
import { storedPayload } from '../../keys/stored.ts'
import { ratesOfVersion } from './rates.ts'

/** What of the newest published version is about spend; of version 0, with nothing in it, while nothing is published. */
export async function spendInForce(tx: Tx, orgId: string): Promise<SpendRules & { version: number }> {
  const newest = await tx.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { version: true, jws: true },
  })
  const set = newest
    ? storedPayload<RuleSet>(newest.jws)
    : { budgets: [], rateCard: [], attribution: [] as unknown[], exchange: [] }
  const { unsupported: _, ...rules } = readSpend(set)
  return { ...rules, version: newest?.version ?? 0 }
}

/** Prices as they are in force now: the card with the organisation's own laid over it. */
export async function ratesInForce(tx: Tx, orgId: string): Promise<{ version: number; rates: Rates }> {
  const { _max } = await tx.ruleSetVersion.aggregate({ where: { orgId }, _max: { version: true } })
  const version = _max.version ?? 0
  return { version, rates: await ratesOfVersion(tx, orgId, version) }
}
