import { describe, expect, it } from 'vitest'
import { addDays, addMonths, DAY_MS, dayStart, daysOfMonth, isDay, isMonth, monthWords, utcDay } from '#core/day.ts'

describe('days', () => {
  it('are of UTC: the last millisecond of one is before the first of the next', () => {
    expect(utcDay(dayStart('2026-11-30'))).toBe('2026-11-30')
    expect(utcDay(dayStart('2026-11-30') + DAY_MS - 1)).toBe('2026-11-30')
    expect(utcDay(dayStart('2026-11-30') + DAY_MS)).toBe('2026-12-01')
    expect(utcDay(-1)).toBe('1969-12-31')
  })

  it('are those that there are, written in full', () => {
    for (const day of ['2024-02-29', '2000-02-29', '2026-12-31', '0001-01-01']) expect(isDay(day), day).toBe(true)
    for (const text of [
      undefined,
      '',
      '2026-02-30',
      '2026-02-29',
      '2100-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-11-00',
      '2026-11',
      '2026-1-1',
      ' 2026-11-01',
      '2026-11-01\n',
      '2026-11-01T00:00',
      '+02026-11-01',
    ])
      expect(isDay(text), String(text)).toBe(false)
  })

  it('are counted over the ends of months and years', () => {
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
    expect(addDays('2024-03-01', -1)).toBe('2024-02-29')
    expect(addDays('2026-01-01', 365)).toBe('2027-01-01')
  })
})

describe('months', () => {
  it('are counted over the ends of years, in both directions', () => {
    expect(addMonths('2026-12', 1)).toBe('2027-01')
    expect(addMonths('2026-01', -1)).toBe('2025-12')
    expect(addMonths('2026-11', -24)).toBe('2024-11')
  })

  it('are those that there are', () => {
    for (const month of ['2026-01', '2026-12']) expect(isMonth(month), month).toBe(true)
    for (const text of [undefined, '', '2026-00', '2026-13', '2026-1', '2026-11-01', '2026-11\n'])
      expect(isMonth(text), String(text)).toBe(false)
  })

  it('begin with their first day and end before the next one’s', () => {
    expect(daysOfMonth('2024-02')).toEqual({ from: '2024-02-01', to: '2024-03-01' })
    expect(daysOfMonth('2026-12')).toEqual({ from: '2026-12-01', to: '2027-01-01' })
  })

  it('are called by their names', () => {
    expect(monthWords('2026-01')).toBe('January 2026')
    expect(monthWords('2026-12-31')).toBe('December 2026')
  })
})
