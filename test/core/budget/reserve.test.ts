import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  amountLeft,
  decideRelease,
  decideReserve,
  decideSettle,
  IDEMPOTENCY_KEY,
  type Ledger,
  type Reservation,
} from '#core/budget/reserve.ts'

const NOW = 1_800_000_000_000
const live = (more: Partial<Reservation> = {}): Reservation => ({
  id: 'r',
  key: 'key-0001',
  amount: 4n,
  leaseUntil: NOW + 60_000,
  state: 'live',
  ...more,
})
const ledger = (more: Partial<Ledger> = {}): Ledger => ({ limit: 10n, used: 3n, reservations: [], ...more })
const wanted = (amount: bigint, key = 'key-0002', leaseSeconds = 60) => ({ amount, key, leaseSeconds })

describe('reserving', () => {
  test('takes what is left, to the last unit, and no more', () => {
    const state = ledger({ reservations: [live()] })
    expect(amountLeft(state, NOW)).toBe(3n)
    expect(decideReserve(state, wanted(3n), NOW)).toEqual({
      kind: 'reserved',
      amount: 3n,
      leaseUntil: NOW + 60_000,
      left: 0n,
    })
    expect(decideReserve(state, wanted(4n), NOW)).toEqual({ kind: 'refused', why: 'not_enough', left: 3n })
    expect(decideReserve(ledger({ used: 10n }), wanted(1n), NOW)).toEqual({
      kind: 'refused',
      why: 'exhausted',
      left: 0n,
    })
    expect(decideReserve(ledger({ used: 12n }), wanted(1n), NOW)).toMatchObject({ why: 'exhausted', left: 0n })
  })

  test('of a limit of nothing none of eight first calls is let in', () => {
    for (let i = 0; i < 8; i++)
      expect(decideReserve(ledger({ limit: 0n, used: 0n }), wanted(1n, `key-000${i}`), NOW).kind).toBe('refused')
  })

  test('the same attempt again is the first one, also after it was settled; with another amount it is refused', () => {
    const reservation = live()
    expect(decideReserve(ledger({ reservations: [reservation] }), wanted(4n, 'key-0001'), NOW)).toEqual({
      kind: 'repeat',
      reservation,
    })
    const settled = live({ state: 'settled', settled: { amount: 2n, key: 's', at: NOW } })
    expect(decideReserve(ledger({ reservations: [settled] }), wanted(4n, 'key-0001'), NOW).kind).toBe('repeat')
    expect(decideReserve(ledger({ reservations: [reservation] }), wanted(5n, 'key-0001'), NOW).kind).toBe('conflict')
  })

  test.each([[0n], [-1n]])('an amount of %s is none', amount => {
    expect(decideReserve(ledger(), wanted(amount), NOW)).toMatchObject({ kind: 'refused', why: 'bad_amount' })
  })

  test.each([[9], [86_401], [60.5], [Number.NaN]])('a lease of %s seconds is none', seconds => {
    expect(decideReserve(ledger(), wanted(1n, 'key-0002', seconds), NOW)).toMatchObject({ why: 'bad_lease' })
  })

  test('a holder that died gives back what it held when its lease ends', () => {
    const state = ledger({ used: 0n, reservations: [live({ amount: 10n })] })
    expect(amountLeft(state, NOW + 59_999)).toBe(0n)
    expect(amountLeft(state, NOW + 60_000)).toBe(10n)
  })
})

