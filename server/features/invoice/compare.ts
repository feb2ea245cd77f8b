import { addDays, daysOfMonth } from '#core/day.ts'
import { parseDecimal } from '#core/decimal.ts'
import type { InvoiceLine } from '#core/invoice/line.ts'
import { type Reconciliation, reconcile } from '#core/invoice/reconcile.ts'
import { findPriced } from '#core/pricing.ts'
import { type ExchangeRates, fromUsd } from '#core/spend/exchange.ts'
import type { Invoice } from '#generated/prisma/client.ts'
import type { Tx } from '../../db.ts'
import { budgetsInForce } from '../budget/in-force.ts'
import { ratesOfVersion } from '../usage/rates.ts'
import { type OwnMonth, type OwnState, ownOfMonth, ownState } from './own.ts'

export type InvoiceOf = Pick<Invoice, 'id' | 'provider' | 'month' | 'number' | 'currency'> & {
  total: { toString(): string }
}

/** An invoice beside our own figures, in its currency and in pico-units. `tenants` and `equivalents`: see {@link OwnMonth}, in dollars. */
export type Difference = {
  ours: bigint
  theirs: bigint
  difference: bigint
  bound: bigint
  unknown: bigint
} & Pick<OwnMonth, 'tenants' | 'equivalents'>

/** The last UTC day of a month, by whose exchange rate its sums are converted. */
export const lastDay = (month: string): string => addDays(daysOfMonth(month).to, -1)

/** What invoices are compared by, read once for any number of them. */
export type ComparedBy = OwnState & { exchange: ExchangeRates }

export async function comparedBy(db: Tx, orgId: string): Promise<ComparedBy> {
  const { exchange } = await budgetsInForce(db, orgId)
  return { exchange, ...(await ownState(db, orgId)) }
}

/** Ours by day, in the invoice's currency. @throws AppError BAD_INPUT where a day has no exchange rate */
async function ownIn(db: Tx, orgId: string, invoice: InvoiceOf, by: ComparedBy) {
  const { month, currency } = invoice
  const { exchange } = by
  const own = await ownOfMonth(db, orgId, invoice, by)
  const there = (pico: bigint, day = lastDay(month)) =>
    currency === 'USD' || pico === 0n ? pico : fromUsd(exchange, pico, currency, day)
  return {
    amounts: own.amounts.map(amount => ({ ...amount, pico: there(amount.pico, amount.day) })),
    bound: there(own.bound),
    unknown: there(own.unknown),
    tenants: own.tenants,
    equivalents: own.equivalents,
  }
}

/** What an invoice comes to beyond our own figures. @throws AppError BAD_INPUT where a day has no exchange rate */
export async function differenceOf(db: Tx, orgId: string, invoice: InvoiceOf, by?: ComparedBy): Promise<Difference> {
  const { amounts, ...rest } = await ownIn(db, orgId, invoice, by ?? (await comparedBy(db, orgId)))
  const ours = amounts.reduce((sum, { pico }) => sum + pico, 0n)
  const theirs = totalOf(invoice)
  return { ours, theirs, difference: theirs - ours, ...rest }
}

export const totalOf = (invoice: Pick<InvoiceOf, 'total'>): bigint => parseDecimal(invoice.total.toString()) ?? 0n

/** The whole comparison, by day and model as far as the invoice tells them. @throws AppError BAD_INPUT as above */
export async function compareInvoice(
  db: Tx,
  orgId: string,
  invoice: InvoiceOf,
): Promise<Difference & { result: Reconciliation }> {
  const { amounts, ...rest } = await ownIn(db, orgId, invoice, await comparedBy(db, orgId))
  const lines = await linesOf(db, orgId, invoice)
  const newest = await db.ruleSetVersion.aggregate({ where: { orgId }, _max: { version: true } })
  const rates = await ratesOfVersion(db, orgId, newest._max.version ?? 0)
  const sameModel = (id: string) => findPriced(rates, id, invoice.provider)?.id ?? id
  const result = reconcile(amounts, lines, sameModel)
  const { ours, theirs, difference } = result
  return { ours, theirs, difference, ...rest, result }
}

/** The lines of an invoice, as they came. */
export async function linesOf(
  db: Tx,
  orgId: string,
  { id, currency }: Pick<InvoiceOf, 'id' | 'currency'>,
): Promise<InvoiceLine[]> {
  const rows = await db.$queryRaw<
    { day: string | null; model: string | null; description: string | null; amount: string }[]
  >`select day::text, model, description, amount::text from "InvoiceLine" where "invoiceId" = ${id} and "orgId" = ${orgId} order by number`
  return rows.map(({ day, model, description, amount }) => ({
    ...(day === null ? {} : { day }),
    ...(model === null ? {} : { model }),
    ...(description === null ? {} : { description }),
    currency,
    pico: parseDecimal(amount) ?? 0n,
  }))
}
