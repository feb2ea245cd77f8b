import type { Basis } from '#core/budget/budget.ts'
import { PRICE_AXES } from '#core/pricing.ts'
import { attoIn, type ExchangeRates, picoParts } from './exchange.ts'
import type { SpendRow } from './group.ts'
import type { StatementLine } from './statement.ts'

/** A row with its day: what is converted is converted at that day's rate. */
export type DatedRow = SpendRow & { day: string }

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
export function usageLines(
  rows: Iterable<DatedRow>,
  { basis, currency, rates }: { basis: Basis; currency: string; rates: ExchangeRates },
): StatementLine[] {
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
