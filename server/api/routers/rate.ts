import { z } from 'zod'
import { PROVIDERS } from '#core/pricing.ts'
import { listPrices, ownPrices } from '../../features/usage/rate-card.ts'
import { previewReprice } from '../../features/usage/reprice-preview.ts'
import { unpricedModels } from '../../features/usage/unpriced.ts'
import { inOrg, router } from '../trpc.ts'

const span = z.object({ from: z.iso.date(), to: z.iso.date() })

export const rateRouter = router({
  list: inOrg
    .input(
      z.object({
        search: z.string().max(100).optional(),
        provider: z.enum(PROVIDERS).optional(),
        page: z.number().int().min(1).max(1000).optional(),
      }),
    )
    .query(({ ctx, input: { org: _, ...asked } }) => listPrices(ctx.feature, asked)),
  own: inOrg.query(({ ctx }) => ownPrices(ctx.feature)),
  /** Days of the organisation's zone, the last not included. */
  unpriced: inOrg.input(span).query(({ ctx, input: { org: _, ...days } }) => unpricedModels(ctx.feature, days)),
  /** UTC days, both included. */
  previewReprice: inOrg.input(span).query(({ ctx, input: { org: _, ...days } }) => previewReprice(ctx.feature, days)),
})
