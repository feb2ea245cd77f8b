import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutDecimal, cutNumber, formatMicros, formatUsd, MAX_MICROS, microsUp, parseMicros } from '#core/money.ts'

describe('micros', () => {
  it('are read exactly, and written back the same', () => {
    expect(parseMicros('20')).toBe(20_000_000)
    expect(parseMicros('0.1')).toBe(100_000)
    expect(parseMicros('19.999999')).toBe(19_999_999)
    expect(parseMicros('007.50')).toBe(7_500_000)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_MICROS }), micros => {
        expect(parseMicros(formatMicros(micros))).toBe(micros)
      }),
    )
  })

  it.each([
    '',
    '-1',
    '+1',
    '1e3',
    '.5',
    '5.',
    '1,000',
    ' 1',
    '0x10',
    'NaN',
    '1.0000001',
    '1000000000.000001',
    '9'.repeat(500),
  ])('refuse %j', text => {
    expect(parseMicros(text)).toBeUndefined()
  })

  it('tell whether digits were cut, whatever their number', () => {
    expect(cutDecimal('1.0000000')).toEqual({ floor: 1_000_000, cut: false })
    expect(cutDecimal(`1.${'0'.repeat(300)}1`)).toEqual({ floor: 1_000_000, cut: true })
    expect(cutNumber(0.1 + 0.2)).toEqual({ floor: 300_000, cut: true })
    expect(cutNumber(1e-9)).toEqual({ floor: 0, cut: true })
    for (const odd of [Number.NaN, -1, Number.POSITIVE_INFINITY, 1e21, 2e9]) expect(cutNumber(odd)).toBeUndefined()
  })

  it('bracket the number they were cut from', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), n => {
        const { floor, cut } = cutNumber(n)!
        expect(floor / 1e6).toBeLessThanOrEqual(n + 1e-9)
        expect((floor + (cut ? 1 : 0)) / 1e6).toBeGreaterThanOrEqual(n - 1e-9)
      }),
    )
  })

  it('add without error at the bound', () => {
    expect(Number.isSafeInteger(MAX_MICROS + MAX_MICROS + 1)).toBe(true)
  })

  it('are rounded up from finer sums, never below what was spent', () => {
    expect(microsUp(1n, 1_000_000n)).toBe(1)
    expect(microsUp(1_000_000n, 1_000_000n)).toBe(1)
    expect(microsUp(1_000_001n, 1_000_000n)).toBe(2)
    expect(microsUp(0n, 1_000_000n)).toBe(0)
    expect(microsUp(10n ** 30n, 1n)).toBe(MAX_MICROS)
  })

  it('read as dollars', () => {
    expect(formatUsd(20_140_000)).toBe('$20.14')
    expect(formatUsd(1_234_567_000_000)).toBe('$1,234,567.00')
    expect(formatUsd(1)).toBe('$0.000001')
    expect(formatUsd(-500_000)).toBe('-$0.50')
  })
})
