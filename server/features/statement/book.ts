import { fromUtf8 } from '#core/bytes.ts'
import { parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import { drawMonth, linesOf, type MonthDrawn } from '#core/spend/draw.ts'
import { rateUsed } from '#core/spend/exchange.ts'
import {
  adjustmentsOf,
  type ClosedStatement,
  carriedCredit,
  type StatementDraft,
  type StatementLine,
} from '#core/spend/statement.ts'
import type { DatedRow } from '#core/spend/statement-lines.ts'
import type { Tx } from '../../db.ts'
import { reconciliationLines } from '../invoice/spread.ts'
import { type BookMonth, rowsByMonth, statementMonths } from './months.ts'
import { type StatementSetting, statementSetting } from './setting.ts'

/** By tenant, what of a month's difference from providers' invoices is spread to it. */
type Reconciliation = ReadonlyMap<string, readonly StatementLine[]>
const NOT_SPREAD: Reconciliation = new Map()

/** A statement that was closed: the bytes that were hashed, read. */
export type Closed = {
  doc: ClosedStatement
  digest: string
  closedAt: Date
  closedById: string
  evidenceSeq: number
}

export type DrawnMonth = BookMonth & {
  drawn: MonthDrawn
  /** Tenants with usage of their own, also where nothing could be drawn up. */
  users: readonly string[]
  reconciliation: Reconciliation
  /** Why it cannot be drawn up, where it cannot: an exchange rate is missing. */
  problem: string | undefined
}

export type BookTenant = { key: string; name: string; contact: string | null }

/** Everything that statements are made of: each month of the ledger as it is now, and what was closed. */
export type Book = {
  org: { id: string; slug: string; name: string; zone: string }
  setting: StatementSetting
  months: DrawnMonth[]
  tenants: Map<string, BookTenant>
  /** By tenant, its closed statements in the order of their months. */
  closed: Map<string, Closed[]>
}

/** Reads the book as it is at this moment. Closing reads it under the organisation's lock. */
export async function openBook(tx: Tx, orgId: string, now: Date): Promise<Book> {
  const org = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { id: true, slug: true, name: true, timeZone: true },
  })
  const zone = org.timeZone
  const setting = await statementSetting(tx, orgId)
  const months = await statementMonths(tx, orgId, zone, setting, now)
  const closed = await closedStatements(tx, orgId)
  const rows = await rowsByMonth(tx, orgId, zone, months, setting.rates)
  const named = await tx.tenant.findMany({ where: { orgId }, orderBy: { key: 'asc' } })
  const shared = new Set(setting.rules.flatMap(({ key, value }) => (key === 'tenant' ? [value] : [])))
  const known = [...setting.listed, ...named.map(({ key }) => key)].filter(key => !shared.has(key))
  const drawn: DrawnMonth[] = []
  const spread = await spreadMonths(tx, orgId)
  for (const month of months)
    drawn.push({ ...month, ...(await drawOne(tx, orgId, month, rows.get(month.month)!, { known, setting, spread })) })
  const keys = [...known, ...drawn.flatMap(({ users }) => users), ...closed.keys()]
  const contacts = new Map(named.map(row => [row.key, row]))
  return {
    org: { id: org.id, slug: org.slug, name: org.name, zone },
    setting,
    months: drawn,
    tenants: new Map(
      [...new Set(keys)].sort().map(key => {
        const row = contacts.get(key)
        return [key, { key, name: row?.name ?? key, contact: row?.contactEmail || null }]
      }),
    ),
    closed,
  }
}

async function drawOne(
  tx: Tx,
  orgId: string,
  month: BookMonth,
  rows: DatedRow[],
  { known, setting, spread }: { known: readonly string[]; setting: StatementSetting; spread: ReadonlySet<string> },
): Promise<Pick<DrawnMonth, 'drawn' | 'users' | 'reconciliation' | 'problem' | 'tenants'>> {
  const sharedKeys = new Set(month.rules.flatMap(({ key, value }) => (key === 'tenant' ? [value] : [])))
  const users = [...new Set(rows.flatMap(({ tags }) => tags.tenant ?? []))].filter(key => !sharedKeys.has(key))
  const tenants = month.tenants ?? [...new Set([...known, ...users])].sort()
  const as = { basis: month.basis, currency: month.currency, rates: setting.rates }
  try {
    const drawn = drawMonth(rows, { tenants, rules: month.rules }, as)
    const reconciliation = spread.has(month.month)
      ? await reconciliationLines(tx, orgId, month.month, { currency: month.currency, tenants })
      : NOT_SPREAD
    return { drawn, users, reconciliation, tenants, problem: undefined }
  } catch (error) {
    if (!isAppError(error) || error.code !== 'BAD_INPUT') throw error
    const problem = [error.message, error.remedy].filter(Boolean).join(' ')
    return { drawn: { own: new Map(), shared: [] }, users, reconciliation: NOT_SPREAD, tenants, problem }
  }
}

