import type { Basis } from '#core/budget/budget.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import type { SharedRule } from '#core/spend/draw.ts'
import { inOrder } from '#core/spend/draw.ts'
import { compileExchange, type ExchangeRate, type ExchangeRates } from '#core/spend/exchange.ts'
import { renamedLists, renameMap } from '#core/usage/renames.ts'
import type { Tx } from '../../db.ts'
import { budgetDefaults } from '../boundary.ts'
import { spendInForce } from '../usage/in-force.ts'

/** How statements of months that nothing is closed of are drawn up. */
export type StatementSetting = {
  basis: Basis
  /** `2026-11`: none is made of months before it; null: from the first month with usage. */
  firstMonth: string | null
  rules: SharedRule[]
  currency: string
  rates: ExchangeRates
  entries: readonly ExchangeRate[]
  /** Keys on the organisation's list of tenants. */
  listed: readonly string[]
}

/** The settings of now: what an owner arranged, and currency, rates and lists of the rules in force. */
export async function statementSetting(tx: Tx, orgId: string): Promise<StatementSetting> {
  const setting = await tx.statementSetting.findUnique({ where: { orgId } })
  const rules = await tx.allocationRule.findMany({ where: { orgId } })
  const { currency } = await budgetDefaults(tx, orgId)
  const { tags, renames, exchange } = await spendInForce(tx, orgId)
  return {
    basis: (setting?.basis as Basis | undefined) ?? 'equivalent',
    firstMonth: setting?.firstMonth ?? null,
    rules: inOrder(
      rules.map(({ key, value, kind, shares }) => ({ key, value, rule: allocationRule(kind, shares as Shares) })),
    ),
    currency,
    rates: compileExchange(exchange),
    entries: exchange,
    listed: renamedLists(renameMap(renames), tags).tenant ?? [],
  }
}

type Shares = Record<string, string>

/** A rule as its columns have it. */
export const allocationRule = (kind: string, shares: Shares): AllocationRule =>
  kind === 'fixed' ? { kind, shares } : { kind: kind as Exclude<AllocationRule['kind'], 'fixed'> }
