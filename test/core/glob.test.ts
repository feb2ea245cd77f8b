import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { globMatches } from '#core/glob.ts'

describe('globMatches', () => {
  it.each<[string, string, boolean]>([
    ['a', 'a', true],
    ['a', 'ab', false],
    ['*', '', true],
    ['a*', 'a', true],
    ['*a', 'ba', true],
    ['*a', 'ab', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'aXcYb', false],
    ['claude-code:*my-repo*', 'claude-code:my-repo:s1', true],
    ['claude-code:*my-repo*', 'codex:my-repo', false],
    ['a.c', 'abc', false],
    ['a?c', 'abc', false],
    ['[a]', 'a', false],
    ['', '', true],
    ['', 'a', false],
  ])('%j and %j: %s', (pattern, text, expected) => {
    expect(globMatches(pattern, text)).toBe(expected)
  })

  it('agrees with the regular expression it stands for', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 10 })
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        expect(globMatches(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`).test(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('takes no exponential time', () => {
    expect(globMatches(`${'*a'.repeat(100)}b`, 'a'.repeat(300))).toBe(false)
  })
})
