import { z } from 'zod'
import { listEvidence } from '../../features/audit.ts'
import { inOrg, router } from '../trpc.ts'

const filter = {
  /** A kind (`approval.denied`) or a noun (`approval`). */
  kind: z.string().max(64).optional(),
  actor: z.string().max(64).optional(),
  subject: z.string().max(64).optional(),
  from: z.date().optional(),
  to: z.date().optional(),
}

export const evidenceRouter = router({
  list: inOrg
    .input(z.object({ ...filter, cursor: z.number().int().min(1).optional() }))
    .query(({ ctx, input }) => listEvidence(ctx.feature, input)),
})
