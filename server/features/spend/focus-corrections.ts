import { fromUtf8 } from '#core/bytes.ts'
import { parseDecimal } from '#core/decimal.ts'
import type { FocusRow } from '#core/focus.ts'
import { type FocusAccount, focusCorrection } from '#core/focus-rows.ts'
import { PROVIDERS, type Provider } from '#core/pricing.ts'
import type { ClosedStatement } from '#core/spend/statement.ts'
import type { Tx } from '../../db.ts'
import type { DayRange } from './focus-usage.ts'

/**
 * What closed statements billed of months that were closed before them, as rows: a correction in the month that it was billed in,
 * and the same amount taken out of the month that it is about. With them a month that is closed comes to what it was billed at,
 * and all months together still to the ledger. In the order of the months, so that the same statements give the same rows.
 */
export async function correctionRows(
  db: Tx,
  orgId: string,
  { from, to }: DayRange,
  account: FocusAccount,
): Promise<FocusRow[]> {
  const isIn = (month: string) => `${month}-01` >= from && `${month}-01` < to
  const rows: FocusRow[] = []
  const statements = await db.statement.findMany({
    // A statement is about months before its own.
    where: { orgId, month: { gte: from.slice(0, 7) } },
    select: { bytes: true },
    orderBy: [{ month: 'asc' }, { tenant: 'asc' }],
  })
  for (const { bytes } of statements) {
    const closed = JSON.parse(fromUtf8(new Uint8Array(bytes))) as ClosedStatement
    const { period, tenant, currency, basis } = closed
    for (const line of closed.lines) {
      if (line.kind !== 'adjustment' || line.adjusts !== 'usage' || line.month === undefined || !line.counted) continue
      const what = line.model ?? 'usage'
      const of = {
        tenant: tenant.key,
        ruleVersion: 0,
        ...(isProvider(line.provider) ? { provider: line.provider } : {}),
      }
      const pico = parseDecimal(line.amount) ?? 0n
      const there = { ...account, currency }
      if (isIn(period.month)) {
        const description = `Change of ${what} in ${line.month}, which was closed`
        const row = { ...of, day: `${period.month}-01`, month: line.month, description, picoAmount: pico }
        rows.push(ofBasis(focusCorrection(row, there), basis))
      }
      if (isIn(line.month)) {
        const description = `Change of ${what} after the month was closed, billed in ${period.month}`
        const row = { ...of, day: `${line.month}-01`, description, picoAmount: -pico }
        rows.push(ofBasis(focusCorrection(row, there), basis))
      }
    }
  }
  return rows
}

const isProvider = (name: string | undefined): name is Provider => (PROVIDERS as readonly string[]).includes(name ?? '')

/** Of a statement at list prices nothing is said of what is billed. */
const ofBasis = (row: FocusRow, basis: ClosedStatement['basis']): FocusRow =>
  basis === 'billed' ? row : { ...row, BilledCost: { decimal: '0' }, EffectiveCost: { decimal: '0' }, x_Covered: null }
