/**
 * Amounts set aside before work starts, so that two runs cannot both take the last dollar. These are the decisions; whoever keeps
 * reservations makes each of them under one lock per budget and window. Amounts are 10^-12 of the budget's currency.
 */

/** A lease is long enough to be renewed by settling or to be noticed as dead, and never holds an amount for more than a day. */
export const MIN_LEASE_S = 10
export const MAX_LEASE_S = 86_400
/** What a caller names an attempt by; the same one again is the same attempt. */
export const IDEMPOTENCY_KEY = /^[A-Za-z0-9_-]{8,64}$/

/** `live` until its lease ends: then it holds nothing, without anybody having to say so. */
export interface Reservation {
  id: string
  key: string
  amount: bigint
  leaseUntil: number
  state: 'live' | 'settled' | 'released'
  /** What was really spent, by which attempt, and when. */
  settled?: { amount: bigint; key: string; at: number }
}

/** A budget in its window as a reservation meets it. */
export interface Ledger {
  limit: bigint
  /** What usage has been counted to. */
  used: bigint
  reservations: readonly Reservation[]
}

/** True while it holds its amount. */
export const isHolding = (reservation: Reservation, now: number): boolean =>
  reservation.state === 'live' && now < reservation.leaseUntil

/**
 * What a reservation takes out of what is left: its amount while it lives; once settled, what was spent, until the usage of the
 * machine has been counted past that moment (`countedUntil`): from then on the ledger has it, and it must not count twice.
 */
export function heldBy(reservation: Reservation, now: number, countedUntil = Number.NEGATIVE_INFINITY): bigint {
  if (isHolding(reservation, now)) return reservation.amount
  const { settled } = reservation
  return settled !== undefined && settled.at > countedUntil ? settled.amount : 0n
}

/** The limit less what is spent and what is held; never below zero. */
export function amountLeft(
  { limit, used, reservations }: Ledger,
  now: number,
  countedUntil?: (reservation: Reservation) => number | undefined,
): bigint {
  const held = reservations.reduce((sum, r) => sum + heldBy(r, now, countedUntil?.(r)), 0n)
  const left = limit - used - held
  return left > 0n ? left : 0n
}

export type ReserveDecision =
  | { kind: 'reserved'; amount: bigint; leaseUntil: number; left: bigint }
  /** The same attempt again: the first answer stands, whatever has become of it since. */
  | { kind: 'repeat'; reservation: Reservation }
  /** The key was used for another amount. */
  | { kind: 'conflict'; reservation: Reservation }
  | { kind: 'refused'; why: 'exhausted' | 'not_enough' | 'bad_amount' | 'bad_lease'; left: bigint }

/** Whether an amount can be set aside. Of many that ask at once, only those fit that the limit has room for together. */
export function decideReserve(
  ledger: Ledger,
  wanted: { amount: bigint; leaseSeconds: number; key: string },
  now: number,
  countedUntil?: (reservation: Reservation) => number | undefined,
): ReserveDecision {
  const { amount, leaseSeconds, key } = wanted
  const before = ledger.reservations.find(reservation => reservation.key === key)
  if (before !== undefined) return { kind: before.amount === amount ? 'repeat' : 'conflict', reservation: before }
  const left = amountLeft(ledger, now, countedUntil)
  if (amount <= 0n) return { kind: 'refused', why: 'bad_amount', left }
  if (!Number.isInteger(leaseSeconds) || leaseSeconds < MIN_LEASE_S || leaseSeconds > MAX_LEASE_S) {
    return { kind: 'refused', why: 'bad_lease', left }
  }
  if (left === 0n) return { kind: 'refused', why: 'exhausted', left }
  if (amount > left) return { kind: 'refused', why: 'not_enough', left }
  return { kind: 'reserved', amount, leaseUntil: now + leaseSeconds * 1000, left: left - amount }
}

export type SettleDecision =
  /** `late`: the lease had ended; `over`: more was spent than was set aside. What was spent counts either way. */
  | { kind: 'settled'; settled: { amount: bigint; key: string; at: number }; late: boolean; over: boolean }
  | { kind: 'repeat'; reservation: Reservation }
  | { kind: 'conflict'; why: 'other_amount' | 'settled' | 'released' }
  | { kind: 'refused'; why: 'bad_amount' }

/** Takes what was really spent in place of what was set aside. The same attempt again counts once. */
export function decideSettle(
  reservation: Reservation,
  { amount, key }: { amount: bigint; key: string },
  now: number,
): SettleDecision {
  const { state, settled } = reservation
  if (amount < 0n) return { kind: 'refused', why: 'bad_amount' }
  if (settled !== undefined) {
    if (settled.key !== key) return { kind: 'conflict', why: 'settled' }
    return settled.amount === amount ? { kind: 'repeat', reservation } : { kind: 'conflict', why: 'other_amount' }
  }
  if (state === 'released') return { kind: 'conflict', why: 'released' }
  const late = !isHolding(reservation, now)
  return { kind: 'settled', settled: { amount, key, at: now }, late, over: amount > reservation.amount }
}

export type ReleaseDecision = { kind: 'released' } | { kind: 'repeat' } | { kind: 'conflict'; why: 'settled' }

/** Gives the amount back unspent. One that was settled has been spent. */
export function decideRelease(reservation: Reservation): ReleaseDecision {
  if (reservation.state === 'settled') return { kind: 'conflict', why: 'settled' }
  return { kind: reservation.state === 'released' ? 'repeat' : 'released' }
}
