import type { MachineActor } from '#core/actor.ts'
import type { Budget } from '#core/budget/budget.ts'
import type { FleetBudget, FleetBudgets } from '#core/budget/fleet.ts'
import { windowAt } from '#core/budget/window.ts'
import { utcDay } from '#core/day.ts'
import { AppError } from '#core/error.ts'
import { type ExchangeRate, ratesSince } from '#core/spend/exchange.ts'
import type { Tx } from '../../db.ts'
import { sign } from '../../keys/sign.ts'
import type { FeatureContext } from '../context.ts'
import { demandRate } from '../rate.ts'
import { shortest } from '../usage/price-day.ts'
import { CUT_STALE_MS, cutBudgets, shareKey } from './cut.ts'
import { budgetsInForce, type InForce } from './in-force.ts'

type Ctx = FeatureContext<MachineActor>
type Self = { id: string; label: string; memberId: string }

/**
 * The organisation's budgets for one machine, signed: the fleet's use at the last count, and what of it is the machine's own.
 * Shares of other members and machines are not in it. A count that is missing, old, of another version or of a window that
 * ended is made first: what cannot be counted is an error, never nothing used.
 */
export async function budgetsFor(ctx: Ctx): Promise<string> {
  const { orgId, machineId } = ctx.actor
  await demandRate(ctx, 'budgetsByMachine', machineId)
  const inForce = await budgetsInForce(ctx.db, orgId)
  const self = await ctx.db.machine.findUniqueOrThrow({
    where: { id: machineId },
    select: { id: true, label: true, memberId: true },
  })
  let counted = await readCount(ctx, inForce, self)
  if (typeof counted === 'string') {
    // Of many that find an old count at once, one makes the new one.
    await cutBudgets(ctx, orgId, counted === 'old' ? HERD_MS : 0)
    counted = await readCount(ctx, await budgetsInForce(ctx.db, orgId), self)
  }
  if (typeof counted === 'string')
    throw new AppError('UNAVAILABLE', 'The budgets cannot be counted right now.', { remedy: 'Ask again.' })
  const at = ctx.now.toISOString()
  const answer: FleetBudgets = { v: 1, org: orgId, machine: machineId, at, ...counted }
  return sign(ctx.db, orgId, 'fresh', 'holdpoint-budgets+jws', answer)
}

/** A count made this short a time ago, while one waited for it, is the one that was waited for. */
const HERD_MS = 2000

/** What the last count says; else why it cannot be told: it is old or of another version, or figures are missing. */
function readCount(
  { db, actor: { orgId, machineId }, now }: Ctx,
  inForce: InForce,
  self: Self,
): Promise<Pick<FleetBudgets, 'cut' | 'budgets' | 'exchange'> | 'old' | 'missing'> {
  if (inForce.budgets.length === 0) return Promise.resolve({ cut: now.toISOString(), budgets: [] })
  return db.$transaction(async tx => {
    // Held, so that rows of one count are read and not of two.
    const [last] = await tx.$queryRaw<{ at: Date; ruleVersion: number }[]>`
      select at, "ruleVersion" from "BudgetCount" where "orgId" = ${orgId} for share`
    if (last?.ruleVersion !== inForce.version || now.getTime() - last.at.getTime() >= CUT_STALE_MS) return 'old'
    const share = await tx.budgetShare.findUnique({ where: { orgId_machineId: { orgId, machineId } } })
    const budgets: FleetBudget[] = []
    for (const budget of inForce.budgets) {
      const rows = await rowsOf(tx, orgId, budget, now)
      if (rows === undefined) return 'missing'
      for (const row of rows) {
        if (!concerns(budget, row.value, self)) continue
        budgets.push({
          name: budget.name,
          ...(budget.for ? { of: { key: budget.for.key, value: row.value || budget.for.value } } : {}),
          amount: budget.amount,
          currency: budget.currency,
          basis: budget.basis,
          windowStart: row.windowStart.toISOString(),
          windowEnd: row.windowEnd.toISOString(),
          zone: budget.zone,
          used: shortest(row.used),
          own: (share?.shares as Record<string, string> | undefined)?.[shareKey(budget.name, row.value)] ?? '0',
          ownSeq: share?.seq ?? 0,
        })
      }
    }
    const exchange = ratesOf(inForce, now)
    return { cut: last.at.toISOString(), budgets, ...(exchange.length === 0 ? {} : { exchange }) }
  })
}

/** The rates by which budgets of other currencies are counted in their windows of now. */
function ratesOf({ budgets, exchange }: InForce, now: Date): ExchangeRate[] {
  const since = new Map<string, number>()
  for (const { currency, window, zone } of budgets) {
    if (currency === 'USD') continue
    const { start } = windowAt(window, zone, now.getTime())
    since.set(currency, Math.min(start, since.get(currency) ?? start))
  }
  return [...since].flatMap(([currency, start]) => ratesSince(exchange, currency, utcDay(start)))
}

type Row = { value: string; windowStart: Date; windowEnd: Date; used: string; at: Date }

/** A budget's counts in the window of now; undefined when the window was not counted yet, or moved on since. */
async function rowsOf(tx: Tx, orgId: string, budget: Budget, now: Date): Promise<Row[] | undefined> {
  const window = windowAt(budget.window, budget.zone, now.getTime())
  const rows = await tx.$queryRaw<Row[]>`
    select value, "windowStart", "windowEnd", used::text, at from "BudgetCut"
    where "orgId" = ${orgId} and budget = ${budget.name} and "windowId" = ${window.id} order by value`
  const current = rows.filter(row => row.windowEnd.getTime() === window.end)
  return current.length === 0 && budget.for?.value !== '*' ? undefined : current
}

/** Figures of a person are for that person: shares of other machines and members stay here. */
function concerns({ for: whom }: Budget, value: string, self: Self): boolean {
  const whose = value || whom?.value
  if (whom?.key === 'member') return whose === self.memberId
  return whom?.key === 'machine' ? whose === self.id || whose === self.label : true
}
