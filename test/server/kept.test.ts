import { expect, it } from 'vitest'
import { keptValues } from '#server/features/kept.ts'

it('what was kept first is forgotten first, and never more is kept than was said', () => {
  const kept = keptValues<number>(2)
  expect(kept.put('a', 1)).toBe(1)
  kept.put('b', 2)
  expect([kept.get('a'), kept.get('b')]).toEqual([1, 2])
  kept.put('c', 3)
  expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([undefined, 2, 3])
})
