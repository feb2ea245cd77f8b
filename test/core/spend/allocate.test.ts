import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import { type AllocationRule, allocate, checkAllocation, describeAllocation } from '#core/spend/allocate.ts'

const usd = (text: string) => parseDecimal(text)!
const own = (amounts: Record<string, string>) => new Map(Object.entries(amounts).map(([k, v]) => [k, usd(v)]))
const shown = (amount: string, rule: AllocationRule, amounts: Record<string, string>) => {
  const { parts, left, why } = allocate(usd(amount), rule, own(amounts))
  return {
    parts: Object.fromEntries([...parts].map(([k, v]) => [k, formatDecimal(v)])),
    left: formatDecimal(left),
    why,
  }
}

describe('an amount is spread', () => {
  test('in proportion to own spend; who spent nothing pays nothing', () => {
    expect(shown('10', { kind: 'proportional' }, { acme: '3', globex: '1', idle: '0' })).toEqual({
      parts: { acme: '7.5', globex: '2.5' },
      left: '0',
      why: undefined,
    })
  })

  test('in equal parts, to the pico', () => {
    expect(shown('1', { kind: 'even' }, { c: '5', a: '0', b: '1' }).parts).toEqual({
      a: '0.333333333334',
      b: '0.333333333333',
      c: '0.333333333333',
    })
  })

  test('by fixed shares; the rest stays, and so does the share of a tenant that is gone', () => {
    const rule: AllocationRule = { kind: 'fixed', shares: { acme: '60', globex: '12.5', gone: '20' } }
    expect(shown('8', rule, { acme: '0', globex: '0' })).toEqual({
      parts: { acme: '4.8', globex: '1' },
      left: '2.2',
      why: 'rule',
    })
  })

  test.each([
    ['the rule says so', { kind: 'none' }, { acme: '1' }, 'rule'],
    ['there is nobody', { kind: 'even' }, {}, 'no_tenants'],
    ['nobody spent anything', { kind: 'proportional' }, { acme: '0', globex: '0' }, 'no_spend'],
    ['spend is below nothing', { kind: 'proportional' }, { acme: '-1' }, 'no_spend'],
  ] as [string, AllocationRule, Record<string, string>, string][])(
    'not at all where %s',
    (_what, rule, amounts, why) => {
      expect(shown('7', rule, amounts)).toEqual({ parts: {}, left: '7', why })
      expect(shown('0', rule, amounts)).toEqual({ parts: {}, left: '0', why: undefined })
    },
  )

  test('so that nothing is lost or made, by any rule and to any unit', () => {
    const anyOwn = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.bigInt({ min: -5n, max: 10n ** 16n }))
    const amountOf = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n })
    const anyRule: fc.Arbitrary<AllocationRule> = fc.oneof(
      fc.constantFrom<AllocationRule>(
        { kind: 'none' },
        { kind: 'even' },
        { kind: 'proportional' },
        { kind: 'equivalent' },
      ),
      fc
        .dictionary(
          fc.constantFrom('a', 'b', 'c', 'x'),
          fc.integer({ min: 0, max: 250_000 }).map(n => formatDecimal(BigInt(n), 4)),
        )
        .map((shares): AllocationRule => ({ kind: 'fixed', shares })),
    )
    fc.assert(
      fc.property(
        amountOf,
        anyRule,
        anyOwn,
        fc.constantFrom(1n, 10n ** 10n, 10n ** 12n),
        (amount, rule, amounts, unit) => {
          const { parts, left, why } = allocate(amount, rule, new Map(Object.entries(amounts)), unit)
          const all = [...parts.values(), left]
          expect(all.reduce((a, b) => a + b, 0n)).toBe(amount)
          for (const part of parts.values()) {
            expect(part > 0n).toBe(amount > 0n)
            expect(part % unit).toBe(0n)
          }
          // Less than half a unit stays beside what the rule leaves, of either sign.
          if (why === 'rest') expect(2n * (left < 0n ? -left : left)).toBeLessThanOrEqual(unit)
          else expect(left === 0n || left > 0n === amount > 0n || 2n * left * left <= unit * unit).toBe(true)
        },
      ),
    )
  })
})

test.each([
  [{ acme: '60', globex: '41' }, 'more than 100 percent'],
  [{ acme: '-1' }, 'not a percentage'],
  [{ acme: 'half' }, 'not a percentage'],
  [{ acme: '1.00001' }, 'not a percentage'],
  [{ nobody: '1' }, 'no tenant nobody'],
])('shares %j are refused', (shares, message) => {
  expect(() => checkAllocation({ kind: 'fixed', shares }, ['acme', 'globex'])).toThrow(message)
})

test('a rule is stated in words', () => {
  expect(describeAllocation({ kind: 'fixed', shares: { acme: '60', globex: '40' } })).toBe(
    'by fixed shares (acme 60 %, globex 40 %)',
  )
  expect(() =>
    checkAllocation({ kind: 'fixed', shares: { acme: '60', globex: '40' } }, ['acme', 'globex']),
  ).not.toThrow()
})
