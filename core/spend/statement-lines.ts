import type { Basis } from '#core/budget/budget.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import { type AllocationRule, allocate, describeAllocation } from './allocate.ts'
import { attoIn, type ExchangeRates, minorUnit, picoParts } from './exchange.ts'
import type { SpendRow } from './group.ts'
import type { StatementLine } from './statement.ts'

/** A row with its day: what is converted is converted at that day's rate. */
export type DatedRow = SpendRow & { day: string }

/** What a statement counts, and in which currency. */
export type BilledAs = { basis: Basis; currency: string; rates: ExchangeRates }

type Sum = {
  line: Omit<StatementLine, 'pico'> & { calls: number; tokens: number }
  amounts: { day: string; picoUsd: bigint }[]
}

/**
 * A tenant's rows of a month as lines of its statement, by project, provider and model. On the basis `billed`, what a plan covers is
 * counted and costs nothing, and what nobody knows the cover of is a line that is not in the total. The lines add up to the
 * converted sum of the rows.
 * @throws AppError BAD_INPUT where a day has no exchange rate
 */
export function usageLines(rows: Iterable<DatedRow>, { basis, currency, rates }: BilledAs): StatementLine[] {
  const sums = new Map<string, Sum>()
  for (const row of rows) {
    const unknown = basis === 'billed' && row.covered === 'unknown'
    const kind = unknown ? 'unknown' : row.rate === 'fallback' ? 'bound' : 'usage'
    const { project } = row.tags
    const key = JSON.stringify([kind, project ?? null, row.provider ?? null, row.model ?? null])
    const sum = sums.get(key) ?? {
      line: {
        kind,
        ...(project === undefined ? {} : { project }),
        ...(row.provider === undefined ? {} : { provider: row.provider }),
        ...(row.model === undefined ? {} : { model: row.model }),
        calls: 0,
        tokens: 0,
      },
      amounts: [],
    }
    sums.set(key, sum)
    sum.line.calls += row.calls
    for (const axis of PRICE_AXES) if (axis !== 'webSearches') sum.line.tokens += row.tokens[axis]
    const free = basis === 'billed' && row.covered === 'plan'
    sum.amounts.push({ day: row.day, picoUsd: free ? 0n : row.picoUsd })
  }
  const list = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  const { parts } = picoParts(list.map(({ amounts }) => attoIn(rates, currency, amounts)))
  return list.map(({ line }, i) => ({ ...line, pico: parts[i]! }))
}

/** What a tenant spent itself, by which shared amounts are proportioned. */
export const ownAmount = (lines: readonly StatementLine[]): bigint =>
  lines.reduce((sum, { kind, pico }) => (kind === 'usage' ? sum + pico : sum), 0n)

/**
 * Rows that are nobody's own (`of`: `unattributed`, or the name of what is shared) as lines on the tenants' statements, spread by a
 * rule; what has no price and what nobody knows the cover of is spread apart, by the same rule. `left` is what stays with the
 * organisation. All lines together are the rows' own sum, and each that a tenant takes is whole units of the currency (cents), so that
 * it is the same figure wherever it stands.
 */
export function sharedLines(
  of: string,
  rows: Iterable<DatedRow>,
  rule: AllocationRule,
  own: ReadonlyMap<string, bigint>,
  as: BilledAs,
): { lines: Map<string, StatementLine[]>; left: StatementLine[] } {
  const sums = new Map<StatementLine['kind'], bigint>()
  for (const { kind, pico } of usageLines(rows, as)) sums.set(kind, (sums.get(kind) ?? 0n) + pico)
  const lines = new Map<string, StatementLine[]>()
  const left: StatementLine[] = []
  for (const [kind, sum] of sums) {
    const line = { kind: kind === 'usage' ? ('allocated' as const) : kind, of, rule: describeAllocation(rule) }
    const spread = allocate(sum, rule, own, minorUnit(as.currency))
    for (const [tenant, pico] of spread.parts) lines.set(tenant, [...(lines.get(tenant) ?? []), { ...line, pico }])
    if (spread.left !== 0n) left.push({ ...line, pico: spread.left })
  }
  return { lines, left }
}
