import type { MemberActor } from '#core/actor.ts'
import type { Basis } from '#core/budget/budget.ts'
import { utf8 } from '#core/bytes.ts'
import { formatDecimal } from '#core/decimal.ts'
import { canonicalJson } from '#core/json.ts'
import { type AllocationRule, describeAllocation } from '#core/spend/allocate.ts'
import { type ClosedStatement, type StatementLine, statementDigest, totalsOf } from '#core/spend/statement.ts'
import { crypto } from '../../keys/crypto.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { type Book, type BookTenant, closedOf, type DrawnMonth, draftOf, lineOf, openBook } from './book.ts'

type Ctx = FeatureContext<MemberActor>

/** What keeps a draft from being closed. `nothing`: there is nothing on it; `problem`: it cannot be drawn up. */
export type Hinder =
  | { why: 'not_over'; until: Date }
  | { why: 'earlier_open'; month: string }
  | { why: 'unpriced'; models: string[] }
  | { why: 'problem'; words: string }
  | { why: 'nothing' }

/** Amounts are exact decimals of the currency; `shown` adds up to the total to its smallest unit. */
export type LineShown = Omit<StatementLine, 'pico'> & { amount: string; shown: string; counted: boolean }

/** A statement's figures, whether it is a draft or closed. */
export type Bill = {
  period: ClosedStatement['period']
  currency: string
  basis: Basis
  exchange: ClosedStatement['exchange']
  lines: LineShown[]
  total: string
  /** Of models without a price, at the dearest; not in the total. */
  atMost: string
  /** The total with that in it. */
  totalWithBound: string
  /** Of a statement of billed cost, what nobody knows the cover of; not in the total. */
  unknown: string
  /** Goes to the next month as a credit. */
  carried: string
}

export type DraftBill = Bill & {
  state: 'draft'
  tenantName: string
  /** Of exactly these figures: closing names it, so that nobody closes what they have not seen. */
  tag: string
  hinders: Hinder[]
}
export type ClosedBill = Bill & {
  state: 'closed'
  tenantName: string
  digest: string
  closedAt: Date
  closedById: string
  evidenceSeq: number
  boundAccepted: boolean
}

