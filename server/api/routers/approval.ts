import { tracked } from '@trpc/server'
import { z } from 'zod'
import { Ceiling } from '#core/approval/answer.ts'
import { HANDLE } from '#core/id.ts'
import { REASON_MAX } from '#core/limits.ts'
import { answerApproval } from '../../features/approval/answer.ts'
import { approvalChanges, readPosition } from '../../features/approval/changes.ts'
import { getApproval, listApprovals } from '../../features/approval/read.ts'
import { revokeGrant, withdrawOwn } from '../../features/approval/withdraw.ts'
import { inOrg, router } from '../trpc.ts'

const handle = z.string().regex(HANDLE)

export const approvalRouter = router({
  list: inOrg
    .input(z.object({ state: z.enum(['waiting', 'settled', 'all']).default('waiting'), cursor: handle.optional() }))
    .query(({ ctx, input }) =>
      listApprovals(ctx.feature, { state: input.state, ...(input.cursor ? { cursor: input.cursor } : {}) }),
    ),
  get: inOrg.input(z.object({ handle })).query(({ ctx, input }) => getApproval(ctx.feature, input)),
  answer: inOrg
    .input(
      z.object({
        handle,
        decision: z.enum(['approve', 'deny']),
        scope: z.enum(['step', 'session']).default('step'),
        until: z.array(Ceiling).max(8).default([]),
        reason: z.string().max(REASON_MAX).default(''),
      }),
    )
    .mutation(({ ctx, input }) => answerApproval(ctx.feature, input)),
  withdraw: inOrg.input(z.object({ handle })).mutation(({ ctx, input }) => withdrawOwn(ctx.feature, input)),
  revoke: inOrg.input(z.object({ handle })).mutation(({ ctx, input }) => revokeGrant(ctx.feature, input)),
  /** Where the record stands: read before what is shown, and given to `changed`. */
  position: inOrg.query(({ ctx }) => readPosition(ctx.feature)),
  /** Says when to look again: a request came, was answered or ended since the position seen, or since the last message heard. */
  changed: inOrg
    .input(
      z.object({
        seen: z.int().min(0),
        lastEventId: z
          .string()
          .regex(/^\d{1,10}$/)
          .nullish(),
      }),
    )
    .subscription(async function* ({ ctx, input, signal }) {
      const seen = input.lastEventId ? Number(input.lastEventId) : input.seen
      for await (const { position, missed } of approvalChanges(ctx.feature, seen, signal))
        yield tracked(String(position), { missed })
    }),
})
