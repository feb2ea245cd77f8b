import { describe, expect, it } from 'vitest'
import { costReading, isFresh, percentReading } from '#core/figure.ts'

describe('readings', () => {
  it('are believed up to their age and no longer, in either direction of the clock', () => {
    const at = (source: 'event' | 'status_line' | 'daemon' | 'fleet', ageS: number) =>
      isFresh({ ...costReading(1, 1e9 - ageS * 1000), source }, 1e9)
    expect([at('status_line', 1800), at('status_line', 1801)]).toEqual([true, false])
    expect([at('daemon', 300), at('daemon', 301), at('fleet', 300), at('fleet', 301)]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect([at('daemon', -300), at('daemon', -301)]).toEqual([true, false])
    expect(at('event', 1e6)).toBe(true)
  })

  it('of a percentage are numbers, and an overdrawn plan has nothing left', () => {
    const rest = { observedAt: 0, source: 'status_line' } as const
    expect(percentReading('plan_left_pct', 100 - 95.3, rest)).toMatchObject({ value: 4_700_000, cut: true })
    expect(percentReading('plan_left_pct', -3, rest)).toMatchObject({ value: 0 })
    expect(percentReading('budget_used_pct', Number.NaN, rest)).toBeUndefined()
    expect(percentReading('budget_used_pct', '12.5', rest)).toMatchObject({ value: 12_500_000, unit: 'pct' })
  })
})
