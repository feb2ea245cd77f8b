/** Tags, rules and what has no tag as rows of files. */
import type { MemberActor } from '#core/actor.ts'
import type { CsvValue } from '#core/csv.ts'
import { ATTRIBUTION_CONDITIONS } from '#core/rules/shape.ts'
import type { FeatureContext } from '../context.ts'
import { daysOf } from '../usage/price-sheets.ts'
import { attributionInForce, unlistedShares, whyUnattributed } from './attribution.ts'

type Ctx = FeatureContext<MemberActor>
type Sheet = { columns: string[]; rows: CsvValue[][] }

export async function tagValuesSheet(ctx: Ctx): Promise<Sheet> {
  const { lists } = await attributionInForce(ctx)
  return {
    columns: ['key', 'value', 'listed', 'called_now', 'used'],
    rows: lists.flatMap(({ key, values, former }) =>
      [...values.map(one => ({ one, listed: 'yes' })), ...former.map(one => ({ one, listed: 'no' }))].map(
        ({ one, listed }): CsvValue[] => [key, one.value, listed, one.renamedTo ?? one.value, one.used ? 'yes' : 'no'],
      ),
    ),
  }
}

/** Rules in their order: of each key the first that holds decides. */
export async function attributionRulesSheet(ctx: Ctx): Promise<Sheet> {
  const { rules, lists } = await attributionInForce(ctx)
  const keys = lists.map(({ key }) => key)
  return {
    columns: [
      'place',
      ...ATTRIBUTION_CONDITIONS.map(condition => `when_${condition}`),
      ...keys.map(key => `set_${key}`),
    ],
    rows: rules.map(({ index, when, set }) => [
      index + 1,
      ...ATTRIBUTION_CONDITIONS.map(condition => when[condition] ?? null),
      ...keys.map(key => set[key] ?? null),
    ]),
  }
}

export async function unattributedSheet(ctx: Ctx, query: URLSearchParams): Promise<Sheet> {
  const key = query.get('key')?.slice(0, 40) || 'tenant'
  const { rows, zone } = await whyUnattributed(ctx, { key, ...daysOf(ctx, query, 1) })
  return {
    columns: [
      'without',
      'machine',
      'member',
      'client',
      'provider',
      'model',
      'calls',
      'amount_usd',
      'of_it_unpriced_at_most_usd',
      'share_percent',
      'first_day',
      'last_day',
      'zone',
    ],
    rows: rows.map(row => [
      key,
      row.machine?.label ?? 'others',
      row.member,
      row.client,
      row.provider,
      row.model,
      row.calls,
      row.cost,
      row.atMost,
      row.sharePct,
      row.first,
      row.last,
      zone,
    ]),
  }
}

export async function unlistedSheet(ctx: Ctx, query: URLSearchParams): Promise<Sheet> {
  const rows = await unlistedShares(ctx, daysOf(ctx, query, 1))
  return {
    columns: ['key', 'machine', 'member', 'amount_usd', 'share_percent'],
    rows: rows.map(row => [row.key, row.machine?.label ?? 'others', row.member, row.cost, row.sharePct]),
  }
}
