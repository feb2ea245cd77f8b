import { z } from 'zod'
import { attributionInForce, unlistedShares, whyUnattributed } from '../../features/spend/attribution.ts'
import { inOrg, router } from '../trpc.ts'

/** Days, the last not included. */
const span = { from: z.iso.date(), to: z.iso.date() }

export const attributionRouter = router({
  inForce: inOrg.query(({ ctx }) => attributionInForce(ctx.feature)),
  why: inOrg
    .input(z.object({ key: z.string().max(40), ...span }))
    .query(({ ctx, input: { org: _, ...asked } }) => whyUnattributed(ctx.feature, asked)),
  unlisted: inOrg
    .input(z.object(span))
    .query(({ ctx, input: { org: _, ...days } }) => unlistedShares(ctx.feature, days)),
})
