import type { Basis } from '#core/budget/budget.ts'
import { utf8 } from '#core/bytes.ts'
import { formatDecimal } from '#core/decimal.ts'
import { canonicalJson } from '#core/json.ts'
import {
  type ClosedStatement,
  type StatementDraft,
  type StatementLine,
  statementDigest,
  totalsOf,
} from '#core/spend/statement.ts'
import { crypto } from '../../keys/crypto.ts'
import { type Book, draftOf, sourcesOf } from './book.ts'
import type { DrawnMonth } from './drawn.ts'

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

/** A tenant's draft of a month out of the book; undefined where there is none and none will be. */
export function draftBill(book: Book, tenant: string, month: string, now: Date): DraftBill | undefined {
  const drawn = draftOf(book, tenant, month)
  if (!drawn) return undefined
  const { draft, problem } = drawn
  const bill = billOf(draft)
  return {
    state: 'draft',
    tenantName: draft.tenant.name,
    ...bill,
    hinders: hindersOf(book, { tenant, period: bill.period, problem, ...sumsOf(bill) }, now),
  }
}

/** A draft added up, with the tag of its figures. */
function billOf(draft: StatementDraft): Bill & { tag: string } {
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
    ...figures,
    atMost: formatDecimal(atMost),
    totalWithBound: formatDecimal(totalsOf(draft, true).total),
    unknown: formatDecimal(unknown),
    carried: formatDecimal(carried),
    tag: statementDigest(utf8(canonicalJson(figures)), crypto.sha256),
  }
}

/** What a list tells of a draft. */
type DraftSums = Pick<DraftBill, 'currency' | 'total' | 'atMost' | 'unknown' | 'tag'> & {
  /** Of which there is no price. */
  models: string[]
  isEmpty: boolean
}

const sumsOf = ({ lines, currency, total, atMost, unknown, tag }: Bill & { tag: string }): DraftSums => ({
  currency,
  total,
  atMost,
  unknown,
  tag,
  models: [...new Set(lines.filter(({ kind }) => kind === 'bound').map(({ model }) => model ?? 'what is shared'))],
  isEmpty: lines.length === 0,
})

type Kept = { sources: readonly unknown[]; exchange: string; sums: DraftSums }
const kept = new WeakMap<DrawnMonth, Map<string, Kept>>()

export type DraftRow = Omit<DraftSums, 'models' | 'isEmpty'> & {
  isEmpty: boolean
  tenantName: string
  hinders: Hinder[]
}

/** The same draft in one row of a list. It is added up anew only when one of its lines is another. */
export function draftRow(book: Book, month: DrawnMonth, tenant: string, now: Date): DraftRow | undefined {
  const drawn = draftOf(book, tenant, month.month)
  if (!drawn) return undefined
  const { draft, problem } = drawn
  const sources = sourcesOf(book, month, tenant)
  const exchange = JSON.stringify(draft.exchange)
  const ofMonth = kept.get(month) ?? new Map<string, Kept>()
  kept.set(month, ofMonth)
  const before = ofMonth.get(tenant)
  const isSame = before?.exchange === exchange && before.sources.every((source, i) => source === sources[i])
  const sums = isSame ? before.sums : sumsOf(billOf(draft))
  if (!isSame) ofMonth.set(tenant, { sources, exchange, sums })
  const { models: _, ...shown } = sums
  const hinders = hindersOf(book, { tenant, period: draft.period, problem, ...sums }, now)
  return { ...shown, tenantName: draft.tenant.name, hinders }
}

function hindersOf(
  book: Book,
  {
    tenant,
    period,
    problem,
    models,
    isEmpty,
  }: { tenant: string; period: { month: string; end: string }; problem: string | undefined } & DraftSums,
  now: Date,
): Hinder[] {
  const earlier = earlierOpen(book, tenant, period.month)
  return [
    ...(problem === undefined ? [] : [{ why: 'problem' as const, words: problem }]),
    ...(now < new Date(period.end) ? [{ why: 'not_over' as const, until: new Date(period.end) }] : []),
    ...(earlier === undefined ? [] : [{ why: 'earlier_open' as const, month: earlier }]),
    ...(models.length === 0 ? [] : [{ why: 'unpriced' as const, models }]),
    ...(isEmpty && problem === undefined ? [{ why: 'nothing' as const }] : []),
  ]
}

const firstOpen = new WeakMap<Book, Map<string, string | undefined>>()

/** The first month before this one that has something to bill and is open. */
export function earlierOpen(book: Book, tenant: string, month: string): string | undefined {
  const found = firstOpen.get(book) ?? new Map<string, string | undefined>()
  firstOpen.set(book, found)
  if (!found.has(tenant)) found.set(tenant, firstOpenOf(book, tenant))
  const first = found.get(tenant)
  return first !== undefined && first < month ? first : undefined
}

function firstOpenOf(book: Book, tenant: string): string | undefined {
  const last = book.closed.get(tenant)?.at(-1)?.month
  const open = book.months.filter(({ month }) => last === undefined || month > last)
  return open.find((month, i) => {
    if (month.problem !== undefined || sourcesOf(book, month, tenant).some(lines => lines.length > 0)) return true
    // of the first one, what kept those before it from being drawn up keeps it too
    return i === 0 && last !== undefined && book.months.some(one => one.month <= last && one.problem !== undefined)
  })?.month
}

export type ClosedFacts = { digest: string; closedAt: Date; closedById: string; evidenceSeq: number }

/** A closed statement out of the bytes that were hashed. */
export function closedBill(
  doc: ClosedStatement,
  { digest, closedAt, closedById, evidenceSeq }: ClosedFacts,
): ClosedBill {
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
    digest,
    closedAt,
    closedById,
    evidenceSeq,
    state: 'closed',
    tenantName: doc.tenant.name,
  }
}
