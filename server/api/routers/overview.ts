import { getOverview } from '../../features/overview.ts'
import { inOrg, router } from '../trpc.ts'

export const overviewRouter = router({
  get: inOrg.query(({ ctx }) => getOverview(ctx.feature)),
})
