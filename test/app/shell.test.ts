import { describe, expect, it } from 'vitest'
import { currentPlace } from '#app/_shell/places.ts'
import { parseTheme } from '#app/_ui/theme.ts'

describe('the navigation', () => {
  it('marks the place shown, and the place above a page beneath it', () => {
    expect(currentPlace('acme', '/acme')).toBe('overview')
    expect(currentPlace('acme', '/acme/approvals')).toBe('approvals')
    expect(currentPlace('acme', '/acme/boundaries/history/12')).toBe('boundaries')
  })

  it('marks nothing for a place it does not hold, nor for one that only begins alike', () => {
    for (const path of ['/acme/machines-old', '/acme-two', '/', '/other/approvals']) {
      expect(currentPlace('acme', path), path).toBeUndefined()
    }
  })
})

it('a theme cookie that is none of ours means: as the system', () => {
  const values = ['dark', 'light', 'system', 'x"><script>', undefined]
  expect(values.map(parseTheme)).toEqual(['dark', 'light', 'system', 'system', 'system'])
})
