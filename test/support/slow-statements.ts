/**
 * Statements reckoned the slow way: all of the ledger and every closed statement is read and nothing is kept. What the application
 * shows must be the same. Where both of them ask something of core, that has tests of its own.
 */
import { fromUtf8, utf8 } from '#core/bytes.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { isAppError } from '#core/error.ts'
import { canonicalJson } from '#core/json.ts'
import { describeAllocation } from '#core/spend/allocate.ts'
import { drawMonth, linesOf, type MonthDrawn } from '#core/spend/draw.ts'
import { rateUsed } from '#core/spend/exchange.ts'
import {
  adjustmentsOf,
  type ClosedStatement,
  carriedCredit,
  type StatementDraft,
  type StatementLine,
  statementDigest,
  totalsOf,
} from '#core/spend/statement.ts'
import type { DatedRow } from '#core/spend/statement-lines.ts'
import type { RenameMap } from '#core/usage/renames.ts'
import type { Tx } from '#server/db.ts'
import { reconciliationLines } from '#server/features/invoice/spread.ts'
import { renamesAt, renamesInForce } from '#server/features/spend/renames.ts'
import type { ClosedBill, DraftBill, Hinder } from '#server/features/statement/bill.ts'
import type { BookTenant } from '#server/features/statement/book.ts'
import { takersOf } from '#server/features/statement/drawn.ts'
import { type BookMonth, rowsByMonth, statementMonths } from '#server/features/statement/months.ts'
import type { MonthRow, StatementDetail, StatementRow } from '#server/features/statement/read.ts'
import { type StatementSetting, statementSetting } from '#server/features/statement/setting.ts'
import { crypto } from '#server/keys/crypto.ts'

type Reconciliation = ReadonlyMap<string, readonly StatementLine[]>
const NOT_SPREAD: Reconciliation = new Map()

/** A statement that was closed: the bytes that were hashed, read. */
type Closed = {
  doc: ClosedStatement
  digest: string
  closedAt: Date
  closedById: string
  evidenceSeq: number
}

type DrawnMonth = BookMonth & {
  drawn: MonthDrawn
  /** Tenants with usage of their own, also where nothing could be drawn up. */
  users: readonly string[]
  reconciliation: Reconciliation
  /** Why it cannot be drawn up, where it cannot: an exchange rate is missing. */
  problem: string | undefined
}

/** Everything that statements are made of: each month of the ledger as it is now, and what was closed. */
type Book = {
  org: { id: string; slug: string; name: string; zone: string }
  setting: StatementSetting
  months: DrawnMonth[]
  tenants: Map<string, BookTenant>
  /** Keys of tenants that are listed or named, whether or not anything is theirs. */
  known: readonly string[]
  /** By tenant, its closed statements in the order of their months. */
  closed: Map<string, Closed[]>
}

/** Reads the book as it is at this moment. Closing reads it under the organisation's lock. */
export async function slowBook(tx: Tx, orgId: string, now: Date): Promise<Book> {
  const org = await tx.organisation.findUniqueOrThrow({
    where: { id: orgId },
    select: { id: true, slug: true, name: true, timeZone: true },
  })
  const zone = org.timeZone
  const setting = await statementSetting(tx, orgId)
  const months = await statementMonths(tx, orgId, zone, setting, now)
  const closed = await closedStatements(tx, orgId)
  const inForce = await renamesInForce(tx, orgId)
  const settled = new Map<string, RenameMap>()
  for (const month of months) settled.set(month.month, await renamesOf(tx, orgId, month))
  const renames = (month: string | undefined) => (month === undefined ? inForce : settled.get(month)!)
  const rows = await rowsByMonth(tx, orgId, zone, months, setting.rates, renames)
  const named = await tx.tenant.findMany({ where: { orgId }, orderBy: { key: 'asc' } })
  const known = [...setting.listed, ...named.map(({ key }) => key)]
  const drawn: DrawnMonth[] = []
  const spread = await spreadMonths(tx, orgId)
  for (const month of months)
    drawn.push({ ...month, ...(await drawOne(tx, orgId, month, rows.get(month.month)!, { known, setting, spread })) })
  const keys = [...takersOf(known, [], setting.rules), ...drawn.flatMap(({ users }) => users), ...closed.keys()]
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
    known,
    closed,
  }
}

/** What values of tags are read as in a month: in one that is settled as when its first statement was closed. */
async function renamesOf(tx: Tx, orgId: string, { month, settled }: Pick<BookMonth, 'month' | 'settled'>) {
  const [first] = await tx.statement.findMany({ where: { orgId, month }, orderBy: { closedAt: 'asc' }, take: 1 })
  if (!settled || !first) return renamesInForce(tx, orgId)
  return (await renamesAt(tx, orgId, [first.closedAt])).get(first.closedAt.getTime())!
}

