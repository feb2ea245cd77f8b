import type { MemberActor } from '#core/actor.ts'
import type { Basis } from '#core/budget/budget.ts'
import { formatDecimal } from '#core/decimal.ts'
import { type AllocationRule, describeAllocation } from '#core/spend/allocate.ts'
import type { StatementLine } from '#core/spend/statement.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { type ClosedBill, closedBill, type DraftBill, draftBill, draftRow, type Hinder } from './bill.ts'
import { type Book, type BookTenant, closedOf, openBook } from './book.ts'
import { lineOf, readClosed } from './closed.ts'
import type { DrawnMonth } from './drawn.ts'

type Ctx = FeatureContext<MemberActor>

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
    const mails = mailCounts.get(`${tenant.key} ${month.month}`) ?? 0
    const closed = closedOf(book, tenant.key, month.month)
    if (closed) {
      const { currency, total, unknown, digest, closedAt, tenantName: name } = closed
      const figures = { currency, total, atMost: '0', unknown, mails, hinders: [], tag: null, digest, closedAt }
      return { tenant: { ...tenant, name }, state: 'closed', ...figures }
    }
    const draft = draftRow(book, month, tenant.key, now)
    if (!draft || (draft.isEmpty && !(month.problem && month.users.includes(tenant.key)))) return []
    const { tenantName: name, isEmpty: _, ...figures } = draft
    return { tenant: { ...tenant, name }, state: 'draft', ...figures, mails, digest: null, closedAt: null }
  })
  return {
    month: month.month,
    over: now >= month.end,
    settled: month.settled,
    currency: month.currency,
    basis: month.basis,
    problem: month.problem ?? null,
    rows,
    ...sumsOf(month),
  }
}

type MonthSums = Pick<MonthRow, 'shared' | 'ledger' | 'own' | 'allocated' | 'left'>
const sums = new WeakMap<DrawnMonth, MonthSums>()

function sumsOf(month: DrawnMonth): MonthSums {
  const before = sums.get(month)
  if (before) return before
  const { own, shared } = month.drawn
  const priced = (lines: Iterable<readonly StatementLine[]>) => sumOf(lines, ['usage', 'allocated'])
  const parts = shared.map(({ parts }) => priced(parts.values())).reduce(add, 0n)
  const left = shared.map(one => priced([one.left])).reduce(add, 0n)
  const ownSum = priced(own.values())
  const made = {
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
  sums.set(month, made)
  return made
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
  const bill =
    named &&
    (closedOf(book, tenant, month) ? await readBill(ctx, tenant, month) : draftBill(book, tenant, month, ctx.now))
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

async function readBill({ db, actor: { orgId } }: Ctx, tenant: string, month: string): Promise<ClosedBill> {
  const row = await db.statement.findUniqueOrThrow({ where: { orgId_tenant_month: { orgId, tenant, month } } })
  return closedBill(readClosed(row.bytes), row)
}

function laterOf(book: Book, tenant: string, month: string, now: Date): StatementDetail['later'] {
  return book.months.flatMap(one => {
    if (one.month <= month) return []
    const closed = closedOf(book, tenant, one.month)
    // of drafts only the first has lines about a closed month
    const bill = closed ? { state: 'closed' as const, lines: closed.about } : draftBill(book, tenant, one.month, now)
    const lines = bill?.lines.filter(line => line.month === month && line.kind !== 'credit' && line.counted) ?? []
    if (!bill || lines.length === 0) return []
    const amount = lines.map(line => lineOf(line).pico).reduce(add, 0n)
    return { month: one.month, state: bill.state, amount: formatDecimal(amount) }
  })
}
