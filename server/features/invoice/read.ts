import type { MemberActor } from '#core/actor.ts'
import { formatDecimal } from '#core/decimal.ts'
import { AppError, isAppError } from '#core/error.ts'
import type { ReconciledRow } from '#core/invoice/reconcile.ts'
import { seesEverybody } from '#core/permission.ts'
import { type AllocationRule, describeAllocation } from '#core/spend/allocate.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { allocationRule, statementSetting } from '../statement/setting.ts'
import { comparedBy, compareInvoice, differenceOf } from './compare.ts'
import { previewSpread, type SpreadPreview, type SpreadTenant } from './state-spread.ts'

type Ctx = FeatureContext<MemberActor>

/** Ours, theirs and theirs less ours, in the invoice's currency, as decimals. */
export type Sides = { ours: string; theirs: string; difference: string }
export type InvoiceRow = {
  id: string
  provider: string
  month: string
  number: string | null
  currency: string
  source: string
  lines: number
  total: string
  importedAt: Date
  importedBy: string
  /** How the difference is spread, in words. */
  rule: string
  isSpread: boolean
  sides: Sides | undefined
  /** Why there is no comparison, where there is none. */
  problem: string | undefined
}

/** @throws AppError FORBIDDEN for whoever is not an owner, admin or auditor */
function demandSight(ctx: Ctx): void {
  if (!seesEverybody(ctx.actor))
    throw new AppError('FORBIDDEN', 'Invoices are shown to owners, admins and auditors.', {
      details: { why: 'invoices' },
    })
}

/** Where a list goes on: there is one invoice of a provider and month at most. */
export type InvoicePlace = { month: string; provider: string }

/** Invoices of a page. */
export const INVOICES_SHOWN = 50

/** Invoices, the newest month first, a page at a time. `from`: the first that is told. */
export async function listInvoices(
  ctx: Ctx,
  { from, most = INVOICES_SHOWN }: { from?: InvoicePlace | undefined; most?: number } = {},
): Promise<{ items: InvoiceRow[]; next?: InvoicePlace }> {
  demandSight(ctx)
  const { orgId } = ctx.actor
  const found = await ctx.db.invoice.findMany({
    where: {
      orgId,
      ...(from ? { OR: [{ month: { lt: from.month } }, { month: from.month, provider: { gte: from.provider } }] } : {}),
    },
    include: { spread: true },
    orderBy: [{ month: 'desc' }, { provider: 'asc' }],
    take: most + 1,
  })
  const invoices = found.slice(0, most)
  const people = await ctx.db.member.findMany({
    where: { orgId, id: { in: invoices.map(({ importedById }) => importedById) } },
    select: { id: true, name: true },
  })
  const names = new Map(people.map(({ id, name }) => [id, name]))
  const rows: InvoiceRow[] = []
  const by = await comparedBy(ctx.db, orgId)
  for (const invoice of invoices) {
    const compared = await orProblem(differenceOf(ctx.db, orgId, invoice, by))
    rows.push({
      ...headOf(invoice, names.get(invoice.importedById) ?? 'a former member'),
      rule: describeAllocation(ruleOf(invoice.spread)),
      isSpread: invoice.spread !== null,
      sides: compared.found && sidesOf(compared.found),
      problem: compared.problem,
    })
  }
  const next = found[most]
  return next ? { items: rows, next: { month: next.month, provider: next.provider } } : { items: rows }
}

/** All of them, the newest month first. */
export async function everyInvoice(ctx: Ctx): Promise<InvoiceRow[]> {
  const all: InvoiceRow[] = []
  for (let from: InvoicePlace | undefined; ; ) {
    const { items, next } = await listInvoices(ctx, { from, most: 2 * INVOICES_SHOWN })
    all.push(...items)
    if (!next) return all
    from = next
  }
}

type Stored = Awaited<ReturnType<FeatureContext['db']['invoice']['findFirstOrThrow']>>

const headOf = (invoice: Stored, importedBy: string) => ({
  id: invoice.id,
  provider: invoice.provider,
  month: invoice.month,
  number: invoice.number,
  currency: invoice.currency,
  source: invoice.source,
  lines: invoice.lineCount,
  total: formatted(invoice.total),
  importedAt: invoice.importedAt,
  importedBy,
})

const formatted = (amount: { toFixed(): string }): string => amount.toFixed()
const sidesOf = ({ ours, theirs, difference }: Record<keyof Sides, bigint>): Sides => ({
  ours: formatDecimal(ours),
  theirs: formatDecimal(theirs),
  difference: formatDecimal(difference),
})

/** A missing exchange rate is no failure of the page: it says so. */
async function orProblem<T>(work: Promise<T>): Promise<{ found?: T; problem: string | undefined }> {
  try {
    return { found: await work, problem: undefined }
  } catch (error) {
    if (!isAppError(error) || error.code !== 'BAD_INPUT') throw error
    return { problem: [error.message, error.remedy].filter(Boolean).join(' ') }
  }
}

const ruleOf = (spread: { kind: string; shares: unknown } | null): AllocationRule =>
  spread ? allocationRule(spread.kind, spread.shares as Record<string, string>) : { kind: 'none' }