describe('settling', () => {
  test('puts what was spent in the place of what was held', () => {
    expect(decideSettle(live(), { amount: 2n, key: 's-1' }, NOW)).toEqual({
      kind: 'settled',
      settled: { amount: 2n, key: 's-1', at: NOW },
      late: false,
      over: false,
    })
  })

  test('counts once when it is tried again, and refuses another amount or another attempt', () => {
    const settled = live({ state: 'settled', settled: { amount: 2n, key: 's-1', at: NOW } })
    expect(decideSettle(settled, { amount: 2n, key: 's-1' }, NOW).kind).toBe('repeat')
    expect(decideSettle(settled, { amount: 3n, key: 's-1' }, NOW)).toEqual({ kind: 'conflict', why: 'other_amount' })
    expect(decideSettle(settled, { amount: 2n, key: 's-2' }, NOW)).toEqual({ kind: 'conflict', why: 'settled' })
    expect(decideSettle(live({ state: 'released' }), { amount: 2n, key: 's-1' }, NOW)).toMatchObject({
      why: 'released',
    })
    expect(decideSettle(live(), { amount: -1n, key: 's-1' }, NOW).kind).toBe('refused')
  })

  test('after the lease, or above the amount, what was spent counts and is marked', () => {
    expect(decideSettle(live(), { amount: 6n, key: 's' }, NOW + 60_000)).toMatchObject({ late: true, over: true })
  })

  test('what was settled is counted until the ledger has it, and not twice', () => {
    const settled = live({ state: 'settled', settled: { amount: 2n, key: 's', at: NOW } })
    const state = ledger({ reservations: [settled] })
    expect(amountLeft(state, NOW + 1)).toBe(5n)
    expect(amountLeft(state, NOW + 1, () => NOW - 1)).toBe(5n)
    expect(amountLeft({ ...state, used: 5n }, NOW + 1, () => NOW)).toBe(5n)
  })
})

test('releasing gives the amount back once; what was spent stays', () => {
  expect(decideRelease(live())).toEqual({ kind: 'released' })
  expect(decideRelease(live({ state: 'released' }))).toEqual({ kind: 'repeat' })
  expect(decideRelease(live({ state: 'settled' }))).toEqual({ kind: 'conflict', why: 'settled' })
  expect(amountLeft(ledger({ reservations: [live({ state: 'released' })] }), NOW)).toBe(7n)
})

test('whatever is reserved, settled, released or left to die: what is held and spent never passes the limit', () => {
  const act = fc.record({
    what: fc.constantFrom('reserve', 'settle', 'release', 'wait'),
    amount: fc.bigInt({ min: 1n, max: 6n }),
    key: fc.integer({ min: 0, max: 9 }),
  })
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 20n }), fc.array(act, { maxLength: 40 }), (limit, acts) => {
      let now = NOW
      const reservations: Reservation[] = []
      for (const { what, amount, key } of acts) {
        const name = `key-000${key}`
        const found = reservations.find(reservation => reservation.key === name)
        if (what === 'wait') now += 20_000
        if (what === 'reserve') {
          const decision = decideReserve({ limit, used: 0n, reservations }, wanted(amount, name), now)
          if (decision.kind === 'reserved')
            reservations.push(live({ id: name, key: name, amount, leaseUntil: decision.leaseUntil }))
        }
        if (found && what === 'settle' && now < found.leaseUntil && amount <= found.amount) {
          const decision = decideSettle(found, { amount, key: 's' }, now)
          if (decision.kind === 'settled') Object.assign(found, { state: 'settled', settled: decision.settled })
        }
        if (found && what === 'release' && decideRelease(found).kind === 'released') found.state = 'released'
        const taken = reservations.reduce(
          (sum, r) => sum + (r.settled ? r.settled.amount : r.state === 'live' && now < r.leaseUntil ? r.amount : 0n),
          0n,
        )
        expect(taken <= limit).toBe(true)
        expect(amountLeft({ limit, used: 0n, reservations }, now)).toBe(limit - taken)
      }
    }),
  )
})

test('an attempt is named by a plain word', () => {
  expect(IDEMPOTENCY_KEY.test('run-2026-12-01_a')).toBe(true)
  for (const key of ['short', 'with space', 'a'.repeat(65), 'dots.are.out'])
    expect(IDEMPOTENCY_KEY.test(key)).toBe(false)
})
