/** What one tenant is billed for one month: a draft that follows the ledger, then frozen; later changes are lines of later months. */
import type { Basis } from '#core/budget/budget.ts'
import { base64url, concat, type Sha256, utf8 } from '#core/bytes.ts'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { canonicalJson } from '#core/json.ts'
import { minorPlaces } from './exchange.ts'
import { roundParts } from './round.ts'

/** A month of the organisation: its name, and its first instant and the one after its last in the organisation's zone. */
export type StatementPeriod = { month: string; start: string; end: string; zone: string }

/** What a line is for. Amounts are of the statement's currency, in pico-units, and exact. */
export type LineKind =
  /** Usage of a model in a project. */
  | 'usage'
  /** Usage of a model without a price, at the bound; in the total only when it was accepted. */
  | 'bound'
  /** Of a statement of billed cost: usage of which nobody knows whether a plan covers it. Never in the total. */
  | 'unknown'
  /** A part of what is shared or unattributed. */
  | 'allocated'
  /** A part of what a provider's invoice says beyond our reckoning. */
  | 'reconciliation'
  /** What a closed month turned out to be more or less. */
  | 'adjustment'
  /** An amount in the tenant's favour. */
  | 'credit'
  /** What of credits and adjustments did not fit into this month: the total never falls below nothing. */
  | 'carried'

export type StatementLine = {
  kind: LineKind
  /** Usage and bounds: of what. */
  project?: string
  provider?: string
  model?: string
  calls?: number
  tokens?: number
  /** Allocated and reconciled: which amount (`unattributed`, the shared one's name), and by which rule, in words. */
  of?: string
  rule?: string
  /** Of a line about another month than the statement's: which, and what kind of line of it is adjusted. */
  month?: string
  adjusts?: LineKind
  pico: bigint
}

export type StatementDraft = {
  org: string
  /** The tenant's key and name as they are when it is drawn up. */
  tenant: { key: string; name: string }
  period: StatementPeriod
  currency: string
  basis: Basis
  /** Of each foreign currency the rates used, day by day of change; empty for dollars. */
  exchange: readonly { from: string; perUsd: string }[]
  lines: readonly StatementLine[]
}

/** What counts toward the total. */
const counts = (line: StatementLine, acceptBound: boolean): boolean =>
  line.kind === 'bound' ? acceptBound : line.kind !== 'unknown'

export type StatementTotals = {
  /** Lines in their order, `carried` added where credits or adjustments exceed all else; `shown` is to the cent and adds up. */
  lines: (StatementLine & { shown: bigint; counted: boolean })[]
  total: bigint
  /** Beside the total, never in it. */
  atMost: bigint
  unknown: bigint
  /** To be brought forward as a credit of the next month. */
  carried: bigint
}

/**
 * Adds a statement up: exact lines are summed, the sum is rounded once to the currency's smallest unit, and the lines are shown so
 * that they add up to it. Credits and adjustments never push it below nothing: what does not fit is carried to the next month.
 */
export function totalsOf(draft: Pick<StatementDraft, 'lines' | 'currency'>, acceptBound: boolean): StatementTotals {
  const places = minorPlaces(draft.currency)
  const sum = (lines: readonly StatementLine[]) => lines.reduce((n, line) => n + line.pico, 0n)
  const counted = draft.lines.filter(line => counts(line, acceptBound))
  const exact = sum(counted)
  const carried = exact < 0n ? -exact : 0n
  const all = carried > 0n ? [...counted, { kind: 'carried' as const, pico: carried }] : counted
  const rounded = roundParts(
    all.map(line => line.pico),
    places,
  )
  const beside = draft.lines.filter(line => !counts(line, acceptBound))
  return {
    lines: [
      ...all.map((line, i) => ({ ...line, shown: rounded.parts[i]!, counted: true })),
      ...beside.map(line => ({ ...line, shown: roundParts([line.pico], places).total, counted: false })),
    ],
    total: rounded.total,
    atMost: sum(beside.filter(line => line.kind === 'bound')),
    unknown: sum(beside.filter(line => line.kind === 'unknown')),
    carried,
  }
}

/** A closed statement as it is kept and hashed: amounts as decimals, `shown` to the smallest unit. */
export type ClosedStatement = {
  v: 1
  org: string
  tenant: { key: string; name: string }
  period: StatementPeriod
  currency: string
  basis: Basis
  exchange: { from: string; perUsd: string }[]
  closedAt: string
  /** Whether an owner accepted the bound of models without a price into the total. */
  boundAccepted: boolean
  lines: {
    kind: LineKind
    project?: string
    provider?: string
    model?: string
    calls?: number
    tokens?: number
    of?: string
    rule?: string
    month?: string
    adjusts?: LineKind
    amount: string
    shown: string
    counted: boolean
  }[]
  total: string
  unknown: string
  carried: string
}

/** Why a statement does not close. */
export const CLOSE_REFUSALS = ['already_closed', 'not_over', 'unpriced', 'earlier_open'] as const
export type CloseRefusal = (typeof CLOSE_REFUSALS)[number]

const refuse = (why: CloseRefusal, message: string, remedy?: string) =>
  new AppError('CONFLICT', message, { details: { why }, ...(remedy ? { remedy } : {}) })

/**
 * Freezes a draft. Bytes and digest of what comes out never change: see {@link statementBytes}.
 * @throws AppError CONFLICT, `details.why` one of {@link CLOSE_REFUSALS}: closed already; the month is not over; the month before
 *   is still open; usage without a price is in it and no owner accepted the bound
 */