export type ComparedRow = Sides & { day: string | null; model: string | null }
export type InvoiceDetail = Omit<InvoiceRow, 'rule' | 'isSpread'> & {
  rule: AllocationRule
  ruleWords: string
  /** What both sides can be compared by. */
  by: { day: boolean; model: boolean }
  rows: ComparedRow[]
  byDay: ComparedRow[]
  byModel: ComparedRow[]
  /** Lines that say less than the others, and ours without a model. */
  unexplained: Sides & {
    lines: { day: string | null; model: string | null; description: string | null; amount: string }[]
  }
  /** Beside ours, never in it: at most, what has no price; and what nobody knows to be billed. */
  bound: string
  unknown: string
  /** By the rule in force; undefined where it cannot be said. */
  spread: SpreadShown | undefined
  tenants: SpreadTenant[]
  /** What statements are drawn up by: their lines are of it. */
  statementBasis: 'equivalent' | 'billed'
}

/** A difference by who takes what, in the currency of the month's statements and as it stands on them. Decimals. */
export type SpreadShown = {
  currency: string
  whole: string
  parts: (SpreadTenant & { amount: string })[]
  left: string
  /** Why something is left; `no_spend`: there is nothing to go by in proportion. */
  why: SpreadPreview['why'] | null
  /** The first month with statements, where this invoice's lies before it: its lines stand on none. Empty: there are none at all. */
  before: string | null
}

const spreadShown = ({ currency, whole, parts, left, why, before }: SpreadPreview): SpreadShown => ({
  currency,
  whole: formatDecimal(whole),
  parts: parts.map(({ key, name, pico }) => ({ key, name, amount: formatDecimal(pico) })),
  left: formatDecimal(left),
  why: why ?? null,
  before,
})

/** One invoice beside our own figures. */
export async function getInvoice(ctx: Ctx, { id }: { id: string }): Promise<InvoiceDetail> {
  demandSight(ctx)
  const { orgId } = ctx.actor
  const invoice = await ctx.db.invoice.findFirst({ where: { id, orgId }, include: { spread: true } })
  if (!invoice) throw notFound('invoice')
  const by = await ctx.db.member.findFirst({ where: { id: invoice.importedById, orgId }, select: { name: true } })
  const rule = ruleOf(invoice.spread)
  const { found, problem } = await orProblem(compareInvoice(ctx.db, orgId, invoice))
  const { basis } = await statementSetting(ctx.db, orgId)
  const result = found?.result
  const spread = found && (await orProblem(previewSpread(ctx.db, ctx.now, orgId, invoice, found, rule)))
  const none = { ours: 0n, theirs: 0n, difference: 0n }
  return {
    ...headOf(invoice, by?.name ?? 'a former member'),
    sides: found && sidesOf(found),
    problem: problem ?? spread?.problem,
    rule,
    ruleWords: describeAllocation(rule),
    by: result?.by ?? { day: false, model: false },
    rows: (result?.rows ?? []).map(shown),
    byDay: result?.by.day ? merged(result.rows, 'day') : [],
    byModel: result?.by.model ? merged(result.rows, 'model') : [],
    unexplained: {
      ...sidesOf(result?.unexplained ?? none),
      lines: (result?.unexplained.lines ?? []).slice(0, LINES_SHOWN).map(({ day, model, description, pico }) => ({
        day: day ?? null,
        model: model ?? null,
        description: description ?? null,
        amount: formatDecimal(pico),
      })),
    },
    bound: formatDecimal(found?.bound ?? 0n),
    unknown: formatDecimal(found?.unknown ?? 0n),
    spread: spread?.found && spreadShown(spread.found),
    tenants: spread?.found?.tenants ?? [],
    statementBasis: basis,
  }
}

/** Lines without a place that a page lists; the file has all. */
const LINES_SHOWN = 200

const shown = (row: ReconciledRow): ComparedRow => ({ day: row.day ?? null, model: row.model ?? null, ...sidesOf(row) })

/** Models that a page lists; the smallest of more are one row. The file has all. */
const MODELS_SHOWN = 100

/** Rows of one day, or of one model, added up. */
function merged(rows: readonly ReconciledRow[], key: 'day' | 'model'): ComparedRow[] {
  const sums = new Map<string, ReconciledRow>()
  for (const row of rows) {
    const value = row[key]!
    const sum = sums.get(value) ?? { [key]: value, ours: 0n, theirs: 0n, difference: 0n }
    sum.ours += row.ours
    sum.theirs += row.theirs
    sum.difference += row.difference
    sums.set(value, sum)
  }
  const all = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  if (all.length <= MODELS_SHOWN) return all.map(shown)
  const size = ({ ours, theirs }: ReconciledRow) => (ours > theirs ? ours : theirs)
  const largest = new Set([...all].sort((a, b) => (size(a) < size(b) ? 1 : -1)).slice(0, MODELS_SHOWN))
  const others = all.filter(row => !largest.has(row))
  const rest = { [key]: `${others.length} others`, ours: 0n, theirs: 0n, difference: 0n }
  for (const { ours, theirs, difference } of others) {
    rest.ours += ours
    rest.theirs += theirs
    rest.difference += difference
  }
  return [...all.filter(row => largest.has(row)), rest as ReconciledRow].map(shown)
}

/** How the difference would be spread by a rule, before it is. @throws AppError BAD_INPUT for shares that are none */
export async function spreadWith(ctx: Ctx, { id, rule }: { id: string; rule: AllocationRule }): Promise<SpreadShown> {
  demandSight(ctx)
  const { orgId } = ctx.actor
  const invoice = await ctx.db.invoice.findFirst({ where: { id, orgId } })
  if (!invoice) throw notFound('invoice')
  const difference = await differenceOf(ctx.db, orgId, invoice)
  return spreadShown(await previewSpread(ctx.db, ctx.now, orgId, invoice, difference, rule))
}
