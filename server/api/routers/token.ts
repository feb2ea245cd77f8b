import { z } from 'zod'
import { API_SCOPES } from '#core/token.ts'
import { endApiToken, listApiTokens, makeApiToken } from '../../features/api-token.ts'
import { inOrg, router } from '../trpc.ts'

/** Tokens for the organisation's own programs. */
export const tokenRouter = router({
  list: inOrg.query(({ ctx }) => listApiTokens(ctx.feature)),
  make: inOrg
    .input(
      z.object({
        name: z.string().max(200),
        scopes: z.array(z.enum(API_SCOPES)).max(API_SCOPES.length),
        days: z.number().int().optional(),
      }),
    )
    .mutation(({ ctx, input: { org: _, ...asked } }) => makeApiToken(ctx.feature, asked)),
  end: inOrg.input(z.object({ id: z.string().max(64) })).mutation(({ ctx, input }) => endApiToken(ctx.feature, input)),
})
