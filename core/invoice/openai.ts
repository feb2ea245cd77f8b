import * as z from 'zod/mini'
import { utcDay } from '#core/day.ts'
import { addLine, type InvoiceLine, numberText, picoOf, readPages, refuseAt, wordedAs } from './line.ts'

/**
 * The answer of OpenAI's `GET /v1/organization/costs`, whole: one page or a list of pages. Amounts are in whole units of a currency
 * in small letters; a bucket is a UTC day in Unix seconds. With `group_by[]=line_item` a line names its model before a comma
 * (`gpt-5.5, input`). Fields that are not named here may come and say nothing to us.
 */
const Result = z.looseObject({
  object: z.literal('organization.costs.result'),
  amount: z.looseObject({
    value: z.union([z.number(), z.string()]),
    currency: z.string().check(z.regex(/^[a-z]{3}$/, 'a currency is three small letters')),
  }),
  line_item: z.optional(z.nullable(z.string())),
})
const Page = z.looseObject({
  object: z.literal('page'),
  data: z.array(
    z.looseObject({ object: z.literal('bucket'), start_time: z.int(), end_time: z.int(), results: z.array(Result) }),
  ),
  has_more: z.boolean(),
})

const DAY_S = 24 * 3600

/** @throws AppError BAD_INPUT naming the place, e.g. `data[3].results[0].amount.value` */
export function readOpenAiCosts(text: string): InvoiceLine[] {
  const lines: InvoiceLine[] = []
  const days = new Set<number>()
  for (const { page, at } of readPages(text, Page))
    for (const [i, { start_time, end_time, results }] of page.data.entries()) {
      const place = `${at}${at && '.'}data[${i}]`
      if (start_time < 0 || start_time % DAY_S !== 0 || start_time > 32_503_680_000 || end_time - start_time > DAY_S)
        throw refuseAt(`${place}.start_time`, 'a bucket is one UTC day')
      const day = utcDay(start_time * 1000)
      if (days.has(start_time)) throw refuseAt(`${place}.start_time`, `${day} stands above already`)
      days.add(start_time)
      for (const [k, { amount, line_item }] of results.entries()) {
        const pico = picoOf(typeof amount.value === 'number' ? numberText(amount.value) : amount.value)
        if (pico === undefined) throw refuseAt(`${place}.results[${k}].amount.value`, 'an amount is a number')
        const model = modelIn(line_item)
        addLine(lines, {
          day,
          ...(model ? { model } : {}),
          ...wordedAs(line_item),
          currency: amount.currency.toUpperCase(),
          pico,
        })
      }
    }
  return lines
}

/** `gpt-5.5-2026-04-24, cached input` is of `gpt-5.5-2026-04-24`; `Image models` is of none. */
function modelIn(item: string | null | undefined): string | undefined {
  const name = item?.includes(',') ? item.slice(0, item.indexOf(',')).trim().toLowerCase() : undefined
  return name !== undefined && /^[a-z0-9][a-z0-9._:-]{0,99}$/.test(name) ? name : undefined
}