/** Months of which an invoice's difference is spread. */
async function spreadMonths(tx: Tx, orgId: string): Promise<ReadonlySet<string>> {
  const rows = await tx.invoice.findMany({ where: { orgId, spread: { isNot: null } }, select: { month: true } })
  return new Set(rows.map(({ month }) => month))
}

async function closedStatements(tx: Tx, orgId: string): Promise<Map<string, Closed[]>> {
  const rows = await tx.statement.findMany({ where: { orgId }, orderBy: [{ tenant: 'asc' }, { month: 'asc' }] })
  const closed = new Map<string, Closed[]>()
  for (const { tenant, bytes, digest, closedAt, closedById, evidenceSeq } of rows) {
    const doc = readClosed(bytes)
    closed.set(tenant, [...(closed.get(tenant) ?? []), { doc, digest, closedAt, closedById, evidenceSeq }])
  }
  return closed
}

/** Frozen bytes as a statement. */
export const readClosed = (bytes: Uint8Array): ClosedStatement =>
  JSON.parse(fromUtf8(new Uint8Array(bytes))) as ClosedStatement

/** A tenant's closed statement of a month, where it is closed. */
export const closedOf = ({ closed }: Book, tenant: string, month: string): Closed | undefined =>
  closed.get(tenant)?.find(({ doc }) => doc.period.month === month)

/** What is a tenant's of a month as the ledger is now. */
const ledgerLines = (month: DrawnMonth, tenant: string): StatementLine[] => [
  ...linesOf(month.drawn, tenant),
  ...(month.reconciliation.get(tenant) ?? []),
]

/** A line of closed bytes as it was reckoned. */
export const lineOf = ({
  amount,
  shown: _,
  counted: __,
  ...line
}: ClosedStatement['lines'][number]): StatementLine => ({
  ...line,
  pico: parseDecimal(amount) ?? 0n,
})

/** A draft, and what keeps it from being drawn up. */
export type Drawn = { draft: StatementDraft; problem: string | undefined }

/**
 * The draft of a tenant's month; undefined where there is none: it is closed, or lies before one that is. What such a month comes
 * to later is an adjustment of the first month after the last that was closed, and so is a credit that did not fit.
 */
export function draftOf(book: Book, tenant: string, name: string): Drawn | undefined {
  const month = book.months.find(one => one.month === name)
  const closed = book.closed.get(tenant) ?? []
  const last = closed.at(-1)?.doc.period.month
  if (!month || (last !== undefined && name <= last)) return undefined
  const lines = ledgerLines(month, tenant)
  const before = last === undefined ? [] : book.months.filter(one => one.month <= last)
  const isFirstAfter = last !== undefined && !book.months.some(one => one.month > last && one.month < name)
  if (isFirstAfter) {
    const since = closed.flatMap(({ doc }) =>
      doc.lines.filter(line => line.counted && line.month !== undefined).map(lineOf),
    )
    for (const past of before) {
      const doc = closedOf(book, tenant, past.month)?.doc
      const billed = doc ?? { period: periodOf(past), lines: [] }
      lines.push(...adjustmentsOf(billed, ledgerLines(past, tenant), since))
    }
    lines.push(...carriedCredit(closed.at(-1)!.doc))
  }
  const foreign = lines.find(line => line.month !== undefined && currencyOf(book, line.month) !== month.currency)
  return {
    draft: {
      org: book.org.id,
      tenant: { key: tenant, name: book.tenants.get(tenant)?.name ?? tenant },
      period: periodOf(month),
      currency: month.currency,
      basis: month.basis,
      exchange: ratesOf(book, month),
      lines,
    },
    problem:
      month.problem ??
      (isFirstAfter ? before.find(one => one.problem)?.problem : undefined) ??
      (foreign &&
        `${foreign.month} was billed in ${currencyOf(book, foreign.month!)} and has changed since, which cannot stand on a statement in ${month.currency}.`),
  }
}

const currencyOf = ({ months }: Book, month: string): string | undefined =>
  months.find(one => one.month === month)?.currency

const periodOf = ({ month, start, end, zone }: BookMonth): StatementDraft['period'] => ({
  month,
  start: start.toISOString(),
  end: end.toISOString(),
  zone,
})

/** The rates that hold in a month: the one of its first day, and those that begin within it. */
function ratesOf({ setting }: Book, { start, end, currency }: BookMonth): StatementDraft['exchange'] {
  if (currency === 'USD') return []
  const [first, last] = [start, new Date(end.getTime() - 1)].map(at => at.toISOString().slice(0, 10)) as [
    string,
    string,
  ]
  const days = [first, ...setting.entries.filter(one => one.currency === currency).map(({ from }) => from)]
  const used = days
    .filter(day => day >= first && day <= last)
    .flatMap(day => {
      try {
        return rateUsed(setting.rates, currency, day) ?? []
      } catch {
        return [] // the month's problem says it
      }
    })
  return [...new Map(used.map(entry => [entry.from, entry])).values()].sort((a, b) => (a.from < b.from ? -1 : 1))
}
