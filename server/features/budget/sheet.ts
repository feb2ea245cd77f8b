import type { MemberActor } from '#core/actor.ts'
import { windowAt } from '#core/budget/window.ts'
import { type FeatureContext, notFound } from '../context.ts'
import { budgetsInForce } from './in-force.ts'
import { listBudgets, stoppedIn } from './read.ts'

type Ctx = FeatureContext<MemberActor>

/** The budgets in force as a file: a line for each share that the reader may see, amounts exact, in the budget's currency. */
export async function budgetsSheet(ctx: Ctx) {
  const { budgets } = await listBudgets(ctx)
  return {
    columns: [
      'budget',
      'for',
      'value',
      'label',
      'window',
      'time_zone',
      'starts_at_utc',
      'ends_at_utc',
      'basis',
      'currency',
      'amount',
      'used',
      'used_pct',
      'of_it_unpriced_at_most',
      'cover_unknown',
      'reserved',
      'expected_at_end',
    ],
    rows: budgets.flatMap(budget =>
      budget.shares.map(share => [
        budget.name,
        budget.for?.key ?? 'organisation',
        share.value,
        share.label,
        budget.window,
        budget.zone,
        budget.start,
        budget.end,
        budget.basis,
        budget.currency,
        budget.amount,
        share.used,
        share.usedPct,
        share.bound,
        share.unknown,
        share.reserved,
        share.forecast.state === 'forecast' ? share.forecast.expected : null,
      ]),
    ),
  }
}

/**
 * Whom budgets have stopped in their present windows, of those whose figures the reader sees; of one budget where the query names it.
 * @throws AppError NOT_FOUND for a budget that is not in force
 */
export async function stoppedSheet(ctx: Ctx, query: URLSearchParams) {
  const name = query.get('name')
  const { budgets } = await budgetsInForce(ctx.db, ctx.actor.orgId)
  const asked = name === null ? budgets : budgets.filter(budget => budget.name === name)
  if (name !== null && asked.length === 0) throw notFound('budget')
  const stopped = await Promise.all(
    asked.map(async budget => ({
      budget: budget.name,
      ...(await stoppedIn(ctx, budget.name, windowAt(budget.window, budget.zone, ctx.now.getTime()))),
    })),
  )
  return {
    columns: ['budget', 'member', 'first_at_utc', 'client', 'did', 'rule', 'used_pct'],
    rows: stopped.flatMap(({ budget, people }) =>
      people.map(one => [budget, one.name, one.at, one.client, one.did, one.rule, one.usedPct]),
    ),
  }
}
