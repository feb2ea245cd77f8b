import type { MemberActor } from '#core/actor.ts'
import type { CsvValue } from '#core/csv.ts'
import { AppError } from '#core/error.ts'
import type { FeatureContext } from '../context.ts'
import type { Bill } from './bill.ts'
import { openBook } from './book.ts'
import { getStatement, monthRow } from './read.ts'

/** A statement's columns. `amount` is exact; `amount_shown` of the lines in the total adds up to the total. */
export const STATEMENT_COLUMNS: readonly string[] = [
  'statement_month',
  'tenant',
  'kind',
  'in_total',
  'about_month',
  'project',
  'provider',
  'model',
  'calls',
  'tokens',
  'allocated_of',
  'allocation_rule',
  'adjusted_kind',
  'amount',
  'amount_shown',
  'currency',
  'basis',
]

/** Every line of a statement, as on its page and in its mail. */
export const statementRows = (
  { period, basis, currency, lines }: Pick<Bill, 'period' | 'basis' | 'currency' | 'lines'>,
  tenant: string,
): CsvValue[][] =>
  lines.map(line => [
    period.month,
    tenant,
    line.kind,
    line.counted ? 'yes' : 'no',
    line.month ?? period.month,
    line.project,
    line.provider,
    line.model,
    line.calls,
    line.tokens,
    line.of,
    line.rule,
    line.adjusts,
    { decimal: line.amount },
    { decimal: line.shown },
    currency,
    basis,
  ])

/** The file of one statement. @throws AppError BAD_INPUT where none is named, NOT_FOUND */
export async function statementSheet(
  ctx: FeatureContext<MemberActor>,
  query: URLSearchParams,
): Promise<{ columns: readonly string[]; rows: CsvValue[][] }> {
  const [tenant, month] = [query.get('tenant'), query.get('month')]
  if (!tenant || !month) throw new AppError('BAD_INPUT', 'Name a tenant and a month.')
  const { bill } = await getStatement(ctx, { tenant, month })
  return { columns: STATEMENT_COLUMNS, rows: statementRows(bill, tenant) }
}

/** Every statement there is, drafts too, one a line. */
export async function statementsSheet(
  ctx: FeatureContext<MemberActor>,
): Promise<{ columns: readonly string[]; rows: CsvValue[][] }> {
  const book = await openBook(ctx.db, ctx.actor.orgId, ctx.now)
  const rows = book.months.flatMap(month =>
    monthRow(book, month, ctx.now).rows.map((row): CsvValue[] => [
      month.month,
      row.tenant.key,
      row.tenant.name,
      row.state,
      { decimal: row.total },
      { decimal: row.atMost },
      { decimal: row.unknown },
      row.currency,
      month.basis,
      row.closedAt,
      row.digest,
    ]),
  )
  return {
    columns: [
      'month',
      'tenant',
      'tenant_name',
      'state',
      'total',
      'unpriced_at_most',
      'cover_unknown',
      'currency',
      'basis',
      'closed_at_utc',
      'digest',
    ],
    rows,
  }
}
