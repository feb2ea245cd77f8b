import type { Basis, Budget } from '#core/budget/budget.ts'
import type { Use } from '#core/budget/use.ts'
import { type Window, windowAt } from '#core/budget/window.ts'
import { parseDecimal } from '#core/decimal.ts'
import type { Tx } from '../../db.ts'
import { type SeriesSpend, spendBetween } from './ledger.ts'

/** What counts towards one budget, or one value's share of it. Parts of `used` are told, never added to it. */
export type Count = Use & {
  budget: Budget
  /** Empty for a budget that has one. */
  value: string
  window: Window
  /** What of `used` is priced at a bound, because its model has no price. */
  bound: bigint
  /** Of budgets of what is billed: usage that nobody knows to be billed or covered. Not in `used`. */
  unknown: bigint
  byMachine: ReadonlyMap<string, bigint>
}

/** Whom budgets per machine and per member are for. */
export type People = {
  machines: readonly { id: string; label: string; memberId: string; ended: boolean }[]
  members: readonly string[]
}

/** Everybody a budget may be for; machines and members that ended are there while their usage counts. */
export async function peopleOf(tx: Tx, orgId: string): Promise<People> {
  const machines = await tx.$queryRaw<People['machines']>`
    select id, label, "memberId", ("leftAt" is not null or "revokedAt" is not null) as ended from "Machine" where "orgId" = ${orgId}`
  const members = await tx.member.findMany({ where: { orgId, removedAt: null }, select: { id: true } })
  return { machines, members: members.map(({ id }) => id) }
}

/** Whether usage counts at all in a basis: what is billed is what is known to be metered. */
export const countsIn = (basis: Basis, covered: SeriesSpend['covered']): boolean =>
  basis === 'equivalent' || covered === 'metered'

/** To which value of a budget usage belongs; undefined: to none. */
export function shareOf(
  { for: whom }: Pick<Budget, 'for'>,
  { machineId, memberId, tags }: Pick<SeriesSpend, 'machineId' | 'memberId' | 'tags'>,
  labelOf: (machineId: string) => string | undefined,
): string | undefined {
  if (whom === undefined) return ''
  const values =
    whom.key === 'machine' ? [machineId, labelOf(machineId)] : whom.key === 'member' ? [memberId] : [tags[whom.key]]
  if (whom.value === '*') return values[0]
  return values.includes(whom.value) ? '' : undefined
}

/** Whose figures a share is made of; undefined for one that is not of persons. Of machines of one label it may be several. */
export function personsIn(
  { for: whom }: Pick<Budget, 'for'>,
  value: string,
  machines: readonly Pick<People['machines'][number], 'id' | 'label' | 'memberId'>[],
): string[] | undefined {
  const named = value || whom?.value
  if (whom?.key === 'member') return [named!]
  if (whom?.key !== 'machine') return undefined
  return machines.filter(({ id, label }) => id === named || label === named).map(({ memberId }) => memberId)
}

/** The values that a budget has an amount for whether or not anybody spent of it. */
export function valuesOf({ for: whom }: Budget, tags: Readonly<Record<string, readonly string[]>>, people: People) {
  if (whom?.value !== '*') return ['']
  if (whom.key === 'machine') return people.machines.flatMap(({ id, ended }) => (ended ? [] : [id]))
  return whom.key === 'member' ? people.members : (tags[whom.key] ?? [])
}

/** Sums one span of spend for one budget, apart for each value. */
export function countBudget(
  budget: Budget,
  window: Window,
  values: readonly string[],
  spend: readonly SeriesSpend[],
  people: People,
): Count[] {
  const labels = new Map(people.machines.map(({ id, label }) => [id, label]))
  const limit = parseDecimal(budget.amount)!
  type Sums = { used: bigint; bound: bigint; unknown: bigint; byMachine: Map<string, bigint> }
  const none = (): Sums => ({ used: 0n, bound: 0n, unknown: 0n, byMachine: new Map() })
  const sums = new Map<string, Sums>(values.map(value => [value, none()]))
  for (const one of spend) {
    const value = shareOf(budget, one, id => labels.get(id))
    if (value === undefined) continue
    const sum = sums.get(value) ?? none()
    sums.set(value, sum)
    if (!countsIn(budget.basis, one.covered)) {
      if (one.covered === 'unknown') sum.unknown += one.cost
      continue
    }
    sum.used += one.cost
    if (one.rate === 'fallback') sum.bound += one.cost
    sum.byMachine.set(one.machineId, (sum.byMachine.get(one.machineId) ?? 0n) + one.cost)
  }
  return [...sums].map(([value, sum]) => ({ budget, value, window, limit, ...sum }))
}

/** The use of budgets in the windows that a moment lies in, from the ledger as it stands. */
export async function countNow(
  tx: Tx,
  orgId: string,
  budgets: readonly Budget[],
  tags: Readonly<Record<string, readonly string[]>>,
  now: Date,
): Promise<{ counts: Count[]; people: People }> {
  const people = await peopleOf(tx, orgId)
  const spans = new Map<string, SeriesSpend[]>()
  const counts: Count[] = []
  for (const budget of budgets) {
    const window = windowAt(budget.window, budget.zone, now.getTime())
    const key = `${window.start} ${window.end} ${budget.zone}`
    let spend = spans.get(key)
    if (spend === undefined) {
      spend = await spendBetween(tx, orgId, budget.zone, [window.start, window.end])
      spans.set(key, spend)
    }
    counts.push(...countBudget(budget, window, valuesOf(budget, tags, people), spend, people))
  }
  return { counts, people }
}
