import { utcDay } from '#core/day.ts'
import { isAppError } from '#core/error.ts'
import { drawMonth, linesOf, type MonthDrawn, type SharedRule } from '#core/spend/draw.ts'
import { ratesSince } from '#core/spend/exchange.ts'
import type { StatementLine } from '#core/spend/statement.ts'
import type { DatedRow } from '#core/spend/statement-lines.ts'
import type { RenameMap } from '#core/usage/renames.ts'
import type { Tx } from '../../db.ts'
import { reconciliationLines } from '../invoice/spread.ts'
import { keptByWeight } from '../kept.ts'
import { monthMarks } from '../usage/month-marks.ts'
import type { ClosedHead } from './closed.ts'
import { type BookMonth, nextMonth, renamesOfMonths, rowsByMonth, wholeMonths } from './months.ts'
import type { StatementSetting } from './setting.ts'

/** By tenant, what of a month's difference from providers' invoices is spread to it. */
type Reconciliation = ReadonlyMap<string, readonly StatementLine[]>
const NOT_SPREAD: Reconciliation = new Map()

/** What a month's ledger comes to. It is kept as long as nothing of it changes, so nobody may change it. */
export type DrawnMonth = BookMonth & {
  drawn: MonthDrawn
  /** Tenants with usage of their own, also where nothing could be drawn up. */
  users: readonly string[]
  reconciliation: Reconciliation
  /** Why it cannot be drawn up, where it cannot: an exchange rate is missing. */
  problem: string | undefined
}

/**
 * Who takes part in what is shared in a month that nothing is closed of: tenants that are listed or named, and those with usage in
 * it, without those that are shared themselves.
 */
export function takersOf(
  known: readonly string[],
  rows: readonly Pick<DatedRow, 'tags'>[],
  rules: readonly SharedRule[],
): string[] {
  const shared = new Set(rules.flatMap(({ key, value }) => (key === 'tenant' ? [value] : [])))
  return [...new Set([...known, ...rows.flatMap(({ tags }) => tags.tenant ?? [])])]
    .filter(key => !shared.has(key))
    .sort()
}

/** Lines that are held in memory, at most: some hundred bytes each. */
const LINES_MOST = 400_000
const kept = keptByWeight<DrawnMonth>(LINES_MOST, weigh)
/** Months that are read in one statement. */
const AT_ONCE = 12

function weigh({ drawn, reconciliation }: DrawnMonth): number {
  const lists = [
    ...drawn.own.values(),
    ...reconciliation.values(),
    ...drawn.shared.flatMap(one => [...one.parts.values()]),
  ]
  return lists.reduce((n, list) => n + list.length, 10)
}

export type DrawAs = {
  orgId: string
  zone: string
  setting: StatementSetting
  /** Keys of tenants that are listed or named. */
  known: readonly string[]
  closed: ReadonlyMap<string, readonly ClosedHead[]>
}

/**
 * The months as the ledger is now. A month's key names everything that its lines are made of: its usage by its mark, the rules, the
 * tenants, rates and renames, and invoices that are spread. Under the same key it is not read again.
 */
export async function drawMonths(tx: Tx, as: DrawAs, months: readonly BookMonth[]): Promise<DrawnMonth[]> {
  const keyOf = await monthKeys(tx, as, months)
  const drawn = new Map<string, DrawnMonth>()
  const missing: BookMonth[] = []
  for (const month of months) {
    const key = keyOf.get(month.month)
    const held = key === undefined ? undefined : kept.get(key)
    if (held) drawn.set(month.month, held)
    else missing.push(month)
  }
  if (missing.length > 0) {
    const spread = new Set((await spreadsOf(tx, as.orgId)).keys())
    const renames = await renamesOfMonths(tx, as.orgId, as.closed)
    for (const run of runsOf(missing)) {
      const rows = await rowsByMonth(tx, as.orgId, as.zone, run, as.setting.rates, renames)
      for (const month of run) {
        const read = { rows: rows.get(month.month)!, renames: renames(month.settled ? month.month : undefined) }
        const one = { ...month, ...(await drawOne(tx, month, read, spread, as)) }
        const key = keyOf.get(month.month)
        drawn.set(month.month, key === undefined ? one : kept.put(key, one))
      }
    }
  }
  return months.map(({ month }) => drawn.get(month)!)
}