async function drawOne(
  tx: Tx,
  orgId: string,
  month: BookMonth,
  rows: DatedRow[],
  { known, setting, spread }: { known: readonly string[]; setting: StatementSetting; spread: ReadonlySet<string> },
): Promise<Pick<DrawnMonth, 'drawn' | 'users' | 'reconciliation' | 'problem' | 'tenants'>> {
  const users = takersOf([], rows, month.rules)
  const tenants = month.tenants ?? takersOf(known, rows, month.rules)
  const as = { basis: month.basis, currency: month.currency, rates: setting.rates }
  try {
    const drawn = drawMonth(rows, { tenants, rules: month.rules }, as)
    const reconciliation = spread.has(month.month)
      ? await reconciliationLines(tx, orgId, month.month, {
          currency: month.currency,
          tenants,
          renames: await renamesOf(tx, orgId, month),
        })
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
const readClosed = (bytes: Uint8Array): ClosedStatement =>
  JSON.parse(fromUtf8(new Uint8Array(bytes))) as ClosedStatement

/** A tenant's closed statement of a month, where it is closed. */
const closedOf = ({ closed }: Book, tenant: string, month: string): Closed | undefined =>
  closed.get(tenant)?.find(({ doc }) => doc.period.month === month)

/** What is a tenant's of a month as the ledger is now. */
const ledgerLines = (month: DrawnMonth, tenant: string): StatementLine[] => [
  ...linesOf(month.drawn, tenant),
  ...(month.reconciliation.get(tenant) ?? []),
]

/** A line of closed bytes as it was reckoned. */
const lineOf = ({ amount, shown: _, counted: __, ...line }: ClosedStatement['lines'][number]): StatementLine => ({
  ...line,
  pico: parseDecimal(amount) ?? 0n,
})

/** A draft, and what keeps it from being drawn up. */
type Drawn = { draft: StatementDraft; problem: string | undefined }

/**
 * The draft of a tenant's month; undefined where there is none: it is closed, or lies before one that is. What such a month comes
 * to later is an adjustment of the first month after the last that was closed, and so is a credit that did not fit.
 */
function draftOf(book: Book, tenant: string, name: string): Drawn | undefined {
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
  const isForeign = (line: StatementLine) => line.month !== undefined && currencyOf(book, line.month) !== month.currency
  const foreign = lines.find(isForeign)
  return {
    draft: {
      org: book.org.id,
      tenant: { key: tenant, name: book.tenants.get(tenant)?.name ?? tenant },
      period: periodOf(month),
      currency: month.currency,
      basis: month.basis,
      exchange: ratesOf(book, month),
      lines: lines.filter(line => !isForeign(line)),
    },
    problem:
      month.problem ??
      (isFirstAfter ? before.find(one => one.problem)?.problem : undefined) ??
      (foreign &&
        `What changed of ${foreign.month} since is in ${currencyOf(book, foreign.month!)} and cannot stand on a statement in ${month.currency}: bill in ${currencyOf(book, foreign.month!)} until it is closed.`),
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

/** A tenant's statement of a month out of the book; undefined where there is none and none will be. */
export function slowBill(book: Book, tenant: string, month: string, now: Date): DraftBill | ClosedBill | undefined {
  const closed = closedOf(book, tenant, month)
  if (closed) return closedBill(closed)
  const drawn = draftOf(book, tenant, month)
  if (!drawn) return undefined
  const { draft, problem } = drawn
  const { lines, total, atMost, unknown, carried } = totalsOf(draft, false)
  const figures = {
    period: draft.period,
    currency: draft.currency,
    basis: draft.basis,
    exchange: [...draft.exchange],
    lines: lines.map(({ pico, shown, ...line }) => ({
      ...line,
      amount: formatDecimal(pico),
      shown: formatDecimal(shown),
    })),
    total: formatDecimal(total),
  }
  return {
    state: 'draft',
    tenantName: draft.tenant.name,
    ...figures,
    atMost: formatDecimal(atMost),
    totalWithBound: formatDecimal(totalsOf(draft, true).total),
    unknown: formatDecimal(unknown),
    carried: formatDecimal(carried),
    tag: statementDigest(utf8(canonicalJson(figures)), crypto.sha256),
    hinders: hindersOf(book, tenant, draft, problem, now),
  }
}

function hindersOf(
  book: Book,
  tenant: string,
  { lines, period }: { lines: readonly StatementLine[]; period: { month: string; end: string } },
  problem: string | undefined,
  now: Date,
): Hinder[] {
  const earlier = earlierOpen(book, tenant, period.month)
  const models = [
    ...new Set(lines.filter(({ kind }) => kind === 'bound').map(({ model }) => model ?? 'what is shared')),
  ]
  return [
    ...(problem === undefined ? [] : [{ why: 'problem' as const, words: problem }]),
    ...(now < new Date(period.end) ? [{ why: 'not_over' as const, until: new Date(period.end) }] : []),
    ...(earlier === undefined ? [] : [{ why: 'earlier_open' as const, month: earlier }]),
    ...(models.length === 0 ? [] : [{ why: 'unpriced' as const, models }]),
    ...(lines.length === 0 && problem === undefined ? [{ why: 'nothing' as const }] : []),
  ]
}

/** The first month before this one that has something to bill and is open. */
function earlierOpen(book: Book, tenant: string, month: string): string | undefined {
  return book.months.find(one => {
    if (one.month >= month) return false
    const drawn = draftOf(book, tenant, one.month)
    return drawn !== undefined && (drawn.draft.lines.length > 0 || drawn.problem !== undefined)
  })?.month
}

function closedBill({ doc, ...row }: Parameters<typeof closedFigures>[0]): ClosedBill {
  return { ...closedFigures({ doc, ...row }), ...row, state: 'closed', tenantName: doc.tenant.name }
}

function closedFigures({ doc }: NonNullable<ReturnType<typeof closedOf>>) {
  const { period, currency, basis, exchange, lines, total, unknown, carried, boundAccepted } = doc
  return {
    period,
    currency,
    basis,
    exchange,
    lines,
    total,
    atMost: '0',
    totalWithBound: total,
    unknown,
    carried,
    boundAccepted,
  }
}

/** A month's statements in one row each, drafts and closed ones; a tenant with nothing on it has none. */
export function slowRow(
  book: Book,
  month: DrawnMonth,
  now: Date,
  mailCounts: ReadonlyMap<string, number> = new Map(),
): MonthRow {
  const rows = [...book.tenants.values()].flatMap((tenant): StatementRow | [] => {
    const bill = slowBill(book, tenant.key, month.month, now)
    if (
      !bill ||
      (bill.state === 'draft' && bill.lines.length === 0 && !(month.problem && month.users.includes(tenant.key)))
    )
      return []
    const { state, currency, total, atMost, unknown } = bill
    const mails = mailCounts.get(`${tenant.key} ${month.month}`) ?? 0
    const common = { tenant: { ...tenant, name: bill.tenantName }, state, currency, total, atMost, unknown, mails }
    return bill.state === 'closed'
      ? { ...common, hinders: [], tag: null, digest: bill.digest, closedAt: bill.closedAt }
      : { ...common, hinders: bill.hinders, tag: bill.tag, digest: null, closedAt: null }
  })
  const { own, shared } = month.drawn
  const priced = (lines: Iterable<readonly StatementLine[]>) => sumOf(lines, ['usage', 'allocated'])
  const parts = shared.map(({ parts }) => priced(parts.values())).reduce(add, 0n)
  const left = shared.map(one => priced([one.left])).reduce(add, 0n)
  const ownSum = priced(own.values())
  return {
    month: month.month,
    over: now >= month.end,
    settled: month.settled,
    currency: month.currency,
    basis: month.basis,
    problem: month.problem ?? null,
    rows,
    shared: shared
      .map(one => ({
        of: one.of,
        rule: describeAllocation(one.rule),
        amount: formatDecimal(priced(one.parts.values()) + priced([one.left])),
        left: formatDecimal(priced([one.left])),
        leftAtMost: formatDecimal(sumOf([one.left], ['bound'])),
      }))
      .filter(one => one.amount !== '0' || one.leftAtMost !== '0'),
    ledger: formatDecimal(ownSum + parts + left),
    own: formatDecimal(ownSum),
    allocated: formatDecimal(parts),
    left: formatDecimal(left),
  }
}

const add = (a: bigint, b: bigint): bigint => a + b
const sumOf = (lists: Iterable<readonly StatementLine[]>, kinds: readonly StatementLine['kind'][]): bigint =>
  [...lists].flat().reduce((sum, { kind, pico }) => (kinds.includes(kind) ? sum + pico : sum), 0n)

export function slowLater(book: Book, tenant: string, month: string, now: Date): StatementDetail['later'] {
  return book.months.flatMap(one => {
    if (one.month <= month) return []
    const bill = slowBill(book, tenant, one.month, now)
    const lines = bill?.lines.filter(line => line.month === month && line.kind !== 'credit' && line.counted) ?? []
    if (!bill || lines.length === 0) return []
    const amount = lines.map(line => lineOf(line).pico).reduce(add, 0n)
    return { month: one.month, state: bill.state, amount: formatDecimal(amount) }
  })
}
