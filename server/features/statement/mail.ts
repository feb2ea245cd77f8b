import type { MemberActor } from '#core/actor.ts'
import { AppError } from '#core/error.ts'
import { demand } from '#core/permission.ts'
import type { Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { recordEvidence } from '../evidence.ts'

type Queued = { tenant: string; month: string; to: string; number: number }

/** Notes a mail of a closed statement and queues it, in the transaction of whatever causes it: once for its number. */
export async function queueMail(tx: Tx, ctx: FeatureContext<MemberActor>, mail: Queued): Promise<void> {
  const { orgId, memberId } = ctx.actor
  const { tenant, month, number } = mail
  await tx.statementMail.create({ data: { orgId, ...mail, queuedAt: ctx.now, byId: memberId } })
  await enqueue(
    tx,
    'statement.mail',
    { org: orgId, tenant, month, number },
    { key: `statement:${orgId}:${tenant}:${month}:${number}`, org: orgId },
  )
}

/** Mails a closed statement once more, to the contact of today. The figures are those that were closed. */
export async function resendStatement(
  ctx: FeatureContext,
  { tenant, month }: { tenant: string; month: string },
): Promise<{ to: string; number: number }> {
  const { actor } = ctx
  demand(actor, 'statement.arrange')
  const { orgId } = actor
  return ctx.db.$transaction(async tx => {
    // The application may not lock a row that it may not change.
    await tx.$queryRaw`select pg_advisory_xact_lock(hashtextextended(${`statement mail ${orgId} ${tenant} ${month}`}, 0))::text`
    const closed = await tx.statement.findUnique({ where: { orgId_tenant_month: { orgId, tenant, month } } })
    if (!closed) throw notFound('closed statement')
    const row = await tx.tenant.findUnique({ where: { orgId_key: { orgId, key: tenant } } })
    if (!row?.contactEmail)
      throw new AppError('CONFLICT', 'Nobody is named whom this statement could be mailed to.', {
        details: { why: 'no_contact' },
        remedy: "Set the tenant's contact first.",
      })
    const last = await tx.statementMail.aggregate({ where: { orgId, tenant, month }, _max: { number: true } })
    const number = (last._max.number ?? 0) + 1
    await queueMail(tx, { ...ctx, actor }, { tenant, month, to: row.contactEmail, number })
    await recordEvidence(tx, ctx, {
      kind: 'statement.sent',
      subject: { kind: 'organisation', id: orgId },
      data: { tenant, month, number },
    })
    return { to: row.contactEmail, number }
  })
}
