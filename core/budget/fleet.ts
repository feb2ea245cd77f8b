import * as z from 'zod/mini'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { AppError } from '#core/error.ts'
import { openJws } from '#core/jws.ts'
import type { Crypto } from '#core/key.ts'
import { keysOf, type Root } from '#core/root.ts'
import { CURRENCY, RATE_PLACES } from '#core/spend/exchange.ts'
import { BASES, BUDGET_NAME } from './budget.ts'
import { IDEMPOTENCY_KEY, MAX_LEASE_S, MIN_LEASE_S } from './reserve.ts'

/**
 * What the control plane tells machines of the organisation's budgets (GET budgets), and how they reserve of them. Amounts are
 * exact decimals of the budget's currency.
 */
const decimal = z.string().check(
  z.maxLength(40),
  z.refine(text => (parseDecimal(text) ?? -1n) >= 0n && formatDecimal(parseDecimal(text)!) === text),
)
const time = z.iso.datetime()
const budgetName = z.string().check(z.regex(BUDGET_NAME))
const value = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/))
const key = z.string().check(z.regex(IDEMPOTENCY_KEY))

/** One budget, or one value's share of a budget per value, in the window of the cut. */
export const FleetBudget = z.looseObject({
  name: budgetName,
  /** Whose it is; absent: the organisation's. Of a budget for every value, the value. */
  of: z.optional(z.strictObject({ key: z.string(), value: z.string() })),
  amount: decimal,
  currency: z.string(),
  basis: z.enum(BASES),
  windowStart: time,
  windowEnd: time,
  zone: z.string(),
  /** What the fleet has spent in the window at the cut. */
  used: decimal,
  /** What of it the asking machine had reported, with its upload `ownSeq`; 0: none counted yet. */
  own: decimal,
  ownSeq: z.int().check(z.gte(0)),
})
export type FleetBudget = z.infer<typeof FleetBudget>

/** What a dollar is in a budget's currency from a UTC day on. */
const FleetRate = z.strictObject({
  currency: z.string().check(z.regex(CURRENCY)),
  from: z.iso.date(),
  perUsd: z.string().check(
    z.maxLength(20),
    z.refine(text => (parseDecimal(text, RATE_PLACES) ?? 0n) > 0n),
  ),
})

export const FleetBudgets = z.looseObject({
  v: z.literal(1),
  org: z.string(),
  machine: z.string(),
  /** When it was signed, and when the ledger was counted; figures are as old as the cut. */
  at: time,
  cut: time,
  budgets: z.array(FleetBudget),
  /**
   * The rates that the fleet's use in other currencies than the dollar was counted with, and a machine's own is to be: of each
   * such currency every entry that holds on a day of its budgets' windows. Absent where all budgets are in dollars.
   */
  exchange: z.optional(z.array(FleetRate).check(z.maxLength(50_000))),
})
export type FleetBudgets = z.infer<typeof FleetBudgets>

/** Verifies an answer under the `fresh` keys of a root, for one machine. @throws AppError BAD_SIGNATURE */
export function openFleetBudgets(jws: string, root: Root, machine: string, crypto: Crypto): FleetBudgets {
  const { value } = openJws(jws, 'holdpoint-budgets+jws', keysOf(root, 'fresh', crypto), crypto)
  const read = FleetBudgets.safeParse(value)
  const refuse = (why: string, message: string) => new AppError('BAD_SIGNATURE', message, { details: { why } })
  if (!read.success) throw refuse('malformed', 'The signed budgets are not of a form this connector can read.')
  if (read.data.org !== root.org) throw refuse('other_organisation', 'The signed budgets are of another organisation.')
  if (read.data.machine !== machine) throw refuse('other_machine', 'The signed budgets are for another machine.')
  return read.data
}

/** Sets an amount aside. `value`: which share, of a budget for every value of a tag. */
export const ReserveBody = z.strictObject({
  budget: budgetName,
  value: z.optional(value),
  amount: decimal,
  leaseSeconds: z.int().check(z.gte(MIN_LEASE_S), z.lte(MAX_LEASE_S)),
  idempotencyKey: key,
})
export type ReserveBody = z.infer<typeof ReserveBody>

/** What was really spent, in the place of what was set aside. */
export const SettleBody = z.strictObject({ amount: decimal, idempotencyKey: key })
export type SettleBody = z.infer<typeof SettleBody>

export const ReleaseBody = z.strictObject({})

export const RESERVATION_ID = /^rsv_[A-Za-z0-9_-]{16}$/

/** A reservation as its holder sees it. `left`: what others could still reserve, when it was made just now. */
export const ReservationAnswer = z.looseObject({
  id: z.string(),
  budget: budgetName,
  value: z.optional(z.string()),
  amount: decimal,
  leaseUntil: time,
  /** `expired`: its lease ended before it was settled; it holds nothing. */
  state: z.enum(['live', 'expired', 'settled', 'released']),
  settled: z.optional(z.strictObject({ amount: decimal, at: time })),
  left: z.optional(decimal),
})
export type ReservationAnswer = z.infer<typeof ReservationAnswer>
