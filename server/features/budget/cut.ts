import { windowAt } from '#core/budget/window.ts'
import { utcDay } from '#core/day.ts'
import { formatDecimal } from '#core/decimal.ts'
import { hasRateSince } from '#core/spend/exchange.ts'
import type { Db, Tx } from '../../db.ts'
import { enqueue } from '../../jobs/queue.ts'
import { budgetsInForce, type InForce } from './in-force.ts'
import { tellSteps } from './tell.ts'
import { type Count, countBudget, countNow, peopleOf, spendOfWindow } from './use.ts'

type Cutting = { db: Db; now: Date; random: (bytes: number) => Uint8Array }

/** A count this old is made anew by whoever needs it; the job makes one each minute before that. */
export const CUT_STALE_MS = 90_000
/** An upload that is being written has its time from before; nothing is written for longer than this. */
const WRITING_MS = 5 * 60_000
/** Ended windows in which late usage is still looked for: a machine may have been away for weeks. */
const LATE_MS = 100 * 86_400_000

/** The key by which shares of a count are kept. */
export const shareKey = (budget: string, value: string): string => `${budget} ${value}`

/**
 * Counts an organisation's budgets in their windows and keeps the counts, as of one moment; in the same transaction it tells the
 * owners of steps that were reached. One at a time for each organisation: whoever waited for another finds a count made.
 * @param olderThan a count that is not older, and of the newest version, is left as it is
 */
export async function cutBudgets(ctx: Cutting, orgId: string, olderThan = 0): Promise<void> {
  await ctx.db.$transaction(async tx => {
    await tx.$executeRaw`
      insert into "BudgetCount" ("orgId", at, "ruleVersion") values (${orgId}, ${new Date(0)}, 0) on conflict ("orgId") do nothing`
    const [last] = await tx.$queryRaw<{ at: Date; ruleVersion: number }[]>`
      select at, "ruleVersion" from "BudgetCount" where "orgId" = ${orgId} for update`
    const inForce = await budgetsInForce(tx, orgId)
    const age = ctx.now.getTime() - last!.at.getTime()
    if (last!.ruleVersion === inForce.version && (age < 0 || age < olderThan)) return
    if (inForce.budgets.length === 0) {
      // Nothing to count any more; what was told stays.
      await tx.budgetShare.deleteMany({ where: { orgId } })
      await tx.budgetCount.delete({ where: { orgId } })
      return
    }
    // Before the sums: an upload between the two is in the sums and not yet in its number, never the other way round.
    const seqs = await tx.machine.findMany({ where: { orgId }, select: { id: true, usageSeq: true } })
    const { counts } = await countNow(tx, orgId, inForce, ctx.now)
    const late = await countLate(tx, orgId, inForce, { since: last!.at, now: ctx.now })
    await keepCounts(tx, orgId, ctx.now, [...counts, ...late])
    await keepShares(tx, orgId, counts, new Map(seqs.map(({ id, usageSeq }) => [id, usageSeq])))
    await tx.budgetCount.update({ where: { orgId }, data: { at: ctx.now, ruleVersion: inForce.version } })
    await tellSteps(tx, ctx, orgId, [...late, ...counts])
  })
}

/** Ended windows that usage came late for since the last count: each is counted once more. */
async function countLate(
  tx: Tx,
  orgId: string,
  { budgets, exchange }: Pick<InForce, 'budgets' | 'exchange'>,
  { since, now }: { since: Date; now: Date },
): Promise<Count[]> {
  const [late] = await tx.$queryRaw<{ first: Date | null }[]>`
    select min(day) as first from "UsageDay" where "orgId" = ${orgId} and "receivedAt" > ${new Date(since.getTime() - WRITING_MS)}`
  if (!late?.first) return []
  const after = new Date(Math.max(late.first.getTime(), now.getTime() - LATE_MS))
  const windows = await tx.budgetCut.findMany({
    where: { orgId, windowEnd: { gt: after, lte: now } },
    select: { budget: true, value: true, windowId: true, windowEnd: true },
  })
  const people = await peopleOf(tx, orgId)
  const counts: Count[] = []
  for (const budget of budgets) {
    const own = windows.filter(row => row.budget === budget.name)
    for (const end of new Set(own.map(({ windowEnd }) => windowEnd.getTime()))) {
      const window = windowAt(budget.window, budget.zone, end - 1)
      const kept = own.filter(row => row.windowEnd.getTime() === end && row.windowId === window.id)
      // Of another window or zone than the budget has now: nobody asks for it any more.
      if (kept.length === 0 || window.end !== end) continue
      // From before the first rate of the currency that the budget has now: it was counted in another one.
      if (!hasRateSince(exchange, budget.currency, utcDay(window.start))) continue
      const spend = await spendOfWindow(tx, orgId, budget, exchange, window)
      counts.push(
        ...countBudget(
          budget,
          window,
          kept.map(({ value }) => value),
          spend,
          people,
        ),
      )
    }
  }
  return counts
}

