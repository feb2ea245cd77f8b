import { z } from 'zod'
import { NOTE_MAX } from '#core/limits.ts'
import { dropBudget, saveBudget } from '../../features/budget/edit.ts'
import { fullestBudget, getBudget, listBudgets } from '../../features/budget/read.ts'
import { inOrg, router } from '../trpc.ts'

const name = z.string().min(1).max(63)
const publication = { note: z.string().max(4 * NOTE_MAX), etag: z.string().max(80) }
/** The document's own keys and words; what they say is read as the document is. */
const budget = z.record(z.string().max(40), z.unknown())

export const budgetRouter = router({
  list: inOrg.query(({ ctx }) => listBudgets(ctx.feature)),
  fullest: inOrg.query(({ ctx }) => fullestBudget(ctx.feature)),
  get: inOrg
    .input(z.object({ name, value: z.string().max(100).optional() }))
    .query(({ ctx, input }) => getBudget(ctx.feature, input)),
  save: inOrg
    .input(z.object({ name: name.optional(), budget, ...publication }))
    .mutation(({ ctx, input }) => saveBudget(ctx.feature, input)),
  remove: inOrg.input(z.object({ name, ...publication })).mutation(({ ctx, input }) => dropBudget(ctx.feature, input)),
})
