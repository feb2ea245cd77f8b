import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeLines } from '#app/(console)/[org]/boundaries/merge-lines.ts'

const lines = (...all: string[]) => `${all.join('\n')}\n`
const BASE = lines('a', 'b', 'c', 'd', 'e')

test('changes of different lines are both in the result', () => {
  expect(mergeLines(BASE, lines('A', 'b', 'c', 'd', 'e'), lines('a', 'b', 'c', 'd', 'E', 'f'))).toEqual({
    clean: true,
    text: lines('A', 'b', 'c', 'd', 'E', 'f'),
  })
  expect(mergeLines(BASE, lines('b', 'c', 'd', 'e'), lines('a', 'b', 'c', 'new', 'd', 'e'))).toEqual({
    clean: true,
    text: lines('b', 'c', 'new', 'd', 'e'),
  })
})

test('where both changed one line, mine stays and it is said', () => {
  expect(mergeLines(BASE, lines('a', 'b', 'mine', 'd', 'e'), lines('a', 'b', 'theirs', 'd', 'E'))).toEqual({
    clean: false,
    text: lines('a', 'b', 'mine', 'd', 'E'),
  })
})

test('the same change on both sides is one change', () => {
  expect(mergeLines(BASE, lines('a', 'X', 'c', 'd', 'e'), lines('a', 'X', 'c', 'd', 'E'))).toEqual({
    clean: true,
    text: lines('a', 'X', 'c', 'd', 'E'),
  })
})

test('both adding at the end is no clean merge, and nothing of mine is lost', () => {
  const merge = mergeLines(BASE, `${BASE}mine\n`, `${BASE}theirs\n`)
  expect(merge.clean).toBe(false)
  expect(merge.text).toContain('mine')
})

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  .map(all => (all.length === 0 ? '' : lines(...all)))

test('with one side unchanged the result is the other side', () => {
  fc.assert(
    fc.property(text, text, (base, next) => {
      expect(mergeLines(base, next, base).text).toBe(next)
      expect(mergeLines(base, base, next).text).toBe(next)
      expect(mergeLines(base, next, next)).toEqual({ clean: true, text: next })
    }),
  )
})

test('a clean merge does not depend on whose change is whose', () => {
  fc.assert(
    fc.property(text, text, text, (base, mine, theirs) => {
      const one = mergeLines(base, mine, theirs)
      const other = mergeLines(base, theirs, mine)
      expect(one.clean).toBe(other.clean)
      if (one.clean) expect(one.text).toBe(other.text)
    }),
  )
})