/** Months that follow each other, few enough to be read at once. */
function runsOf(months: readonly BookMonth[]): BookMonth[][] {
  const runs: BookMonth[][] = []
  for (const month of months) {
    const run = runs.at(-1)
    if (run && run.length < AT_ONCE && nextMonth(run.at(-1)!.month) === month.month) run.push(month)
    else runs.push([month])
  }
  return runs
}

/** By month the key of what it is made of; none where that cannot be told. */
async function monthKeys(
  tx: Tx,
  { orgId, zone, setting, known, closed }: DrawAs,
  months: readonly BookMonth[],
): Promise<Map<string, string>> {
  const markOf = await monthMarks(tx, orgId, zone)
  const isWhole = await wholeMonths(tx, zone, months)
  const spreads = await spreadsOf(tx, orgId)
  const renames = await renamesOfMonths(tx, orgId, closed)
  const keys = new Map<string, string>()
  for (const month of months) {
    const { month: name, start, end, settled, currency } = month
    const spread = spreads.get(name)
    // what does not begin and end with the zone's month, as an invoice does not, has usage of those beside it
    const names = isWhole.has(name) && spread === undefined ? [name] : [nextMonth(name, -1), name, nextMonth(name)]
    const marks = names.map(markOf)
    if (marks.includes(undefined)) continue
    const [first, last] = [utcDay(start.getTime()), utcDay(end.getTime() - 1)]
    const rates = ratesSince(setting.rates, currency, first).filter(({ from }) => from <= last)
    keys.set(
      name,
      JSON.stringify([
        orgId,
        zone,
        month,
        marks,
        rates,
        renames(settled ? name : undefined),
        month.tenants ?? known,
        spread,
      ]),
    )
  }
  return keys
}

/** By month everything about invoices whose difference is spread, and the rules that they are compared by. */
async function spreadsOf(tx: Tx, orgId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.$queryRaw<{ month: string; spread: string }[]>`
    select i.month, concat_ws(' ', string_agg(concat_ws(' ', i::text, s::text), ' ' order by i.provider),
      (select max(version) from "RuleSetVersion" where "orgId" = ${orgId})) as spread
    from "InvoiceSpread" s join "Invoice" i on i.id = s."invoiceId" and i."orgId" = s."orgId" where s."orgId" = ${orgId} group by i.month`
  return new Map(rows.map(({ month, spread }) => [month, spread]))
}

async function drawOne(
  tx: Tx,
  month: BookMonth,
  { rows, renames }: { rows: DatedRow[]; renames: RenameMap },
  spread: ReadonlySet<string>,
  { orgId, known, setting }: DrawAs,
): Promise<Pick<DrawnMonth, 'drawn' | 'users' | 'reconciliation' | 'problem' | 'tenants'>> {
  const users = takersOf([], rows, month.rules)
  const tenants = month.tenants ?? takersOf(known, rows, month.rules)
  const as = { basis: month.basis, currency: month.currency, rates: setting.rates }
  try {
    const drawn = drawMonth(rows, { tenants, rules: month.rules }, as)
    const reconciliation = spread.has(month.month)
      ? await reconciliationLines(tx, orgId, month.month, { currency: month.currency, tenants, renames })
      : NOT_SPREAD
    return { drawn, users, reconciliation, tenants, problem: undefined }
  } catch (error) {
    if (!isAppError(error) || error.code !== 'BAD_INPUT') throw error
    const problem = [error.message, error.remedy].filter(Boolean).join(' ')
    return { drawn: { own: new Map(), shared: [] }, users, reconciliation: NOT_SPREAD, tenants, problem }
  }
}

const lines = new WeakMap<DrawnMonth, Map<string, readonly StatementLine[]>>()

/** What is a tenant's of a month as the ledger is now: the same list as long as that is the same. */
export function ledgerLines(month: DrawnMonth, tenant: string): readonly StatementLine[] {
  const ofMonth = lines.get(month) ?? new Map<string, readonly StatementLine[]>()
  if (ofMonth.size === 0) lines.set(month, ofMonth)
  const before = ofMonth.get(tenant)
  if (before) return before
  const all = [...linesOf(month.drawn, tenant), ...(month.reconciliation.get(tenant) ?? [])]
  ofMonth.set(tenant, all)
  return all
}