async function keepCounts(tx: Tx, orgId: string, at: Date, counts: readonly Count[]): Promise<void> {
  const rows = counts.map(({ budget, value, window, used }) => ({
    budget: budget.name,
    value,
    windowId: window.id,
    windowStart: new Date(window.start),
    windowEnd: new Date(window.end),
    used: formatDecimal(used),
  }))
  await tx.$executeRaw`
    insert into "BudgetCut" ("orgId", budget, value, "windowId", "windowStart", "windowEnd", at, used)
    select ${orgId}, r.budget, r.value, r."windowId", r."windowStart", r."windowEnd", ${at}::timestamptz, r.used
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(budget text, value text, "windowId" text, "windowStart" timestamptz, "windowEnd" timestamptz, used numeric)
    on conflict ("orgId", budget, value, "windowId") do update
      set "windowStart" = excluded."windowStart", "windowEnd" = excluded."windowEnd", at = excluded.at, used = excluded.used`
}

async function keepShares(
  tx: Tx,
  orgId: string,
  counts: readonly Count[],
  seqs: ReadonlyMap<string, number>,
): Promise<void> {
  const shares = new Map<string, Record<string, string>>()
  for (const { budget, value, byMachine } of counts)
    for (const [machineId, used] of byMachine) {
      const own = shares.get(machineId) ?? {}
      own[shareKey(budget.name, value)] = formatDecimal(used)
      shares.set(machineId, own)
    }
  const rows = [...shares].map(([machineId, own]) => ({ machineId, seq: seqs.get(machineId) ?? 0, shares: own }))
  await tx.$executeRaw`
    with n as (select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r("machineId" text, seq int, shares jsonb)), gone as (
      delete from "BudgetShare" s where s."orgId" = ${orgId} and not exists (select from n where n."machineId" = s."machineId"))
    insert into "BudgetShare" ("orgId", "machineId", seq, shares) select ${orgId}, n."machineId", n.seq, n.shares from n
    on conflict ("orgId", "machineId") do update set seq = excluded.seq, shares = excluded.shares
    where ("BudgetShare".seq, "BudgetShare".shares) is distinct from (excluded.seq, excluded.shares)`
}

/** Organisations whose budgets are counted each minute. */
export const countedOrganisations = async (db: Db): Promise<string[]> =>
  (await db.budgetCount.findMany({ select: { orgId: true }, orderBy: { at: 'asc' } })).map(({ orgId }) => orgId)

/** Longer than any window and any lateness: by then nothing is decided by it any more. */
const KEPT_MS = 500 * 86_400_000

/** Forgets counts and reservations of long ago. Steps that were told stay. */
export async function sweepBudgets(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS)
  await db.budgetCut.deleteMany({ where: { windowEnd: { lt: before } } })
  await db.budgetStop.deleteMany({ where: { windowEnd: { lt: before } } })
  await db.reservation.deleteMany({ where: { createdAt: { lt: before }, leaseUntil: { lt: before } } })
}

/** Begins the counting of an organisation, in the transaction that publishes a version; the first count without budgets ends it. */
export async function followBudgets(tx: Tx, orgId: string, budgets: number): Promise<void> {
  if (budgets === 0) return
  await tx.$executeRaw`
    insert into "BudgetCount" ("orgId", at, "ruleVersion") values (${orgId}, ${new Date(0)}, 0) on conflict ("orgId") do nothing`
  await enqueue(tx, 'budget.cut', { org: orgId }, { key: `budget.cut:${orgId}` })
}
