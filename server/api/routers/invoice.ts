import { z } from 'zod'
import { INVOICE_HAND_LINES_MAX, INVOICE_TEXT_MAX } from '#core/limits.ts'
import { PROVIDERS } from '#core/pricing.ts'
import { getInvoice, listInvoices, spreadWith } from '../../features/invoice/read.ts'
import { setSpread } from '../../features/invoice/state-spread.ts'
import { removeInvoice, takeInvoice } from '../../features/invoice/take.ts'
import { inOrg, router } from '../trpc.ts'

const id = z.object({ id: z.string().max(64) })
const head = {
  provider: z.enum(PROVIDERS),
  month: z.string().max(7),
  number: z.string().max(200).optional(),
  currency: z.string().max(3),
  replaces: z.string().max(64).optional(),
}
const line = z.object({
  day: z.string().max(10).optional(),
  model: z.string().max(100).optional(),
  description: z.string().max(200).optional(),
  amount: z.string().max(40),
})
const rule = z.union([
  z.object({ kind: z.enum(['none', 'proportional', 'equivalent', 'even']) }),
  z.object({ kind: z.literal('fixed'), shares: z.record(z.string().max(63), z.string().max(12)) }),
])

/** Providers' invoices beside our own figures. */
export const invoiceRouter = router({
  list: inOrg
    .input(z.object({ from: z.object({ month: z.string().max(7), provider: z.string().max(64) }).optional() }))
    .query(({ ctx, input: { from } }) => listInvoices(ctx.feature, { from })),
  get: inOrg.input(id).query(({ ctx, input }) => getInvoice(ctx.feature, input)),
  import: inOrg
    .input(
      z.object({ ...head, source: z.enum(['anthropic', 'openai', 'csv']), text: z.string().max(INVOICE_TEXT_MAX) }),
    )
    .mutation(({ ctx, input: { org: _, ...asked } }) => takeInvoice(ctx.feature, asked)),
  enter: inOrg
    .input(z.object({ ...head, lines: z.array(line).min(1).max(INVOICE_HAND_LINES_MAX) }))
    .mutation(({ ctx, input: { org: _, ...asked } }) => takeInvoice(ctx.feature, { ...asked, source: 'hand' })),
  previewSpread: inOrg.input(id.extend({ rule })).query(({ ctx, input }) => spreadWith(ctx.feature, input)),
  spread: inOrg.input(id.extend({ rule })).mutation(({ ctx, input }) => setSpread(ctx.feature, input)),
  remove: inOrg.input(id).mutation(({ ctx, input }) => removeInvoice(ctx.feature, input)),
})
