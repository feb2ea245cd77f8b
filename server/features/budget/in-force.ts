import { readRules } from '#core/boundary/read-rules.ts'
import type { RuleSet } from '#core/rule-set.ts'
import { readSpend } from '#core/rules/json.ts'
import { compileExchange, type ExchangeRates } from '#core/spend/exchange.ts'
import { renamedLists, renameMap } from '#core/usage/renames.ts'
import type { Tx } from '../../db.ts'
import { storedPayload } from '../../keys/stored.ts'
import { keptValues } from '../kept.ts'

export type InForce = Pick<ReturnType<typeof readSpend>, 'budgets' | 'tags' | 'covered'> & {
  version: number
  exchange: ExchangeRates
  /** Rules that read a budget, each with its name; empty for a rule that reads every one. */
  budgetRules: ReadonlyMap<string, string>
}

/** Published versions never change, so what they say is kept. */
const kept = keptValues<InForce>(200)

/** The budgets of the newest published version; none, of version 0, while nothing is published. */
export async function budgetsInForce(tx: Tx, orgId: string): Promise<InForce> {
  const newest = await tx.ruleSetVersion.findFirst({
    where: { orgId },
    orderBy: { version: 'desc' },
    select: { version: true, digest: true },
  })
  if (!newest)
    return { version: 0, budgets: [], tags: {}, covered: undefined, exchange: new Map(), budgetRules: new Map() }
  const { version, digest } = newest
  const key = `${orgId} ${version} ${digest}`
  const held = kept.get(key)
  if (held) return held
  const { jws } = await tx.ruleSetVersion.findUniqueOrThrow({
    where: { orgId_version: { orgId, version } },
    select: { jws: true },
  })
  const set = storedPayload<RuleSet>(jws)
  const { budgets, tags: lists, renames, exchange, covered } = readSpend(set)
  // a budget for each value has one for what values are called now
  const tags = renamedLists(renameMap(renames), lists)
  return kept.put(key, {
    version,
    budgets,
    tags,
    covered,
    exchange: compileExchange(exchange),
    budgetRules: readersOf(set),
  })
}

function readersOf({ boundaries }: RuleSet): Map<string, string> {
  const found = new Map<string, string>()
  for (const rule of readRules(boundaries)) {
    const reads = 'when' in rule ? rule.when.find(({ figure }) => figure === 'budget_used_pct') : undefined
    if (reads) found.set(rule.name, reads.qualifier?.replace(/^org:/, '') ?? '')
  }
  return found
}
