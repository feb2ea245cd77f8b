import type { MemberActor } from '#core/actor.ts'
import type { CsvValue } from '#core/csv.ts'
import { AppError } from '#core/error.ts'
import type { FeatureContext } from '../context.ts'
import { everyInvoice, getInvoice } from './read.ts'

type Sheet = { columns: readonly string[]; rows: CsvValue[][] }
const decimal = (text: string | undefined): CsvValue => (text === undefined ? null : { decimal: text })

/** Every invoice, one a line. */
export async function invoicesSheet(ctx: FeatureContext<MemberActor>): Promise<Sheet> {
  return {
    columns: [
      'month_utc',
      'provider',
      'number',
      'currency',
      'invoice',
      'ours',
      'difference',
      'spread',
      'source',
      'lines',
      'imported_at_utc',
      'imported_by',
    ],
    rows: (await everyInvoice(ctx)).map(row => [
      row.month,
      row.provider,
      row.number,
      row.currency,
      decimal(row.total),
      decimal(row.sides?.ours),
      decimal(row.sides?.difference),
      row.rule,
      row.source,
      row.lines,
      row.importedAt,
      row.importedBy,
    ]),
  }
}

/** One comparison (`id`), by day and model as far as the invoice tells them. Its rows add up to the totals of the page. */
export async function invoiceSheet(ctx: FeatureContext<MemberActor>, query: URLSearchParams): Promise<Sheet> {
  const id = query.get('id')
  if (!id) throw new AppError('BAD_INPUT', 'Name an invoice.')
  const { rows, unexplained, currency } = await getInvoice(ctx, { id })
  const beside = { day: null, model: null, ...unexplained }
  return {
    columns: ['day_utc', 'model', 'ours', 'invoice', 'difference', 'currency'],
    rows: [...rows, ...(beside.ours === '0' && beside.theirs === '0' ? [] : [beside])].map(row => [
      row.day,
      row.model,
      decimal(row.ours),
      decimal(row.theirs),
      decimal(row.difference),
      currency,
    ]),
  }
}
