import type { ApprovalState } from '#core/approval/state.ts'
import type { EvidenceKind } from '#core/evidence/entry.ts'
import type { Json } from '#core/json.ts'
import { notify } from '../../bus.ts'
import type { Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { FeatureContext } from '../context.ts'
import { recordEvidence } from '../evidence.ts'
import { type ApprovalRecord, nextAnswerSeq } from './load.ts'

type Ended = Exclude<ApprovalState, 'pending' | 'approved' | 'denied'>

/**
 * Ends a request without an answer, or a grant that was given: row, notice to the machine, evidence and signals in the
 * caller's transaction. These states only tighten, so machines take them unsigned.
 */
export async function endApproval(
  tx: Tx,
  ctx: Pick<FeatureContext, 'actor' | 'now' | 'random'>,
  row: ApprovalRecord,
  state: Ended,
  data: { [key: string]: Json } = {},
): Promise<void> {
  await tx.approvalRequest.update({
    where: { orgId_handle: { orgId: row.orgId, handle: row.handle } },
    data: {
      state,
      rowVersion: { increment: 1 },
      settledAt: row.settledAt ?? ctx.now,
      ...(state === 'withdrawn' ? { withdrawnBy: typeof data.by === 'string' ? data.by : 'machine' } : {}),
    },
  })
  // What the machine told us itself (used, lapsed) need not be told back.
  if (state === 'expired' || state === 'withdrawn' || state === 'revoked') {
    const seq = await nextAnswerSeq(tx, row.machineId)
    await tx.approvalNotice.create({
      data: { machineId: row.machineId, seq, orgId: row.orgId, handle: row.handle, state, at: ctx.now },
    })
    await notify(tx, { org: row.orgId, what: 'answer', machine: row.machineId, handle: row.handle })
  }
  if (state === 'expired' || state === 'revoked')
    await enqueue(tx, 'approval.mail_settled', { org: row.orgId, handle: row.handle })
  await notify(tx, { org: row.orgId, what: 'approval', handle: row.handle })
  await recordEvidence(tx, ctx, {
    kind: `approval.${state}` as EvidenceKind,
    subject: { kind: 'approval', id: row.handle },
    data,
  })
}
