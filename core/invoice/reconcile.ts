/** A provider's invoice beside our own reckoning, and what to do with the difference. */
import { AppError } from '#core/error.ts'
import { type Allocated, type AllocationRule, allocate, describeAllocation } from '#core/spend/allocate.ts'
import { minorUnit } from '#core/spend/exchange.ts'
import type { StatementLine } from '#core/spend/statement.ts'
import type { InvoiceLine } from './line.ts'

/** What we reckon for a UTC day and a model, in the invoice's currency; what is of no model (searches) has none. */
export type OwnAmount = { day: string; model?: string; pico: bigint }

/** A row of the comparison: `difference` is theirs less ours. A column that the invoice does not have is absent in every row. */
export type ReconciledRow = { day?: string; model?: string; ours: bigint; theirs: bigint; difference: bigint }
export type Reconciliation = {
  /** What both sides can be compared by: what the invoice says of at least one of its lines. */
  by: { day: boolean; model: boolean }
  rows: ReconciledRow[]
  /** Lines of the invoice that say less than the others, and ours that have no model where models are compared. */
  unexplained: { ours: bigint; theirs: bigint; difference: bigint; lines: InvoiceLine[] }
  ours: bigint
  theirs: bigint
  /** Of the whole: rows and what is unexplained add up to it. */
  difference: bigint
}

/**
 * Compares by day and model as far as the invoice tells them. `sameModel` gives ids that stand for one model one name, so that
 * a dated id on an invoice meets the alias in our usage.
 * @throws AppError BAD_INPUT for an invoice of more than one currency
 */
export function reconcile(
  own: Iterable<OwnAmount>,
  invoice: readonly InvoiceLine[],
  sameModel: (id: string) => string = id => id,
): Reconciliation {
  const [first] = invoice
  const other = invoice.find(line => line.currency !== first?.currency)
  if (other)
    throw new AppError(
      'BAD_INPUT',
      `The invoice is in ${first!.currency} and in ${other.currency}: compare one currency.`,
    )
  const by = {
    day: invoice.some(line => line.day !== undefined),
    model: invoice.some(line => line.model !== undefined),
  }
  const rows = new Map<string, ReconciledRow>()
  const unexplained: Reconciliation['unexplained'] = { ours: 0n, theirs: 0n, difference: 0n, lines: [] }
  const totals = { ours: 0n, theirs: 0n }

  function put(side: 'ours' | 'theirs', line: { day?: string; model?: string; pico: bigint }): boolean {
    totals[side] += line.pico
    if ((by.day && line.day === undefined) || (by.model && line.model === undefined)) {
      unexplained[side] += line.pico
      return false
    }
    const day = by.day ? line.day : undefined
    const model = by.model ? sameModel(line.model!) : undefined
    const key = JSON.stringify([day ?? null, model ?? null])
    const row = rows.get(key) ?? {
      ...(day === undefined ? {} : { day }),
      ...(model === undefined ? {} : { model }),
      ours: 0n,
      theirs: 0n,
      difference: 0n,
    }
    row[side] += line.pico
    rows.set(key, row)
    return true
  }
  for (const line of own) put('ours', line)
  for (const line of invoice) if (!put('theirs', line)) unexplained.lines.push(line)
  for (const row of rows.values()) row.difference = row.theirs - row.ours
  unexplained.difference = unexplained.theirs - unexplained.ours
  return {
    by,
    rows: [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
    unexplained,
    ...totals,
    difference: totals.theirs - totals.ours,
  }
}

/**
 * A difference spread over tenants by a stated rule, as a line of its own on each statement; what the rule leaves stays with the
 * organisation. Together exactly the difference. Lines are whole units of the statements' currency (cents), so that a tenant's part is
 * one figure on the invoice's page, on its statement and in every file.
 * @param difference in the statements' currency, which it is converted into before it is spread
 * @param about the provider, the invoice's number or month, and the statements' currency
 */
export function spreadDifference(
  difference: bigint,
  rule: AllocationRule,
  own: ReadonlyMap<string, bigint>,
  about: { provider: string; invoice: string; currency: string },
): { lines: Map<string, StatementLine> } & Pick<Allocated, 'left' | 'why'> {
  const { parts, ...rest } = allocate(difference, rule, own, minorUnit(about.currency))
  const line = {
    kind: 'reconciliation' as const,
    provider: about.provider,
    of: about.invoice,
    rule: describeAllocation(rule),
  }
  return { lines: new Map([...parts].map(([tenant, pico]) => [tenant, { ...line, pico }])), ...rest }
}
