import { z } from 'zod'
import { BASES } from '#core/budget/budget.ts'
import { NOTE_MAX } from '#core/limits.ts'
import { changeCurrency, getCurrency } from '../../features/spend/billing-currency.ts'
import { editSpendRules } from '../../features/spend/edit-rules.ts'
import { endGrant, grantFigures, listGrants } from '../../features/spend/grant.ts'
import { spendKeys } from '../../features/spend/keys.ts'
import { STEPS } from '../../features/spend/period.ts'
import { spendReport } from '../../features/spend/report.ts'
import { listQuarantine } from '../../features/usage/quarantine.ts'
import { repriceUsage } from '../../features/usage/reprice.ts'
import { changeTimeZone } from '../../features/usage/zone.ts'
import { spendEdit } from '../spend-edit.ts'
import { inOrg, router } from '../trpc.ts'

const id = z.string().max(64)
const value = z.string().max(100).nullable()

export const spendRouter = router({
  report: inOrg
    .input(
      z.object({
        /** By the clock of the organisation's zone: `2026-11-01`, or a quarter hour of it `2026-11-01T08:15`. */
        from: z.string().max(16),
        to: z.string().max(16),
        by: z.string().max(40),
        basis: z.enum(BASES).optional(),
        step: z.enum(STEPS).optional(),
        filter: z.record(z.string().max(40), z.array(value).max(200)).optional(),
      }),
    )
    .query(({ ctx, input: { org: _, ...asked } }) => spendReport(ctx.feature, asked)),
  /** One edit of prices, exchange rates, tags, attribution rules or renames in the text in force, published as the next version. */
  edit: inOrg
    .input(z.object({ edit: spendEdit, note: z.string().max(4 * NOTE_MAX), etag: z.string().max(80) }))
    .mutation(({ ctx, input }) => editSpendRules(ctx.feature, input)),
  keys: inOrg.query(({ ctx }) => spendKeys(ctx.feature)),
  quarantine: inOrg.query(({ ctx }) => listQuarantine(ctx.feature)),
  grants: inOrg.query(({ ctx }) => listGrants(ctx.feature)),
  grant: inOrg
    .input(z.object({ holderId: id, subjectId: id.optional(), reason: z.string().max(2000), days: z.number().int() }))
    .mutation(({ ctx, input: { org: _, ...asked } }) => grantFigures(ctx.feature, asked)),
  endGrant: inOrg.input(z.object({ id })).mutation(({ ctx, input }) => endGrant(ctx.feature, input)),
  reprice: inOrg
    .input(z.object({ from: z.iso.date(), to: z.iso.date() }))
    .mutation(({ ctx, input: { org: _, ...days } }) => repriceUsage(ctx.feature, days)),
  currency: inOrg.query(({ ctx }) => getCurrency(ctx.feature)),
  changeCurrency: inOrg
    .input(z.object({ currency: z.string().max(3) }))
    .mutation(({ ctx, input }) => changeCurrency(ctx.feature, input)),
  changeTimeZone: inOrg
    .input(z.object({ timeZone: z.string().max(64) }))
    .mutation(({ ctx, input }) => changeTimeZone(ctx.feature, input)),
})
