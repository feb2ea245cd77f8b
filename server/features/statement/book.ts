import { rateUsed } from '#core/spend/exchange.ts'
import { adjustmentsOf, carriedCredit, type StatementDraft, type StatementLine } from '#core/spend/statement.ts'
import type { Tx } from '../../db.ts'
import { type ClosedHead, closedDocs, closedHeads, lineOf } from './closed.ts'
import { type DrawnMonth, drawMonths, ledgerLines, takersOf } from './drawn.ts'
import { type BookMonth, statementMonths } from './months.ts'
import { type StatementSetting, statementSetting } from './setting.ts'

export type BookTenant = { key: string; name: string; contact: string | null }

/** Everything that statements are made of: each month of the ledger as it is now, and what was closed. */
export type Book = {
  org: { id: string; slug: string; name: string; zone: string }
  setting: StatementSetting
  months: readonly DrawnMonth[]
  tenants: Map<string, BookTenant>
  /** Keys of tenants that are listed or named, whether or not anything is theirs. */
  known: readonly string[]
  /** By tenant, its closed statements in the order of their months. */
  closed: ReadonlyMap<string, readonly ClosedHead[]>
  /** By tenant, what is on the first statement after its last closed one because of those that are closed. */
  adjustments: ReadonlyMap<string, readonly StatementLine[]>
}

/** Reads the book as it is at this moment: of the ledger what has changed. Closing reads it under the organisation's lock. */
export async function openBook(tx: Tx, orgId: string, now: Date): Promise<Book> {
  const org = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { id: true, slug: true, name: true, timeZone: true },
  })
  const zone = org.timeZone
  const setting = await statementSetting(tx, orgId)
  const closed = await closedHeads(tx, orgId)
  const named = await tx.tenant.findMany({ where: { orgId }, orderBy: { key: 'asc' } })
  const known = [...setting.listed, ...named.map(({ key }) => key)]
  const from = await statementMonths(tx, orgId, zone, setting, now)
  const months = await drawMonths(tx, { orgId, zone, setting, known, closed }, from)
  const keys = [...takersOf(known, [], setting.rules), ...months.flatMap(({ users }) => users), ...closed.keys()]
  const contacts = new Map(named.map(row => [row.key, row]))
  return {
    org: { id: org.id, slug: org.slug, name: org.name, zone },
    setting,
    months,
    tenants: new Map(
      [...new Set(keys)].sort().map(key => {
        const row = contacts.get(key)
        return [key, { key, name: row?.name ?? key, contact: row?.contactEmail || null }]
      }),
    ),
    known,
    closed,
    adjustments: await adjustmentsOfClosed(tx, orgId, months, closed),
  }
}

type Adjusted = { closed: readonly ClosedHead[]; lines: readonly StatementLine[] }
/** Of a month as it is drawn up, by tenant: its adjustments beside what is closed. */
const adjusted = new WeakMap<DrawnMonth, Map<string, Adjusted>>()
/** Of what is closed of a tenant: what comes of it all beside these months. */
const joined = new WeakMap<readonly ClosedHead[], { past: readonly DrawnMonth[]; all: readonly StatementLine[] }>()
/** Tenants whose closed statements are in memory at once, where something of them has to be reckoned. */
const TENANTS_AT_ONCE = 20

/**
 * By tenant, what closed months and those passed over before them have become since, and the credit that did not fit. What was
 * reckoned stands as long as the month's ledger and what is closed are the same; so does the list that comes of it.
 */