export function closeStatement(
  draft: StatementDraft,
  now: { at: string; state: 'draft' | 'closed'; earlierOpen: boolean; acceptBound: boolean },
): ClosedStatement {
  const { month, end } = draft.period
  if (now.state === 'closed')
    throw refuse(
      'already_closed',
      `The statement of ${month} is closed.`,
      'Later changes are adjustments of the open month.',
    )
  if (Date.parse(now.at) < Date.parse(end)) throw refuse('not_over', `${month} is not over.`, `Close it after ${end}.`)
  if (now.earlierOpen)
    throw refuse(
      'earlier_open',
      `An earlier month of ${draft.tenant.key} is still open.`,
      'Close months in their order.',
    )
  const unpriced = draft.lines.filter(line => line.kind === 'bound')
  if (unpriced.length > 0 && !now.acceptBound) {
    const models = [...new Set(unpriced.map(line => line.model ?? 'unknown'))].join(', ')
    throw refuse('unpriced', `There is no price of ${models}.`, 'Price them, or have an owner accept the bound.')
  }
  const { lines, total, unknown, carried } = totalsOf(draft, now.acceptBound)
  return {
    v: 1,
    org: draft.org,
    tenant: { ...draft.tenant },
    period: { ...draft.period },
    currency: draft.currency,
    basis: draft.basis,
    exchange: draft.exchange.map(entry => ({ ...entry })),
    closedAt: now.at,
    boundAccepted: unpriced.length > 0,
    lines: lines.map(({ pico, shown, ...line }) => ({
      ...line,
      amount: formatDecimal(pico),
      shown: formatDecimal(shown),
    })),
    total: formatDecimal(total),
    unknown: formatDecimal(unknown),
    carried: formatDecimal(carried),
  }
}

/** The bytes of a closed statement: canonical JSON. These are stored and hashed, and nothing is ever made of anything else. */
export const statementBytes = (closed: ClosedStatement): Uint8Array => utf8(canonicalJson(closed))

/** SHA-256 over a domain line and the bytes, base64url: what the ledger's entry about the closing holds. */
export const statementDigest = (bytes: Uint8Array, sha256: Sha256): string =>
  base64url(sha256(concat(utf8('holdpoint/statement/v1\n'), bytes)))

/** Lines of the ledger, which can change after closing; the rest of a statement is made by closing it. */
const OF_LEDGER: readonly LineKind[] = ['usage', 'bound', 'allocated', 'reconciliation']

/** Of what kind a line is apart from having a price: of a tenant's own usage, or a part of what is shared. */
function wholeOf({ kind, adjusts, of }: Omit<StatementLine, 'pico'>): LineKind {
  if (adjusts !== undefined) return adjusts
  return kind !== 'bound' ? kind : of === undefined ? 'usage' : 'allocated'
}

/** What a line is compared by when its month is looked at again: a bound that got a price is the same line. */
function lineKey(line: Omit<StatementLine, 'pico'>): string {
  const { project, provider, model, of } = line
  return JSON.stringify([wholeOf(line), project ?? null, provider ?? null, model ?? null, of ?? null])
}

/**
 * What a closed month has become since, as lines of the open month: the difference of each line between the ledger now and what
 * was billed for that month, in its own statement and since. Billing them makes the difference nothing. Usage without a price that
 * came in late, and that nobody accepted, is a `bound` line of that month.
 * @param now the same month drawn up from the ledger today
 * @param since lines about this month (`month`) that were in the total of statements closed since
 */
export function adjustmentsOf(
  closed: Pick<ClosedStatement, 'period' | 'lines'>,
  now: readonly StatementLine[],
  since: readonly StatementLine[] = [],
): StatementLine[] {
  const { month } = closed.period
  const billedSince = since.filter(line => line.month === month && line.kind !== 'credit')
  const billed = closed.lines.filter(line => OF_LEDGER.includes(line.kind) && line.counted && line.month === undefined)
  const accepted = [...billed, ...billedSince].some(line => line.kind === 'bound')
  const changes = new Map<string, StatementLine>()
  const late: StatementLine[] = []
  const add = (line: Omit<StatementLine, 'pico'>, pico: bigint) => {
    const key = lineKey(line)
    const { project, provider, model, of, rule } = line
    const change = changes.get(key) ?? {
      kind: 'adjustment' as const,
      month,
      adjusts: wholeOf(line),
      ...(project === undefined ? {} : { project }),
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      ...(of === undefined ? {} : { of }),
      ...(rule === undefined ? {} : { rule }),
      pico: 0n,
    }
    change.pico += pico
    changes.set(key, change)
  }
  for (const line of now) {
    if (!OF_LEDGER.includes(line.kind)) continue
    if (counts(line, accepted)) add(line, line.pico)
    else late.push({ ...line, month })
  }
  for (const line of billed) add(line, -(parseDecimal(line.amount) ?? 0n))
  for (const line of billedSince) add(line, -line.pico)
  const changed = [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  return [...changed.filter(line => line.pico !== 0n), ...late]
}

/** What a closed statement carries into the next: a credit of its month; nothing when all of it fitted. */
export function carriedCredit({ carried, period }: Pick<ClosedStatement, 'carried' | 'period'>): StatementLine[] {
  const pico = parseDecimal(carried) ?? 0n
  return pico === 0n ? [] : [{ kind: 'credit', month: period.month, pico: -pico }]
}
