import { describe, expect, it } from 'vitest'
import { currentPlace, isPlace } from '#app/_shell/places.ts'
import { parseTheme } from '#app/_ui/theme.ts'

describe('the navigation', () => {
  it('marks the place shown, and the place above a page beneath it', () => {
    expect(currentPlace('acme', '/acme')).toBe('overview')
    expect(currentPlace('acme', '/acme/approvals')).toBe('approvals')
    expect(currentPlace('acme', '/acme/boundaries/history/12')).toBe('boundaries')
    expect(currentPlace('acme', '/acme/spend/budgets/monthly')).toBe('spend')
  })

  it('marks nothing for a place it does not hold, nor for one that only begins alike', () => {
    for (const path of ['/acme/machines-old', '/acme-two', '/', '/other/approvals']) {
      expect(currentPlace('acme', path), path).toBeUndefined()
    }
  })

  it('knows an address of its own, whatever is asked for there', () => {
    for (const address of ['/acme', '/acme?x=1', '/acme/machines?add', '/acme/approvals/bnd-1?from=mail#top'])
      expect(isPlace('acme', address), address).toBe(true)
    for (const address of ['', '/acme/nothing', '/acme/nothing?at=/acme/machines', '/acme/machinesx'])
      expect(isPlace('acme', address), address).toBe(false)
  })
})

it('a theme cookie that is none of ours means: as the system', () => {
  const values = ['dark', 'light', 'system', 'x"><script>', undefined]
  expect(values.map(parseTheme)).toEqual(['dark', 'light', 'system', 'system', 'system'])
})
