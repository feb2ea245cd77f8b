import { describe, expect, it } from 'vitest'
import { parseLocalDocument } from '#core/rules/document.ts'
import { declaredCover, declaredKey } from '#core/usage/declared-cover.ts'

const read = (text: string) => parseLocalDocument(text, { zone: 'UTC' })
const at = (day: string) => Date.parse(`${day}T12:00:00Z`)

describe('covered: in config.yaml', () => {
  it('holds for ever as a word, from a day on as a map, in whatever order that is written', () => {
    const { covered, errors } = read(
      'covered:\n  codex: metered\n  claude-code: { 2026-12-01: metered, 2026-01-01: plan }\n',
    )
    expect(errors).toEqual([])
    expect(declaredCover(covered, 'codex', 0)).toBe('metered')
    expect(declaredCover(covered, 'claude-code', at('2025-12-31'))).toBeUndefined()
    expect(declaredCover(covered, 'claude-code', at('2026-01-01'))).toBe('plan')
    expect(declaredCover(covered, 'claude-code', at('2026-11-30'))).toBe('plan')
    expect(declaredCover(covered, 'claude-code', at('2026-12-01'))).toBe('metered')
    expect(declaredCover(covered, 'gemini', at('2026-12-01'))).toBeUndefined()
    expect(declaredCover(undefined, 'codex', 0)).toBeUndefined()
  })

  it.each([
    ['a client that nobody knows', 'covered:\n  claud-code: plan\n', 2, 'did you mean claude-code?'],
    ['another word', 'covered:\n  codex: free\n', 2, 'use plan or metered'],
    ['unknown, which nobody need declare', 'covered:\n  codex: unknown\n', 2, 'use plan or metered'],
    ['a day that is none', 'covered:\n  codex:\n    2026-02-30: plan\n', 3, 'write a first day such as 2026-12-01'],
    ['no days', 'covered:\n  codex: {}\n', 2, 'use 1 to 50 first days'],
    ['a list', 'covered: [codex]\n', 1, 'write covered: { claude-code: plan }'],
  ])('refuses %s, with its line', (_, text, line, remedy) => {
    expect(read(text).errors).toMatchObject([{ line, remedy }])
  })

  it('is absent where nothing is declared, and one text names one declaration', () => {
    expect(read('covered:\n').covered).toBeUndefined()
    expect(read('boundaries: []\n').covered).toBeUndefined()
    const key = (text: string) => declaredKey(read(text).covered)
    expect(key('covered: { codex: plan, gemini: plan }\n')).toBe(key('covered: { gemini: plan, codex: plan }\n'))
    expect(key('covered: { codex: plan }\n')).not.toBe(key('covered: { codex: metered }\n'))
    expect(key('')).toBe('')
  })
})
