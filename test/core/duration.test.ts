import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeDuration, formatDuration, parseDuration } from '#core/duration.ts'

describe('durations', () => {
  it('are read and written in one spelling', () => {
    expect(parseDuration('1h30m')).toBe(5400)
    expect(parseDuration('90m')).toBe(5400)
    expect(parseDuration('1d')).toBe(86_400)
    expect(formatDuration(5400)).toBe('1h30m')
    expect(describeDuration(5401)).toBe('1 hour 30 minutes 1 second')
    for (const odd of ['', '0m', '5', '5 m', '-5m', '1.5h', '30m1h', '5M', 'h', '1h1h'])
      expect(parseDuration(odd), odd).toBeUndefined()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), s => {
        expect(parseDuration(formatDuration(s))).toBe(s)
      }),
    )
  })
})
