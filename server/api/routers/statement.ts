import { z } from 'zod'
import { BASES } from '#core/budget/budget.ts'
import { isMonth } from '#core/day.ts'
import { previewAllocation, setAllocation, setContact, setStatements } from '../../features/statement/arrange.ts'
import { closeMonth, closeOne } from '../../features/statement/close.ts'
import { resendStatement } from '../../features/statement/mail.ts'
import { getStatement, listStatements } from '../../features/statement/read.ts'
import { inOrg, router } from '../trpc.ts'

const month = z.string().refine(isMonth)
const tenant = z.string().max(63)
const tag = z.string().max(64)
const rule = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['none', 'proportional', 'equivalent', 'even']) }),
  z.object({ kind: z.literal('fixed'), shares: z.record(z.string().max(63), z.string().max(12)) }),
])
/** Of which tag's value; both empty for what has no tenant. */
const shared = { key: z.string().max(32), value: z.string().max(63) }

export const statementRouter = router({
  list: inOrg
    .input(z.object({ year: z.string().max(4).optional() }))
    .query(({ ctx, input: { year } }) => listStatements(ctx.feature, { year })),
  get: inOrg.input(z.object({ tenant, month })).query(({ ctx, input }) => getStatement(ctx.feature, input)),
  close: inOrg
    .input(z.object({ tenant, month, tag, acceptBound: z.boolean().optional() }))
    .mutation(({ ctx, input }) => closeOne(ctx.feature, input)),
  closeMonth: inOrg
    .input(z.object({ month, statements: z.array(z.object({ tenant, tag })).max(200) }))
    .mutation(({ ctx, input }) => closeMonth(ctx.feature, input)),
  resend: inOrg.input(z.object({ tenant, month })).mutation(({ ctx, input }) => resendStatement(ctx.feature, input)),
  previewAllocation: inOrg
    .input(z.object({ ...shared, rule, month }))
    .query(({ ctx, input }) => previewAllocation(ctx.feature, input)),
  setAllocation: inOrg
    .input(z.object({ ...shared, rule: rule.nullable() }))
    .mutation(({ ctx, input }) => setAllocation(ctx.feature, input)),
  setContact: inOrg
    .input(z.object({ tenant, name: z.string().max(200), contact: z.string().max(320).nullable() }))
    .mutation(({ ctx, input }) => setContact(ctx.feature, input)),
  setUp: inOrg
    .input(z.object({ basis: z.enum(BASES), firstMonth: month.nullable() }))
    .mutation(({ ctx, input }) => setStatements(ctx.feature, input)),
})
