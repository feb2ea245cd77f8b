import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDecimal, parseDecimal } from '#core/decimal.ts'
import {
  attoIn,
  compileExchange,
  divideNearest,
  fromUsd,
  minorUnit,
  picoParts,
  rateUsed,
  toUsd,
} from '#core/spend/exchange.ts'
import { amountText, columnText, moneyText, placesFor, roundParts, roundTo } from '#core/spend/round.ts'

const usd = (text: string) => parseDecimal(text)!
const anyAmount = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
const sum = (list: readonly bigint[]) => list.reduce((a, b) => a + b, 0n)

describe('decimals are exact', () => {
  test('ten times a tenth is one, and eleven elevenths do not pass one', () => {
    expect(formatDecimal(sum(Array.from({ length: 10 }, () => usd('0.10'))))).toBe('1')
    const elevenths = roundParts(
      Array.from({ length: 11 }, () => usd('1') / 11n),
      12,
    ).parts
    expect(sum(elevenths) <= usd('1')).toBe(true)
  })

  test.each(['0', '20', '-0.25', '0.000000000001', '99999999999999999999999999.999999999999'])(
    '%s reads back',
    text => {
      expect(formatDecimal(usd(text))).toBe(text)
    },
  )

  test.each(['', '1e3', '+1', '.5', '1.', ' 1', '1,000', '0.0000000000001', 'NaN', '١'])('%j is no decimal', text => {
    expect(parseDecimal(text)).toBeUndefined()
  })

  test('zeros beyond the last place are none', () => {
    expect(parseDecimal('1.5000000000000000')).toBe(usd('1.5'))
  })
})

describe('rounding comes once, at the end', () => {
  test('eleven days of a tenth are 1.10, not what eleven rounded days would be', () => {
    const days = Array.from({ length: 11 }, () => usd('0.0095'))
    expect(columnText(days, { places: 2 }).total).toBe('$0.10')
    expect(sum(days.map(day => roundTo(day, 2)))).toBe(usd('0.11'))
  })

  test('parts as shown add up to the total as shown, each within a unit of itself', () => {
    fc.assert(
      fc.property(fc.array(anyAmount, { maxLength: 40 }), fc.integer({ min: 0, max: 12 }), (amounts, places) => {
        const { parts, total } = roundParts(amounts, places)
        const unit = 10n ** BigInt(12 - places)
        expect(sum(parts)).toBe(total)
        expect(total).toBe(roundTo(sum(amounts), places))
        for (const [i, part] of parts.entries()) {
          const off = part - amounts[i]!
          expect(off > -unit && off < unit).toBe(true)
          if (amounts[i] === 0n) expect(part).toBe(0n)
        }
      }),
    )
  })

  test('a half is rounded away from zero', () => {
    expect([roundTo(usd('0.005'), 2), roundTo(usd('-0.005'), 2), roundTo(usd('0.0049'), 2)]).toEqual([
      usd('0.01'),
      usd('-0.01'),
      0n,
    ])
    expect([divideNearest(7n, 3n), divideNearest(8n, 3n), divideNearest(-8n, 3n)]).toEqual([2n, 3n, -3n])
  })
})

describe('an amount for people', () => {
  test.each([
    ['0', '0.00'],
    ['0.0035', '0.0035'],
    ['0.0032', '0.0032'],
    ['0.000001', '0.0000010'],
    ['0.000000000001', '0.000000000001'],
    ['0.012345', '0.012'],
    ['0.5', '0.50'],
    ['20', '20.00'],
    ['1234567.891', '1,234,567.89'],
    ['-1234.5', '-1,234.50'],
    ['-0.0035', '-0.0035'],
    ['0.099999', '0.100'],
  ])('%s is %s', (amount, text) => {
    expect(amountText(usd(amount))).toBe(text)
  })

  test('that is not zero is never shown as zero, whatever its size', () => {
    fc.assert(
      fc.property(
        anyAmount.filter(a => a !== 0n),
        fc.integer({ min: 0, max: 12 }),
        (amount, places) => {
          expect(amountText(amount)).toMatch(/[1-9]/)
          expect(amountText(amount, { places })).toMatch(/[1-9]/)
          expect(placesFor(amount)).toBeGreaterThanOrEqual(2)
        },
      ),
    )
    expect(amountText(usd('0.001'), { places: 2 })).toBe('<0.01')
    expect(moneyText(usd('-0.001'), { places: 2 })).toBe('>-$0.01')
  })

  test.each([
    ['1234.5', 'USD', '$1,234.50'],
    ['-0.25', 'EUR', '-€0.25'],
    ['12', 'CHF', 'CHF 12.00'],
    ['1234.5', 'JPY', '¥1,235'],
    ['1.2345', 'KWD', 'KWD 1.235'],
  ])('%s %s is %s', (amount, currency, text) => {
    expect(moneyText(usd(amount), { currency })).toBe(text)
  })
})

