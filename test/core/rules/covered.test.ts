import { describe, expect, it } from 'vitest'
import { parseLocalDocument, parseRuleDocument } from '#core/rules/document.ts'
import { readSpend, spendToJson } from '#core/rules/json.ts'
import { coverOf, type DeclaredCover, declaredCover, declaredKey } from '#core/usage/declared-cover.ts'

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

describe('covered: of an organisation', () => {
  const TEXT = 'covered:\n  codex: metered\n  claude-code: { 2026-12-01: metered, 2026-01-01: plan }\n'

  it('is signed in one order, read back as it was written, and not there where nothing is said', () => {
    const document = parseRuleDocument(TEXT)
    expect(document.errors).toEqual([])
    const signed = spendToJson(document)
    expect(signed.covered).toEqual([
      { client: 'claude-code', from: '2026-01-01', is: 'plan' },
      { client: 'claude-code', from: '2026-12-01', is: 'metered' },
      { client: 'codex', is: 'metered' },
    ])
    expect(readSpend(signed).covered).toEqual(read(TEXT).covered)
    expect(Object.keys(spendToJson(parseRuleDocument('')))).not.toContain('covered')
    expect(parseRuleDocument('covered: { codex: free }\n').errors).toMatchObject([{ line: 1 }])
  })

  it('of a newer version loses only what cannot be read, and lists it', () => {
    const one = { client: 'codex', is: 'plan' }
    const covered = [one, { client: 'abacus', is: 'plan' }, { ...one, is: 'half' }, { ...one, until: '2027-01-01' }, 5]
    const spend = readSpend({ budgets: [], rateCard: [], attribution: [], covered })
    expect(spend.covered).toEqual({ codex: [{ from: '', is: 'plan' }] })
    expect(spend.unsupported.map(({ section, name }) => [section, name])).toEqual([
      ['covered', 'abacus'],
      ['covered', 'codex'],
      ['covered', 'codex'],
      ['covered', '#5'],
    ])
  })

  it.each<[string, ReturnType<typeof coverOf>['covered'] | undefined, string, string, ReturnType<typeof coverOf>]>([
    ['what the record or the sign-in tells is before both', 'plan', 'metered', 'metered', { covered: 'plan' }],
    [
      'the signed word is before the machine’s own',
      undefined,
      'metered',
      'plan',
      { covered: 'metered', coverBy: 'organisation' },
    ],
    ['an unknown sign-in tells nothing', 'unknown', 'plan', '', { covered: 'plan', coverBy: 'organisation' }],
    [
      'the machine’s own word stands where nobody else speaks',
      undefined,
      '',
      'plan',
      { covered: 'plan', coverBy: 'machine' },
    ],
    ['else nobody knows', undefined, '', '', { covered: 'unknown' }],
  ])('%s', (_, told, organisation, machine, cover) => {
    const say = (word: string): DeclaredCover | undefined =>
      word === '' ? undefined : { codex: [{ from: '', is: word as 'plan' }] }
    const by = { organisation: say(organisation), machine: say(machine) }
    expect(coverOf(told, { client: 'codex', atMs: at('2026-11-30') }, by)).toEqual(cover)
  })

  it('speaks of a client on a day only: before its first day the machine’s own word stands', () => {
    const by = {
      organisation: { codex: [{ from: '2026-12-01', is: 'plan' }] },
      machine: { codex: [{ from: '', is: 'metered' }] },
    } as const
    const on = (day: string) => coverOf(undefined, { client: 'codex', atMs: at(day) }, by)
    expect(on('2026-11-30')).toEqual({ covered: 'metered', coverBy: 'machine' })
    expect(on('2026-12-01')).toEqual({ covered: 'plan', coverBy: 'organisation' })
  })
})
