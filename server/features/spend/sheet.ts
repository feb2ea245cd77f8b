import type { MemberActor, TokenActor } from '#core/actor.ts'
import { BASES, type Basis } from '#core/budget/budget.ts'
import type { CsvValue } from '#core/csv.ts'
import { AppError } from '#core/error.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import type { FeatureContext } from '../context.ts'
import { STEPS, type Step } from './period.ts'
import { type ReportAsked, spendReport, type TotalShown } from './report.ts'

const FILTERS_MAX = 200
const COVERED = ['plan', 'metered', 'unknown'] as const
/** The page's columns. Amounts are exact, of the currency in their names; the unpriced ones are bounds and part of no other column. */
export const spendColumns = (currency: string): readonly string[] => [
  'step_start',
  'zone',
  'by',
  'value',
  'name',
  'calls',
  'calls_broken_off',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'web_searches',
  ...COVERED.map(covered => `priced_${covered}_${currency.toLowerCase()}`),
  ...COVERED.map(covered => `unpriced_at_most_${covered}_${currency.toLowerCase()}`),
]

/** The report as a sheet; with steps a row for each step and value. They add up to the page's total. */
export async function spendSheet(
  ctx: FeatureContext<MemberActor | TokenActor>,
  asked: ReportAsked,
): Promise<{ columns: readonly string[]; rows: CsvValue[][] }> {
  const { rows, steps, zone, by, currency } = await spendReport(ctx, asked)
  const labels = new Map(rows.map(({ value, label }) => [value, label]))
  const line = (start: string, value: string | null, total: TotalShown): CsvValue[] => [
    start,
    zone,
    by,
    value ?? '',
    labels.get(value) ?? 'unattributed',
    total.calls,
    total.partial,
    ...PRICE_AXES.map(axis => total.tokens[axis]),
    ...COVERED.map(covered => total.priced[covered]),
    ...COVERED.map(covered => total.bound[covered]),
  ]
  const lines =
    asked.step === undefined
      ? rows.map(({ value, total }) => line(asked.from, value, total))
      : steps.flatMap(({ start, values }) => values.map(({ value, total }) => line(start, value, total)))
  return { columns: spendColumns(currency), rows: lines }
}

/** What is asked for in an address. @throws AppError BAD_INPUT for a step, basis or filter that is none */
export function readSpendQuery(query: URLSearchParams): ReportAsked {
  const text = (name: string) => query.get(name)?.slice(0, 64) || undefined
  const listed = <T extends string>(name: string, words: readonly T[]): T | undefined => {
    const word = text(name)
    if (word !== undefined && !(words as readonly string[]).includes(word))
      throw new AppError('BAD_INPUT', `${name} is none of ${words.join(', ')}.`)
    return word as T | undefined
  }
  // any name may stand there, those of every object's own members too
  const filter: Record<string, (string | null)[]> = Object.create(null)
  const pairs = query.getAll('filter')
  // none is left out: with less of them more would be read
  if (pairs.length > FILTERS_MAX) throw new AppError('BAD_INPUT', `There are more than ${FILTERS_MAX} filters.`)
  for (const pair of pairs) {
    // `tag:team:platform`, and a model's id may hold colons itself.
    const at = pair.indexOf(':', pair.startsWith('tag:') ? 4 : 0)
    if (at < 1) throw new AppError('BAD_INPUT', 'A filter is <dimension>:<value>.')
    // Nothing after the colon: what has no value.
    const [dimension, value] = [pair.slice(0, at), pair.slice(at + 1) || null]
    filter[dimension] = [...(filter[dimension] ?? []), value]
  }
  return {
    from: text('from') ?? '2000-01-01',
    to: text('to') ?? '2100-01-01',
    by: text('by') ?? 'tenant',
    basis: listed<Basis>('basis', BASES),
    step: listed<Step>('step', STEPS),
    filter,
  }
}
