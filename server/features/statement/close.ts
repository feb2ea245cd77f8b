import type { MemberActor } from '#core/actor.ts'
import { AppError, type ErrorCode, isAppError } from '#core/error.ts'
import { demandFresh } from '#core/permission.ts'
import { closeStatement, statementBytes, statementDigest } from '#core/spend/statement.ts'
import { notify } from '../../bus.ts'
import { isUniqueViolation, type Tx } from '../../db.ts'
import { crypto } from '../../keys/crypto.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { draftBill, earlierOpen } from './bill.ts'
import { type Book, closedOf, draftOf, openBook } from './book.ts'
import { queueMail } from './mail.ts'

export type CloseAsked = {
  tenant: string
  month: string
  /** Of the figures that the person has seen. */
  tag: string
  /** An owner lets usage without a price stand at the dearest price. */
  acceptBound?: boolean | undefined
}
export type CloseDone = {
  digest: string
  total: string
  currency: string
  evidenceSeq: number
  mailedTo: string | null
}

/**
 * Freezes a tenant's statement: its bytes, the ledger's entry with their digest, and the mail to its contact are one
 * transaction. The person names what they have seen; whoever is second finds it closed.
 * @throws AppError FORBIDDEN; NOT_FOUND; CONFLICT with `details.why`: a refusal of core/spend/statement.ts, or `moved` where the
 *   draft has changed since, `nothing` where there is nothing on it, `problem` where it cannot be drawn up
 */
export async function closeOne(ctx: FeatureContext, asked: CloseAsked): Promise<CloseDone> {
  const { actor } = ctx
  demandFresh(actor, 'statement.close', ctx.now)
  if (asked.acceptBound) demandFresh(actor, 'statement.accept_bound', ctx.now)
  try {
    return await ctx.db.$transaction(tx => closeIn(tx, { ...ctx, actor }, asked))
  } catch (error) {
    // Only where the lock was not the same: the table itself keeps one statement of a month.
    if (isUniqueViolation(error)) throw refusal('already_closed', `The statement of ${asked.month} is closed.`)
    throw error
  }
}

async function closeIn(tx: Tx, ctx: FeatureContext<MemberActor>, asked: CloseAsked): Promise<CloseDone> {
  const { orgId } = ctx.actor
  const { tenant, month, tag, acceptBound = false } = asked
  await lockStatements(tx, orgId)
  const book = await openBook(tx, orgId, ctx.now)
  if (closedOf(book, tenant, month))
    throw refusal(
      'already_closed',
      `The statement of ${month} is closed.`,
      'Later changes are adjustments of the open month.',
    )
  const bill = book.tenants.has(tenant) ? draftBill(book, tenant, month, ctx.now) : undefined
  if (!bill) throw notFound('statement')
  const { draft, problem } = draftOf(book, tenant, month)!
  if (problem !== undefined) throw refusal('problem', problem)
  if (draft.lines.length === 0) throw refusal('nothing', 'There is nothing on this statement.')
  if (tag !== bill.tag)
    throw refusal(
      'moved',
      'The draft has changed since you looked: usage came in, or prices or rules changed.',
      'Look at it again, then close it.',
    )
  const closed = closeStatement(draft, {
    at: ctx.now.toISOString(),
    state: 'draft',
    earlierOpen: earlierOpen(book, tenant, month) !== undefined,
    acceptBound,
  })
  const bytes = statementBytes(closed)
  const digest = statementDigest(bytes, crypto.sha256)
  await settleMonth(tx, book, month)
  await notify(tx, { org: orgId, what: 'usage' })
  const { total, carried, currency, boundAccepted } = closed
  const { seq: evidenceSeq } = await recordEvidence(tx, ctx, {
    kind: 'statement.closed',
    subject: { kind: 'organisation', id: orgId },
    data: { tenant, month, digest, total, currency, ...(boundAccepted ? { boundAccepted } : {}) },
  })
  await tx.statement.create({
    data: {
      orgId,
      tenant,
      month,
      bytes: new Uint8Array(bytes),
      digest,
      total,
      carried,
      currency,
      closedAt: ctx.now,
      closedById: ctx.actor.memberId,
      evidenceSeq,
    },
  })
  const mailedTo = book.tenants.get(tenant)!.contact
  if (mailedTo !== null) await queueMail(tx, ctx, { tenant, month, to: mailedTo, number: 1 })
  return { digest, total, currency, evidenceSeq, mailedTo }
}

/** One closing, and one change of how statements are drawn up, at a time in an organisation. */
export const lockStatements = (tx: Tx, orgId: string) =>
  tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`statements ${orgId}`}, 0))::text`

/** From the first closing on a month lasts and is shared as it is then. */
async function settleMonth(tx: Tx, { months, org }: Book, name: string): Promise<void> {
  const month = months.find(one => one.month === name)!
  if (month.settled) return
  const { zone, start, end, basis, currency, rules, tenants } = month
  await tx.statementMonth.create({
    data: {
      orgId: org.id,
      month: name,
      zone,
      startAt: start,
      endAt: end,
      basis,
      currency,
      rules: rules as never,
      tenants: [...(tenants ?? [])],
    },
  })
}

const refusal = (why: string, message: string, remedy?: string) =>
  new AppError('CONFLICT', message, { details: { why }, ...(remedy ? { remedy } : {}) })

export type CloseResult =
  | ({ tenant: string; ok: true } & CloseDone)
  | { tenant: string; ok: false; code: ErrorCode; why: string | null; message: string }

/** Closes several tenants' statements of one month, each by itself: what is hindered stays open and says why. */
export async function closeMonth(
  ctx: FeatureContext,
  { month, statements }: { month: string; statements: readonly { tenant: string; tag: string }[] },
): Promise<CloseResult[]> {
  demandFresh(ctx.actor, 'statement.close', ctx.now)
  const results: CloseResult[] = []
  for (const { tenant, tag } of statements)
    try {
      results.push({ tenant, ok: true, ...(await closeOne(ctx, { tenant, month, tag })) })
    } catch (error) {
      if (!isAppError(error)) throw error
      const why = typeof error.details?.why === 'string' ? error.details.why : null
      results.push({ tenant, ok: false, code: error.code, why, message: error.message })
    }
  return results
}
