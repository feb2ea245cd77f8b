import type { Basis, Budget } from '#core/budget/budget.ts'
import type { Use } from '#core/budget/use.ts'
import { type Window, windowAt } from '#core/budget/window.ts'
import { parseDecimal } from '#core/decimal.ts'
import { type ExchangeRates, picoOf, picoParts } from '#core/spend/exchange.ts'
import type { Tx } from '../../db.ts'
import type { InForce } from './in-force.ts'
import { type CurrencySpend, type SeriesSpend, spendIn } from './ledger.ts'

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

/** Whether what a budget has used is what single persons spent. */
export const isOfPersons = ({ for: whom }: Pick<Budget, 'for'>): boolean =>
  whom?.key === 'member' || whom?.key === 'machine'

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

/** What counts towards one value of a budget, in 10^-18 of its currency. */
type Sums = { used: bigint; bound: bigint; unknown: bigint; byMachine: Map<string, bigint> }

/** Sums spend for one budget, apart for each value; exact. */
export function sumBudget(
  budget: Budget,
  values: readonly string[],
  spend: readonly CurrencySpend[],
  people: People,
): Map<string, Sums> {
  const labels = new Map(people.machines.map(({ id, label }) => [id, label]))
  const none = (): Sums => ({ used: 0n, bound: 0n, unknown: 0n, byMachine: new Map() })
  const sums = new Map<string, Sums>(values.map(value => [value, none()]))
  for (const one of spend) {
    const value = shareOf(budget, one, id => labels.get(id))
    if (value === undefined) continue
    const sum = sums.get(value) ?? none()
    sums.set(value, sum)
    if (!countsIn(budget.basis, one.covered)) {
      if (one.covered === 'unknown') sum.unknown += one.atto
      continue
    }
    sum.used += one.atto
    if (one.rate === 'fallback') sum.bound += one.atto
    sum.byMachine.set(one.machineId, (sum.byMachine.get(one.machineId) ?? 0n) + one.atto)
  }
  return sums
}

/** Counts one span of spend for one budget, apart for each value: summed first, and rounded once to 10^-12. */
export function countBudget(
  budget: Budget,
  window: Window,
  values: readonly string[],
  spend: readonly CurrencySpend[],
  people: People,
): Count[] {
  const limit = parseDecimal(budget.amount)!
  return [...sumBudget(budget, values, spend, people)].map(([value, sum]) => {
    const { parts, total } = picoParts([...sum.byMachine.values()])
    return {
      budget,
      value,
      window,
      limit,
      used: total,
      bound: picoOf(sum.bound),
      unknown: picoOf(sum.unknown),
      byMachine: new Map([...sum.byMachine.keys()].map((id, i) => [id, parts[i]!])),
    }
  })
}

/** The spend of a budget's window, in its currency. */
export const spendOfWindow = (
  tx: Tx,
  orgId: string,
  { currency }: Pick<Budget, 'currency'>,
  exchange: ExchangeRates,
  { start, end }: Pick<Window, 'start' | 'end'>,
): Promise<CurrencySpend[]> => spendIn(tx, orgId, { currency, exchange }, [start, end])

/** The use of budgets in the windows that a moment lies in, from the ledger as it stands. */
export async function countNow(
  tx: Tx,
  orgId: string,
  { budgets, tags, exchange }: Pick<InForce, 'budgets' | 'tags' | 'exchange'>,
  now: Date,
): Promise<{ counts: Count[]; people: People }> {
  const people = await peopleOf(tx, orgId)
  const spans = new Map<string, CurrencySpend[]>()
  const counts: Count[] = []
  for (const budget of budgets) {
    const window = windowAt(budget.window, budget.zone, now.getTime())
    const key = `${window.start} ${window.end} ${budget.currency}`
    const spend = spans.get(key) ?? (await spendOfWindow(tx, orgId, budget, exchange, window))
    spans.set(key, spend)
    counts.push(...countBudget(budget, window, valuesOf(budget, tags, people), spend, people))
  }
  return { counts, people }
}
