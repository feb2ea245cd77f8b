import { z } from 'zod'
import { addTenant, listTenants, removeTenant, renameTenant } from '../../features/tenant.ts'
import { inOrg, router } from '../trpc.ts'

const key = z.string().min(1).max(63)
const name = z.string().max(400)

export const tenantRouter = router({
  list: inOrg.query(({ ctx }) => listTenants(ctx.feature)),
  add: inOrg.input(z.object({ key, name })).mutation(({ ctx, input }) => addTenant(ctx.feature, input)),
  rename: inOrg.input(z.object({ key, name })).mutation(({ ctx, input }) => renameTenant(ctx.feature, input)),
  remove: inOrg.input(z.object({ key })).mutation(({ ctx, input }) => removeTenant(ctx.feature, input)),
})
