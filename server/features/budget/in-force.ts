import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import type { Tx } from '../../db.ts'
import { storedPayload } from '../../keys/stored.ts'

export type InForce = Pick<ReturnType<typeof readSpend>, 'budgets' | 'tags'> & { version: number }

/** The budgets of the newest published version; none, of version 0, while nothing is published. */
export async function budgetsInForce(tx: Tx, orgId: string): Promise<InForce> {
  const newest = await tx.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { version: true, jws: true },
  })
  if (!newest) return { version: 0, budgets: [], tags: {} }
  const { budgets, tags } = readSpend(storedPayload<RuleSet>(newest.jws))
  return { version: newest.version, budgets, tags }
}
