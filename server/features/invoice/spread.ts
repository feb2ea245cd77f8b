import { AppError } from '#core/error.ts'
import { spreadDifference } from '#core/invoice/reconcile.ts'
import type { Json } from '#core/json.ts'
import { demand } from '#core/permission.ts'
import { type AllocationRule, checkAllocation, describeAllocation } from '#core/spend/allocate.ts'
import { fromUsd, toUsd } from '#core/spend/exchange.ts'
import type { StatementLine } from '#core/spend/statement.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { budgetDefaults } from '../boundary.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { allocationRule } from '../statement/setting.ts'
import { type Difference, differenceOf, type InvoiceOf, lastDay } from './compare.ts'

/** What a month's statements are drawn up in and for. */
export type SpreadAs = { currency: string; tenants: readonly string[] }

/**
 * By tenant, what of a month's invoices beyond our own figures is spread to it, as lines of its statement: one for each invoice,
 * by the rule that was stated. Always the difference as it is now, so that our figures and these lines are the invoice; a closed
 * month's change is an adjustment. Where nothing is spread there is nothing.
 * @param as the statement's currency and the tenants that take part; absent: the organisation's, and whoever is there
 * @throws AppError BAD_INPUT where an exchange rate is missing
 */
export async function reconciliationLines(
  db: Tx,
  orgId: string,
  month: string,
  as: Partial<SpreadAs> = {},
): Promise<Map<string, StatementLine[]>> {
  const lines = new Map<string, StatementLine[]>()
  const spreads = await db.invoiceSpread.findMany({
    where: { orgId, invoice: { month } },
    include: { invoice: true },
    orderBy: { invoice: { provider: 'asc' } },
  })
  if (spreads.length === 0) return lines
  const currency = as.currency ?? (await budgetDefaults(db, orgId)).currency
  for (const { kind, shares, invoice } of spreads) {
    const difference = await differenceOf(db, orgId, invoice)
    const tenants = as.tenants ?? (await tenantsOf(db, orgId, difference))
    const rule = allocationRule(kind, shares as Record<string, string>)
    const amount = await inCurrency(db, orgId, invoice, difference.difference, currency)
    for (const [tenant, line] of spread(amount, rule, tenants, difference, invoice).lines)
      lines.set(tenant, [...(lines.get(tenant) ?? []), line])
  }
  return lines
}

const spread = (
  amount: bigint,
  rule: AllocationRule,
  tenants: readonly string[],
  { tenants: own }: Pick<Difference, 'tenants'>,
  { provider, month, number }: InvoiceOf,
) =>
  spreadDifference(amount, rule, new Map(tenants.map(tenant => [tenant, own.get(tenant) ?? 0n])), {
    provider,
    invoice: number ?? month,
  })

/** An amount of an invoice in a statement's currency, at the rates of the month's last day. */
async function inCurrency(db: Tx, orgId: string, invoice: InvoiceOf, pico: bigint, currency: string): Promise<bigint> {
  if (invoice.currency === currency) return pico
  const { exchange } = await budgetsInForce(db, orgId)
  const day = lastDay(invoice.month)
  const usd = toUsd(exchange, pico, invoice.currency, day)
  return currency === 'USD' ? usd : fromUsd(exchange, usd, currency, day)
}

/** Whoever takes part where nobody says otherwise: tenants that are listed, named or have spent; those that are shared do not. */
async function tenantsOf(db: Tx, orgId: string, { tenants }: Pick<Difference, 'tenants'>): Promise<string[]> {
  const { tags } = await budgetsInForce(db, orgId)
  const named = await db.tenant.findMany({ where: { orgId }, select: { key: true } })
  const shared = await db.allocationRule.findMany({ where: { orgId, key: 'tenant' }, select: { value: true } })
  const all = new Set([...(tags.tenant ?? []), ...named.map(({ key }) => key)])
  for (const tenant of tenants.keys()) if (tenant !== null) all.add(tenant)
  for (const { value } of shared) all.delete(value)
  return [...all].sort()
}

/** How a difference would be spread: in the invoice's currency. */
export type SpreadPreview = { parts: { tenant: string; pico: bigint }[]; left: bigint; tenants: string[] }

/** @throws AppError BAD_INPUT for shares that are none, or of a tenant that is not there */
export async function previewSpread(
  db: Tx,
  orgId: string,
  invoice: InvoiceOf,
  difference: Difference,
  rule: AllocationRule,
): Promise<SpreadPreview> {
  const tenants = await tenantsOf(db, orgId, difference)
  checkAllocation(rule, tenants)
  const { lines, left } = spread(difference.difference, rule, tenants, difference, invoice)
  return { parts: [...lines].map(([tenant, { pico }]) => ({ tenant, pico })), left, tenants }
}

/**
 * States how the difference of an invoice is spread; `none` takes it off the statements again. Repeating it changes nothing. A
 * month that is closed stays as it was billed: what changes is an adjustment of the next one.
 * @throws AppError BAD_INPUT for shares that are none, or where the difference cannot be converted
 */
export async function setSpread(
  ctx: FeatureContext,
  { id, rule }: { id: string; rule: AllocationRule },
): Promise<void> {
  const { actor } = ctx
  demand(actor, 'invoice.change')
  const { orgId } = actor
  await ctx.db.$transaction(async tx => {
    await tx.$queryRaw`select 1 from "Organisation" where id = ${orgId} for no key update`
    const invoice = await tx.invoice.findFirst({ where: { id, orgId }, include: { spread: true } })
    if (!invoice) throw notFound('invoice')
    const before = invoice.spread
      ? allocationRule(invoice.spread.kind, invoice.spread.shares as Record<string, string>)
      : ({ kind: 'none' } as const)
    if (describeAllocation(before) === describeAllocation(rule)) return
    if (rule.kind !== 'none') {
      await previewSpread(tx, orgId, invoice, await differenceOf(tx, orgId, invoice), rule)
      await inCurrency(tx, orgId, invoice, 1n, (await budgetDefaults(tx, orgId)).currency)
      if (rule.kind === 'fixed' && Object.keys(rule.shares).length === 0)
        throw new AppError('BAD_INPUT', 'Fixed shares need a percentage for at least one tenant.')
      const data = {
        kind: rule.kind,
        shares: rule.kind === 'fixed' ? rule.shares : {},
        at: ctx.now,
        byId: actor.memberId,
      }
      await tx.invoiceSpread.upsert({
        where: { invoiceId_orgId: { invoiceId: id, orgId } },
        create: { invoiceId: id, orgId, ...data },
        update: data,
      })
    } else await tx.invoiceSpread.deleteMany({ where: { invoiceId: id, orgId } })
    await notify(tx, { org: orgId, what: 'usage' })
    await recordEvidence(tx, ctx, {
      kind: 'invoice.spread',
      subject: { kind: 'invoice', id },
      data: { ...invoiceData(invoice), from: describeAllocation(before), to: describeAllocation(rule) },
    })
  })
}

/** What entries about an invoice say of it. */
export const invoiceData = ({ provider, month }: Pick<InvoiceOf, 'provider' | 'month'>): { [key: string]: Json } => ({
  provider,
  month,
})
