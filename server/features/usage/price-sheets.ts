/** Prices, and what has none, as rows of files. */

import type { MemberActor } from '#core/actor.ts'
import type { CsvValue } from '#core/csv.ts'
import { DAY_MS, utcDay } from '#core/day.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import { PRICE_KEYS } from '#core/rules/read-rates.ts'
import type { FeatureContext } from '../context.ts'
import { allPrices, ownPrices } from './rate-card.ts'
import { previewReprice } from './reprice-preview.ts'
import { unpricedModels } from './unpriced.ts'

type Ctx = FeatureContext<MemberActor>
type Sheet = { columns: string[]; rows: CsvValue[][] }

const PRICES = Object.entries(PRICE_KEYS)
const AXIS_COLUMNS = PRICE_AXES.map(axis => PRICES.find(([, of]) => of === axis)![0])
const priced = (column: string) => (column === 'web_search' ? `${column}_usd_each` : `${column}_usd_per_million`)

/** Every dated price in force, each with the days it holds. */
export async function rateCardSheet(ctx: Ctx): Promise<Sheet> {
  const models = await allPrices(ctx)
  return {
    columns: [
      'provider',
      'model',
      'other_names',
      'whose',
      'from_utc',
      'until_utc',
      'holds_today',
      ...AXIS_COLUMNS.map(priced),
      'large_above_tokens',
      ...AXIS_COLUMNS.map(column => `large_${priced(column)}`),
    ],
    rows: models.flatMap(({ provider, id, aliases, entries }) =>
      entries.map(({ whose, from, until, now, prices, long }): CsvValue[] => [
        provider,
        id,
        aliases.join(' '),
        whose === 'override' ? 'organisation' : 'card',
        from,
        until,
        now ? 'yes' : 'no',
        ...PRICE_AXES.map(axis => prices[axis]),
        long?.above ?? null,
        ...PRICE_AXES.map(axis => long?.prices[axis] ?? null),
      ]),
    ),
  }
}

/** The organisation's own prices as they are written. */
export async function ownPricesSheet(ctx: Ctx): Promise<Sheet> {
  const { overrides } = await ownPrices(ctx)
  return {
    columns: ['model', 'provider', 'from_utc', 'until_utc', ...AXIS_COLUMNS.map(priced), 'other_names'],
    rows: overrides.map(({ was }) => [
      textOf(was.model),
      textOf(was.provider),
      textOf(was.from),
      textOf(was.until),
      ...AXIS_COLUMNS.map(column => textOf(was[column])),
      Array.isArray(was.aliases) ? was.aliases.join(' ') : null,
    ]),
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Models without a price in some days of the organisation's zone; the last 366 where none are asked for. */
export async function unpricedSheet(ctx: Ctx, query: URLSearchParams): Promise<Sheet> {
  const { from, to } = daysOf(ctx, query, 1)
  const { models, zone } = await unpricedModels(ctx, { from, to })
  return {
    columns: [
      'model',
      'provider',
      'counted_as',
      'amount_usd',
      'bound_set_by',
      'did_you_mean',
      'has_a_price_now',
      'calls',
      ...PRICE_AXES.map(axis => (axis === 'webSearches' ? 'web_searches' : `${columnOf(axis)}_tokens`)),
      'machines',
      'first_day',
      'last_day',
      'zone',
    ],
    rows: models.map(one => [
      one.model,
      one.provider,
      { fallback: 'bound', zero: 'nothing', substitute: 'another model' }[one.rate],
      one.cost,
      one.setBy.join(' '),
      one.didYouMean,
      one.hasPrice,
      one.calls,
      ...PRICE_AXES.map(axis => one.tokens[axis]),
      one.machines,
      one.first,
      one.last,
      zone,
    ]),
  }
}

const columnOf = (axis: string): string => PRICES.find(([, of]) => of === axis)![0]

/** What pricing anew would change between UTC days, both included. */
export async function repriceSheet(ctx: Ctx, query: URLSearchParams): Promise<Sheet> {
  const { version, rows } = await previewReprice(ctx, daysOf(ctx, query, 0))
  return {
    columns: [
      'month',
      'month_closed',
      'model',
      'provider',
      'calls',
      'now_usd',
      'now_unpriced_at_most_usd',
      'then_usd',
      'then_unpriced_at_most_usd',
      'rules_version',
    ],
    rows: rows.map(row => [
      row.month,
      row.closed ? 'yes' : 'no',
      row.model,
      row.provider,
      row.calls,
      row.old.priced,
      row.old.atMost,
      row.new.priced,
      row.new.atMost,
      version,
    ]),
  }
}

/** `from` and `to` of an address; a year until today, or so many days further, where they are not given. */
export function daysOf(ctx: Pick<Ctx, 'now'>, query: URLSearchParams, ahead: number): { from: string; to: string } {
  const to = query.get('to')?.slice(0, 20) || utcDay(ctx.now.getTime() + ahead * DAY_MS)
  return { from: query.get('from')?.slice(0, 20) || utcDay(ctx.now.getTime() - 365 * DAY_MS), to }
}
