import * as z from 'zod/mini'
import { DAY_MS, dayStart, utcDay } from '#core/day.ts'
import { addLine, type InvoiceLine, picoOf, readPages, refuseAt, wordedAs } from './line.ts'

/**
 * The answer of Anthropic's `GET /v1/organizations/cost_report`, whole: one page or a list of pages. Amounts are decimal texts in the
 * currency's smallest unit (cents); a bucket is a UTC day. Model, description and kind stand there when the report was asked for
 * with `group_by[]=description`. Fields that are not named here may come and say nothing to us.
 */
const Result = z.looseObject({
  amount: z.string(),
  currency: z.string().check(z.regex(/^[A-Z]{3}$/, 'a currency is three capital letters')),
  model: z.optional(z.nullable(z.string())),
  description: z.optional(z.nullable(z.string())),
  cost_type: z.optional(z.nullable(z.string())),
})
const Page = z.looseObject({
  data: z.array(
    z.looseObject({ starting_at: z.iso.datetime(), ending_at: z.iso.datetime(), results: z.array(Result) }),
  ),
  has_more: z.boolean(),
})

/** @throws AppError BAD_INPUT naming the place, e.g. `data[3].results[0].amount` */
export function readAnthropicCosts(text: string): InvoiceLine[] {
  const lines: InvoiceLine[] = []
  const days = new Set<string>()
  for (const { page, at } of readPages(text, Page))
    for (const [i, bucket] of page.data.entries()) {
      const place = `${at}${at && '.'}data[${i}]`
      const start = Date.parse(bucket.starting_at)
      const day = utcDay(start)
      if (start !== dayStart(day) || Date.parse(bucket.ending_at) - start > DAY_MS)
        throw refuseAt(`${place}.starting_at`, 'a bucket is one UTC day')
      if (days.has(day)) throw refuseAt(`${place}.starting_at`, `${day} stands above already`)
      days.add(day)
      for (const [k, { amount, currency, model, description, cost_type }] of bucket.results.entries()) {
        const pico = picoOf(amount, 2)
        if (pico === undefined) throw refuseAt(`${place}.results[${k}].amount`, 'an amount is a decimal text')
        const said = description ?? cost_type
        addLine(lines, { day, ...(model ? { model } : {}), ...wordedAs(said), currency, pico })
      }
    }
  return lines
}