test('a column has the places of its total and adds up as it is shown', () => {
  const thirds = [usd('1') / 3n, usd('1') / 3n, usd('1') / 3n, usd('0'), usd('0.0001')]
  expect(columnText(thirds)).toEqual({
    cells: ['$0.34', '$0.33', '$0.33', '$0.00', '<$0.01'],
    total: '$1.00',
    places: 2,
  })
  expect(columnText([usd('0.0035'), usd('0.0032')])).toEqual({
    cells: ['$0.0035', '$0.0032'],
    total: '$0.0067',
    places: 4,
  })
  expect(columnText([usd('1.5')], { currency: 'JPY', places: 0 }).total).toBe('¥2')
})

describe('exchange rates', () => {
  const rates = compileExchange([
    { currency: 'EUR', from: '2026-12-01', perUsd: '0.9' },
    { currency: 'EUR', from: '2026-11-01', perUsd: '0.925' },
    { currency: 'JPY', from: '2026-11-01', perUsd: '155.1234' },
  ])

  test('are those of the day, and before the first there is none', () => {
    expect(rateUsed(rates, 'EUR', '2026-11-30')).toEqual({ from: '2026-11-01', perUsd: '0.925' })
    expect(rateUsed(rates, 'EUR', '2026-12-01')).toEqual({ from: '2026-12-01', perUsd: '0.9' })
    expect(rateUsed(rates, 'USD', '2000-01-01')).toBeUndefined()
    expect(() => rateUsed(rates, 'EUR', '2026-10-31')).toThrow('no exchange rate of EUR for 2026-10-31')
    expect(() => fromUsd(rates, 1n, 'GBP', '2026-12-01')).toThrow('no exchange rate of GBP')
    expect(formatDecimal(fromUsd(rates, usd('10'), 'EUR', '2026-11-30'))).toBe('9.25')
    expect(formatDecimal(toUsd(rates, usd('9.25'), 'EUR', '2026-11-30'))).toBe('10')
    expect(fromUsd(rates, usd('1'), 'USD', '2000-01-01')).toBe(usd('1'))
  })

  test('convert parts so that they add up to the converted whole, over any days', () => {
    const anyRow = fc.record({ day: fc.constantFrom('2026-11-05', '2026-11-30', '2026-12-02'), picoUsd: anyAmount })
    fc.assert(
      fc.property(
        fc.array(fc.array(anyRow, { maxLength: 5 }), { maxLength: 8 }),
        fc.constantFrom('EUR', 'JPY', 'USD'),
        (groups, currency) => {
          const parts = picoParts(groups.map(group => attoIn(rates, currency, group)))
          const whole = picoParts([attoIn(rates, currency, groups.flat())])
          expect(sum(parts.parts)).toBe(whole.total)
          if (currency === 'USD') expect(parts.parts).toEqual(groups.map(group => sum(group.map(row => row.picoUsd))))
        },
      ),
    )
  })

  test('there and back is the same to a pico, as long as a unit is not worth less than it', () => {
    fc.assert(
      fc.property(anyAmount, amount => {
        const back = toUsd(rates, fromUsd(rates, amount, 'EUR', '2026-12-05'), 'EUR', '2026-12-05')
        const off = back - amount
        expect(off >= -1n && off <= 1n).toBe(true)
      }),
    )
  })

  test.each([
    [{ currency: 'eur', from: '2026-11-01', perUsd: '1' }, 'three capital letters'],
    [{ currency: 'USD', from: '2026-11-01', perUsd: '1' }, 'no exchange rate'],
    [{ currency: 'GBP', from: '2026-02-30', perUsd: '1' }, 'has no day'],
    [{ currency: 'GBP', from: 'soon', perUsd: '1' }, 'has no day'],
    [{ currency: 'GBP', from: '2026-11-01', perUsd: '0' }, 'is not a rate'],
    [{ currency: 'GBP', from: '2026-11-01', perUsd: '-1' }, 'is not a rate'],
    [{ currency: 'GBP', from: '2026-11-01', perUsd: '0.1234567' }, 'is not a rate'],
  ])('%j is refused', (entry, message) => {
    expect(() => compileExchange([entry])).toThrow(message)
    expect(() =>
      compileExchange([
        { currency: 'GBP', from: '2026-11-01', perUsd: '1' },
        { currency: 'GBP', from: '2026-11-01', perUsd: '2' },
      ]),
    ).toThrow('two exchange rates')
  })

  test('the smallest paid amount is the currency’s own', () => {
    expect([minorUnit('USD'), minorUnit('JPY'), minorUnit('KWD')]).toEqual([10n ** 10n, 10n ** 12n, 10n ** 9n])
  })
})