/** A tenant's statement of a month out of the book; undefined where there is none and none will be. */
export function billOf(book: Book, tenant: string, month: string, now: Date): DraftBill | ClosedBill | undefined {
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
export function earlierOpen(book: Book, tenant: string, month: string): string | undefined {
  return book.months.find(one => {
    if (one.month >= month) return false
    const drawn = draftOf(book, tenant, one.month)
    return drawn !== undefined && (drawn.draft.lines.length > 0 || drawn.problem !== undefined)
  })?.month
}

export function closedBill({ doc, ...row }: Parameters<typeof closedFigures>[0]): ClosedBill {
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

export type StatementRow = {
  tenant: BookTenant
  state: 'draft' | 'closed'
  currency: string
  total: string
  atMost: string
  unknown: string
  hinders: Hinder[]
  tag: string | null
  digest: string | null
  closedAt: Date | null
  /** Mails of it that were queued so far. */
  mails: number
}
/** What is nobody's own in a month, and what of it stays with the organisation. Decimals of the month's currency. */
export type SharedRow = { of: string; rule: string; amount: string; left: string; leftAtMost: string }
export type MonthRow = {
  month: string
  over: boolean
  settled: boolean
  currency: string
  basis: Basis
  problem: string | null
  rows: StatementRow[]
  shared: SharedRow[]
  /** What the ledger has for the month at known prices: the tenants' own, what is allocated and what stays. */
  ledger: string
  own: string
  allocated: string
  left: string
}

export type StatementList = {
  years: string[]
  year: string
  months: MonthRow[]
  /** Nobody is on the list of tenants and no usage names one. */
  tenants: BookTenant[]
  setting: {
    basis: Basis
    firstMonth: string | null
    zone: string
    /** Some statement is closed: what they count stays. */
    fixed: boolean
    rules: { key: string; value: string; rule: AllocationRule; words: string }[]
  }
}

/** Months of a year, newest first, each with its tenants' statements. Totals are withheld from nobody. */
export async function listStatements(ctx: Ctx, asked: { year?: string | undefined } = {}): Promise<StatementList> {
  const book = await openBook(ctx.db, ctx.actor.orgId, ctx.now)
  const mails = await mailCounts(ctx)
  const years = [...new Set(book.months.map(({ month }) => month.slice(0, 4)))].reverse()
  const year = asked.year !== undefined && years.includes(asked.year) ? asked.year : (years[0] ?? '')
  return {
    years,
    year,
    months: book.months
      .filter(({ month }) => month.startsWith(year))
      .reverse()
      .map(month => monthRow(book, month, ctx.now, mails)),
    tenants: [...book.tenants.values()],
    setting: {
      basis: book.setting.basis,
      firstMonth: book.setting.firstMonth,
      zone: book.org.zone,
      fixed: book.closed.size > 0,
      rules: book.setting.rules.map(rule => ({
        ...rule,
        words: describeAllocation(rule.rule, key => book.tenants.get(key)?.name ?? key),
      })),
    },
  }
}

/** By tenant and month, how many mails were queued. */
async function mailCounts({ db, actor: { orgId } }: Ctx): Promise<ReadonlyMap<string, number>> {
  const rows = await db.statementMail.groupBy({ by: ['tenant', 'month'], where: { orgId }, _max: { number: true } })
  return new Map(rows.map(({ tenant, month, _max }) => [`${tenant} ${month}`, _max.number ?? 0]))
}

/** A month's statements in one row each, drafts and closed ones; a tenant with nothing on it has none. */
export function monthRow(
  book: Book,
  month: DrawnMonth,
  now: Date,
  mailCounts: ReadonlyMap<string, number> = new Map(),
): MonthRow {
  const rows = [...book.tenants.values()].flatMap((tenant): StatementRow | [] => {
    const bill = billOf(book, tenant.key, month.month, now)
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

export type StatementDetail = {
  tenant: BookTenant
  org: string
  bill: DraftBill | ClosedBill
  /** Of a closed one: who closed it, by the name that person has now. */
  closedBy: string | null
  mails: { number: number; to: string; queuedAt: Date }[]
  /** Lines about this month on later statements; closed ones of them are billed. */
  later: { month: string; state: 'draft' | 'closed'; amount: string }[]
}

/** One tenant's statement of one month. @throws AppError NOT_FOUND */
export async function getStatement(
  ctx: Ctx,
  { tenant, month }: { tenant: string; month: string },
): Promise<StatementDetail> {
  const book = await openBook(ctx.db, ctx.actor.orgId, ctx.now)
  const named = book.tenants.get(tenant)
  const bill = named && billOf(book, tenant, month, ctx.now)
  if (!bill) throw notFound('statement')
  const closer =
    bill.state === 'closed'
      ? await ctx.db.member.findFirst({
          where: { id: bill.closedById, orgId: ctx.actor.orgId },
          select: { name: true },
        })
      : null
  const mails = await ctx.db.statementMail.findMany({
    where: { orgId: ctx.actor.orgId, tenant, month },
    select: { number: true, to: true, queuedAt: true },
    orderBy: { number: 'asc' },
  })
  return {
    tenant: named,
    org: book.org.name,
    bill,
    closedBy: closer?.name ?? null,
    mails,
    later: bill.state === 'closed' ? laterOf(book, tenant, month, ctx.now) : [],
  }
}

function laterOf(book: Book, tenant: string, month: string, now: Date): StatementDetail['later'] {
  return book.months.flatMap(one => {
    if (one.month <= month) return []
    const bill = billOf(book, tenant, one.month, now)
    const lines = bill?.lines.filter(line => line.month === month && line.kind !== 'credit' && line.counted) ?? []
    if (!bill || lines.length === 0) return []
    const amount = lines.map(line => lineOf(line).pico).reduce(add, 0n)
    return { month: one.month, state: bill.state, amount: formatDecimal(amount) }
  })
}
