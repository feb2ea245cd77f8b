import { spreadDifference } from '#core/invoice/reconcile.ts'
import type { Json } from '#core/json.ts'
import type { AllocationRule } from '#core/spend/allocate.ts'
import { fromUsd, toUsd } from '#core/spend/exchange.ts'
import type { StatementLine } from '#core/spend/statement.ts'
import { type RenameMap, renamedValue } from '#core/usage/renames.ts'
import type { Tx } from '../../db.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import { allocationRule } from '../statement/setting.ts'
import { type Difference, differenceOf, type InvoiceOf, lastDay } from './compare.ts'

/**
 * What a month's statements are drawn up in and for: the currency, the tenants that take part in what is shared, and what recorded
 * tenants are read as, which in a settled month is as it was then: a rename moves nothing between statements that are closed.
 */
export type SpreadAs = { currency: string; tenants: readonly string[]; renames: RenameMap }

/**
 * By tenant, what of a month's invoices beyond our own figures is spread to it, as lines of its statement: one for each invoice,
 * by the rule that was stated. Always the difference as it is now, so that our figures and these lines are the invoice; a closed
 * month's change is an adjustment. Where nothing is spread there is nothing.
 * @throws AppError BAD_INPUT where an exchange rate is missing
 */
export async function reconciliationLines(
  db: Tx,
  orgId: string,
  month: string,
  as: SpreadAs,
): Promise<Map<string, StatementLine[]>> {
  const lines = new Map<string, StatementLine[]>()
  const spreads = await db.invoiceSpread.findMany({
    where: { orgId, invoice: { month } },
    include: { invoice: true },
    orderBy: { invoice: { provider: 'asc' } },
  })
  for (const { kind, shares, invoice } of spreads) {
    const difference = await differenceOf(db, orgId, invoice)
    const rule = allocationRule(kind, shares as Record<string, string>)
    const spread = await spreadInvoice(db, orgId, invoice, difference, rule, as)
    for (const [tenant, line] of spread.lines) lines.set(tenant, [...(lines.get(tenant) ?? []), line])
  }
  return lines
}

/**
 * One invoice's difference in the statements' currency (`whole`), spread: the one arithmetic of statements and of whatever shows it
 * before or beside them.
 * @throws AppError BAD_INPUT where an exchange rate is missing, or for shares that are none
 */
export async function spreadInvoice(
  db: Tx,
  orgId: string,
  invoice: InvoiceOf,
  { difference, tenants, equivalents }: Pick<Difference, 'difference' | 'tenants' | 'equivalents'>,
  rule: AllocationRule,
  as: SpreadAs,
) {
  const whole = await inCurrency(db, orgId, invoice, difference, as.currency)
  const own = new Map(as.tenants.map(tenant => [tenant, 0n]))
  for (const [recorded, pico] of rule.kind === 'equivalent' ? equivalents : tenants) {
    const tenant = recorded === null ? undefined : renamedValue(as.renames, 'tenant', recorded)
    const before = tenant === undefined ? undefined : own.get(tenant)
    if (before !== undefined) own.set(tenant!, before + pico)
  }
  const spread = spreadDifference(whole, rule, own, {
    provider: invoice.provider,
    invoice: invoice.number ?? invoice.month,
    currency: as.currency,
  })
  return { whole, ...spread }
}

/** An amount of an invoice in a statement's currency, at the rates of the month's last day. */
async function inCurrency(db: Tx, orgId: string, invoice: InvoiceOf, pico: bigint, currency: string): Promise<bigint> {
  if (invoice.currency === currency) return pico
  const { exchange } = await budgetsInForce(db, orgId)
  const day = lastDay(invoice.month)
  const usd = toUsd(exchange, pico, invoice.currency, day)
  return currency === 'USD' ? usd : fromUsd(exchange, usd, currency, day)
}

/** What entries about an invoice say of it. */
export const invoiceData = ({ provider, month }: Pick<InvoiceOf, 'provider' | 'month'>): { [key: string]: Json } => ({
  provider,
  month,
})
