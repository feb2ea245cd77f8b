/** A month of an organisation's usage as lines of its tenants' statements: each row is in exactly one place. */
import type { AllocationRule } from './allocate.ts'
import type { StatementLine } from './statement.ts'
import { type BilledAs, type DatedRow, ownAmount, sharedLines, usageLines } from './statement-lines.ts'

/** By which rule is spread what carries one tag's value; with an empty key and value: what carries no tenant. */
export type SharedRule = { key: string; value: string; rule: AllocationRule }

/** What is shared, as lines name it: `unattributed`, `team platform`. */
export const sharedName = ({ key, value }: Pick<SharedRule, 'key' | 'value'>): string =>
  key === '' ? 'unattributed' : `${key} ${value}`

/** Rules in the one order in which they are tried: by key, then by value. */
export const inOrder = <R extends Pick<SharedRule, 'key' | 'value'>>(rules: readonly R[]): R[] =>
  [...rules].sort((a, b) => (a.key === b.key ? (a.value < b.value ? -1 : 1) : a.key < b.key ? -1 : 1))

/** One shared amount: what each tenant takes of it, and what stays with the organisation. */
export type Shared = { of: string; rule: AllocationRule; parts: Map<string, StatementLine[]>; left: StatementLine[] }

export type MonthDrawn = {
  /** By tenant: its own usage. */
  own: Map<string, StatementLine[]>
  /** `unattributed` always, though it be nothing, as the last. */
  shared: Shared[]
}

/**
 * Divides a month. A row that fits several rules goes by the first of them (see {@link inOrder}), whatever its tenant; every other
 * row is its tenant's own; the rest is unattributed and stays, unless a rule says who bears it. All lines add up to the rows.
 * @param tenants keys of those who take part in what is shared; others pay for their own usage alone
 * @throws AppError BAD_INPUT where a day has no exchange rate, or shares are none
 */
export function drawMonth(
  rows: Iterable<DatedRow>,
  { tenants, rules }: { tenants: readonly string[]; rules: readonly SharedRule[] },
  as: BilledAs,
): MonthDrawn {
  const tagged = inOrder(rules.filter(({ key }) => key !== ''))
  const untagged = rules.find(({ key }) => key === '')?.rule ?? { kind: 'none' as const }
  const byTenant = new Map<string, DatedRow[]>()
  const nobodys: DatedRow[] = []
  const byRule = new Map<SharedRule, DatedRow[]>(tagged.map(rule => [rule, []]))
  for (const row of rows) {
    const rule = tagged.find(({ key, value }) => row.tags[key] === value)
    const { tenant } = row.tags
    if (rule) byRule.get(rule)!.push(row)
    else if (tenant === undefined) nobodys.push(row)
    else {
      const list = byTenant.get(tenant)
      if (list) list.push(row)
      else byTenant.set(tenant, [row])
    }
  }
  const own = new Map(
    [...byTenant].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, list]) => [key, usageLines(list, as)]),
  )
  const amountsBy = (lines: (key: string) => StatementLine[]) =>
    new Map(tenants.map(key => [key, ownAmount(lines(key))]))
  const counted = amountsBy(key => own.get(key) ?? [])
  const atList = rules.some(({ rule }) => rule.kind === 'equivalent')
    ? amountsBy(key => usageLines(byTenant.get(key) ?? [], { ...as, basis: 'equivalent' }))
    : counted
  const spread = (of: string, list: DatedRow[], rule: AllocationRule): Shared => {
    const { lines, left } = sharedLines(of, list, rule, rule.kind === 'equivalent' ? atList : counted, as)
    return { of, rule, parts: lines, left }
  }
  return {
    own,
    shared: [
      ...tagged.map(rule => spread(sharedName(rule), byRule.get(rule)!, rule.rule)),
      spread('unattributed', nobodys, untagged),
    ],
  }
}

/** Everything that one tenant bears of a month. */
export const linesOf = ({ own, shared }: MonthDrawn, tenant: string): StatementLine[] => [
  ...(own.get(tenant) ?? []),
  ...shared.flatMap(({ parts }) => parts.get(tenant) ?? []),
]
