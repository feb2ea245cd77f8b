import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import { type Allocated, type AllocationRule, checkAllocation, describeAllocation } from '#core/spend/allocate.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { openBook } from '../statement/book.ts'
import { renamesOfMonths } from '../statement/months.ts'
import { allocationRule } from '../statement/setting.ts'
import { type Difference, differenceOf, type InvoiceOf } from './compare.ts'
import { invoiceData, type SpreadAs, spreadInvoice } from './spread.ts'

export type SpreadTenant = { key: string; name: string }
/** Who a month's spread goes to and in which currency, just as its statements have it. */
export type SpreadMonth = SpreadAs & {
  /** The first month that there are statements of, where this one lies before it and its lines stand on none. */
  before: string | null
  named: SpreadTenant[]
}

/** @param month of the organisation: `2026-11` */
export async function spreadMonth(db: Tx, now: Date, orgId: string, month: string): Promise<SpreadMonth> {
  const { months, setting, tenants, closed } = await openBook(db, orgId, now)
  const there = months.find(one => one.month === month)
  const keys = there?.tenants ?? [...tenants.keys()]
  const renames = await renamesOfMonths(db, orgId, closed)
  return {
    currency: there?.currency ?? setting.currency,
    tenants: keys,
    renames: renames(there?.settled ? month : undefined),
    before: there ? null : (months[0]?.month ?? ''),
    named: keys.map(key => ({ key, name: tenants.get(key)?.name ?? key })),
  }
}

/** How a difference is or would be spread, in the currency of the month's statements: the figures that stand on them. */
export type SpreadPreview = {
  currency: string
  /** The difference in that currency: parts and what is left are it. */
  whole: bigint
  parts: (SpreadTenant & { pico: bigint })[]
  left: bigint
  why: Allocated['why']
  before: string | null
  tenants: SpreadTenant[]
}

/** @throws AppError BAD_INPUT for shares that are none, of a tenant that is not there, or where an exchange rate is missing */
export async function previewSpread(
  db: Tx,
  now: Date,
  orgId: string,
  invoice: InvoiceOf,
  difference: Difference,
  rule: AllocationRule,
): Promise<SpreadPreview> {
  const as = await spreadMonth(db, now, orgId, invoice.month)
  checkAllocation(rule, as.tenants)
  const { whole, lines, left, why } = await spreadInvoice(db, orgId, invoice, difference, rule, as)
  return {
    currency: as.currency,
    whole,
    parts: as.named.flatMap(tenant => {
      const line = lines.get(tenant.key)
      return line ? [{ ...tenant, pico: line.pico }] : []
    }),
    left,
    why,
    before: as.before,
    tenants: as.named,
  }
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
      // What statements could not take is refused here: a tenant that is not there, an exchange rate that is missing.
      await previewSpread(tx, ctx.now, orgId, invoice, await differenceOf(tx, orgId, invoice), rule)
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
