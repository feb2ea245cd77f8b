import type { StatementLine } from '#core/spend/statement.ts'
import type { Tx } from '../../db.ts'

/** By tenant, what of a month's difference from a provider's invoice is spread to it, as lines of its statement. */
export type Reconciliation = ReadonlyMap<string, readonly StatementLine[]>

/** No invoice is spread yet: nothing is added to any month. */
export async function reconciliationOf(_tx: Tx, _orgId: string, _month: string): Promise<Reconciliation> {
  return new Map()
}
