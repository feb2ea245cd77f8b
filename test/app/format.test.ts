import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatCount,
  formatDateTime,
  formatDay,
  formatDuration,
  formatList,
  formatMoney,
  formatPercent,
  formatPlural,
  formatRelative,
  formatTimeLeft,
} from '#app/_ui/format.ts'

/** Results keep their numbers and units together by a no-break space; here it reads as a plain one. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ')
const MIN = 60_000
const HOUR = 60 * MIN
const DAY = 24 * HOUR
const noon = new Date('2026-11-30T12:00:00Z')
const from = (ms: number) => new Date(noon.getTime() + ms)

describe('money', () => {
  it('shows two places, thousands and the currency', () => {
    expect(formatMoney('8412.37', 'USD')).toBe('$8,412.37')
    expect(formatMoney('20', 'EUR')).toBe('€20.00')
    expect(formatMoney('-3.5', 'USD')).toBe('−$3.50')
  })

  it('keeps every digit of an amount that a floating number would round', () => {
    expect(formatMoney('90071992547409931.07', 'USD')).toBe('$90,071,992,547,409,931.07')
    expect(formatMoney('0.1234567890123456789', 'USD', 19)).toBe('$0.1234567890123456789')
  })

  it('never shows a small amount as nought', () => {
    expect(formatMoney('0.0042', 'USD')).toBe('$0.0042')
    expect(formatMoney('-0.000042137', 'USD')).toBe('−$0.000042')
    expect(formatMoney('1e-7', 'USD')).toBe('$0.0000001')
    expect(formatMoney('0', 'USD')).toBe('$0.00')
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 0, max: 12 }), (units, scale) => {
        expect(formatMoney(`${units}e-${scale}`, 'USD')).toMatch(/[1-9]/)
      }),
    )
  })

  it('refuses what is no decimal amount', () => {
    for (const bad of ['', 'abc', '1,000', 'NaN', 'Infinity', '1.', '$5']) {
      expect(() => formatMoney(bad, 'USD'), bad).toThrow(RangeError)
    }
  })
})

describe('numbers', () => {
  it('writes shares with a space before the sign and a true minus', () => {
    expect(plain(formatPercent(0.369))).toBe('36.9 %')
    expect(plain(formatPercent(-0.004))).toBe('−0.4 %')
    expect(plain(formatPercent(1, 0))).toBe('100 %')
    expect(plain(formatPercent(-0.00001))).toBe('0.0 %')
    expect(formatPercent(Number.NaN)).toBe('–')
  })

  it('counts with thousands marks and the right form of the noun', () => {
    expect(formatCount(18204)).toBe('18,204')
    expect(formatCount(12345678901234567890n)).toBe('12,345,678,901,234,567,890')
    expect(plain(formatPlural(1, 'machine'))).toBe('1 machine')
    expect(plain(formatPlural(0, 'machine'))).toBe('0 machines')
    expect(plain(formatPlural(2, 'boundary', 'boundaries'))).toBe('2 boundaries')
  })

  it('joins names as a sentence does', () => {
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(names => formatList(names))).toEqual([
      '',
      'a',
      'a and b',
      'a, b and c',
    ])
  })
})

describe('spans of time', () => {
  it('uses the two greatest units and cuts, never rounds up', () => {
    const cases: [number, string][] = [
      [340, '340 ms'],
      [12_999, '12 s'],
      [MIN + 12_000, '1 min 12 s'],
      [47 * MIN, '47 min'],
      [2 * HOUR + 5 * MIN + 59_000, '2 h 5 min'],
      [3 * DAY + 4 * HOUR, '3 d 4 h'],
      [-5000, '−5 s'],
    ]
    for (const [ms, text] of cases) expect(plain(formatDuration(ms))).toBe(text)
  })

  it('says how long ago in one unit, and the day after a month', () => {
    const cases: [number, string][] = [
      [-44_000, 'just now'],
      [-50_000, '1 min ago'],
      [-3.9 * MIN, '3 min ago'],
      [-25 * HOUR, '1 d ago'],
      [2 * HOUR, 'in 2 h'],
      [-31 * DAY, '30 Oct 2026'],
    ]
    for (const [ms, text] of cases) expect(plain(formatRelative(from(ms), noon))).toBe(text)
  })

  it('never says there is time left when there is none, nor the reverse', () => {
    expect(plain(formatTimeLeft(from(47 * MIN + 59_000), noon))).toBe('47 min left')
    expect(plain(formatTimeLeft(from(72_000), noon))).toBe('1 min 12 s left')
    expect(plain(formatTimeLeft(from(2 * HOUR + 5 * MIN), noon))).toBe('2 h 5 min left')
    expect(plain(formatTimeLeft(from(1), noon))).toBe('1 s left')
    expect(formatTimeLeft(from(0), noon)).toBe('time is up')
    expect(formatTimeLeft(from(-DAY), noon)).toBe('time is up')
  })
})

describe('moments', () => {
  it('follows the zone asked for, over midnight and summer time', () => {
    const late = new Date('2026-07-22T23:40:05Z')
    expect(formatDateTime(late, 'UTC')).toBe('22 Jul 2026, 23:40')
    expect(formatDateTime(late, 'Europe/Berlin')).toBe('23 Jul 2026, 01:40')
    expect(formatDateTime(late, 'Asia/Kolkata', true)).toBe('23 Jul 2026, 05:10:05')
    expect(formatDay(late, 'America/New_York')).toBe('22 Jul 2026')
    expect(formatDateTime(new Date('2026-01-01T00:00:00Z'), 'UTC')).toBe('01 Jan 2026, 00:00')
  })

  it('has the same length at every moment and in every zone, so that nothing moves when the zone is applied', () => {
    const zones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/New_York', 'Pacific/Auckland']
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2020-01-01'), max: new Date('2039-12-30'), noInvalidDate: true }),
        fc.constantFrom(...zones),
        (at, zone) => {
          expect(formatDateTime(at, zone)).toHaveLength('30 Nov 2026, 13:23'.length)
        },
      ),
    )
  })
})