async function adjustmentsOfClosed(
  tx: Tx,
  orgId: string,
  months: readonly DrawnMonth[],
  closed: Book['closed'],
): Promise<Map<string, readonly StatementLine[]>> {
  const upTo = new Map(months.map(({ month }, i) => [month, months.slice(0, i + 1)]))
  const adjustments = new Map<string, readonly StatementLine[]>()
  const missing: { tenant: string; heads: readonly ClosedHead[]; past: readonly DrawnMonth[] }[] = []
  for (const [tenant, heads] of closed) {
    const past = upTo.get(heads.at(-1)!.month) ?? []
    if (past.length === months.length) continue
    const before = joined.get(heads)
    const isSame = before?.past.length === past.length && past.every((month, i) => month === before.past[i])
    if (isSame) adjustments.set(tenant, before.all)
    else missing.push({ tenant, heads, past })
  }
  for (let at = 0; at < missing.length; at += TENANTS_AT_ONCE) {
    const some = missing.slice(at, at + TENANTS_AT_ONCE)
    const isNew =
      ({ tenant, heads }: (typeof some)[number]) =>
      (month: DrawnMonth) =>
        adjusted.get(month)?.get(tenant)?.closed !== heads
    const docs = await closedDocs(tx, orgId, {
      tenants: some.map(({ tenant }) => tenant),
      months: [...new Set(some.flatMap(one => one.past.filter(isNew(one)).map(({ month }) => month)))],
    })
    for (const { tenant, heads, past } of some) {
      const since = heads.flatMap(({ about }) => about.filter(line => line.counted).map(lineOf))
      for (const month of past) {
        const ofMonth = adjusted.get(month) ?? new Map<string, Adjusted>()
        adjusted.set(month, ofMonth)
        if (ofMonth.get(tenant)?.closed === heads) continue
        const billed = docs.get(tenant)!.get(month.month) ?? { period: periodOf(month), lines: [] }
        ofMonth.set(tenant, { closed: heads, lines: adjustmentsOf(billed, ledgerLines(month, tenant), since) })
      }
      const lines = past.flatMap(month => adjusted.get(month)!.get(tenant)!.lines)
      const all = [...lines, ...creditOf(heads.at(-1)!)]
      joined.set(heads, { past, all })
      adjustments.set(tenant, all)
    }
  }
  return adjustments
}

const creditOf = ({ carried, month }: ClosedHead): StatementLine[] =>
  carriedCredit({ carried, period: { month, start: '', end: '', zone: '' } })

/** A tenant's closed statement of a month, where it is closed. */
export const closedOf = ({ closed }: Book, tenant: string, month: string): ClosedHead | undefined =>
  closed.get(tenant)?.find(head => head.month === month)

/** A draft, and what keeps it from being drawn up. */
export type Drawn = { draft: StatementDraft; problem: string | undefined }

/**
 * The draft of a tenant's month; undefined where there is none: it is closed, or lies before one that is. What such a month comes
 * to later is an adjustment of the first month after the last that was closed, and so is a credit that did not fit.
 */
export function draftOf(book: Book, tenant: string, name: string): Drawn | undefined {
  const month = book.months.find(one => one.month === name)
  const last = book.closed.get(tenant)?.at(-1)?.month
  if (!month || (last !== undefined && name <= last)) return undefined
  const isFirstAfter = last !== undefined && !book.months.some(one => one.month > last && one.month < name)
  const carried = isFirstAfter ? (book.adjustments.get(tenant) ?? []) : []
  // amounts of two currencies never stand in one total: what was billed in another one keeps the draft open, and is not on it
  const isForeign = (line: StatementLine) => line.month !== undefined && currencyOf(book, line.month) !== month.currency
  const foreign = carried.find(isForeign)
  const lines = [...ledgerLines(month, tenant), ...carried.filter(line => !isForeign(line))]
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
      (isFirstAfter ? book.months.find(one => one.month <= last && one.problem)?.problem : undefined) ??
      (foreign &&
        `What changed of ${foreign.month} since is in ${currencyOf(book, foreign.month!)} and cannot stand on a statement in ${month.currency}: bill in ${currencyOf(book, foreign.month!)} until it is closed.`),
  }
}

/** What of a month a draft is made of: the same lists, the same lines. Neither is copied. */
export const sourcesOf = (book: Book, month: DrawnMonth, tenant: string): readonly (readonly StatementLine[])[] => {
  const last = book.closed.get(tenant)?.at(-1)?.month
  const isFirstAfter = last !== undefined && !book.months.some(one => one.month > last && one.month < month.month)
  return [ledgerLines(month, tenant), isFirstAfter ? (book.adjustments.get(tenant) ?? NONE) : NONE]
}
const NONE: readonly StatementLine[] = []

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
