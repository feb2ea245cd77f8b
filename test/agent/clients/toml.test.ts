import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { expect, test } from 'vitest'
import { parseToml, TomlRaw } from '#agent/clients/toml.ts'

/** Numbers and dates as texts on both sides; everything else as it is. */
const flat = (value: unknown): unknown => {
  if (value instanceof TomlRaw || value instanceof Date || typeof value === 'number' || typeof value === 'bigint')
    return '<raw>'
  if (Array.isArray(value)) return value.map(flat)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, flat(member)]))
  return value
}
const same = (text: string): void => {
  expect(flat(parseToml(text)), text).toEqual(flat(parse(text)))
}

const READ = [
  '',
  '# only a comment',
  'a = 1\r\nb = "x"\r\n',
  'a.b.c = true\na.b.d = false\n',
  "\"quoted key\".'other' = 'it\\s'",
  '[features]\nhooks = false # off\n\n[hooks.state."/h/.codex/hooks.json:pre_tool_use:0:0"]\ntrusted_hash = "sha256:ab"\nenabled = true\n',
  '[hooks]\nstate = { "k" = { trusted_hash = "x" }, k2.enabled = false }\n',
  '[[hooks.PreToolUse]]\nmatcher = "x"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\n[[hooks.PreToolUse]]\n',
  'a = [\n  1, # one\n  "two",\n  [ true ],\n  { x = 1 },\n]\n',
  'a = """\nline one\nline \\"two\\" ""quoted""\\\n   joined\n"""\nb = \'\'\'\nraw \\n \'\'it\'\'\n\'\'\'\n',
  'a = """x""""\n',
  'a = "\\u00e9\\U0001F600\\t\\\\"\n',
  'a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00\nc = 0xDEAD_beef\nd = -1.5e+10\ne = inf\nf = 07:32:00\n',
  '[a]\nb.c = 1\n[a.d]\ne = 1\n[x.y.z]\n[x]\n',
  'a = {}\nb = []\n',
  '[projects."/home/d\\u00e9v/x y"]\ntrust_level = "trusted"\n',
]
test.each(READ)('%j is read as another reader reads it', text => same(text))

test.each([
  'a',
  'a =',
  'a = x',
  'a = "x',
  'a = [1, 2',
  'a = { b = 1',
  'a = 1 b = 2',
  'a = 1\na = 2',
  '[a]\n[a]',
  '[a\nb = 1',
  'a = { b = 1 }\na.c = 2',
  'a = [1]\n[[a]]',
  'a = "\\x"',
  'a = 1\n[a.b]',
  '= 1',
])('%j is refused, as by another reader', text => {
  expect(() => parse(text)).toThrow()
  expect(() => parseToml(text)).toThrow(/^line \d+: /)
})

test('whatever is written down is read back', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter(one => !one.includes('\r'))
  const value = fc.letrec(tie => ({
    value: fc.oneof({ maxDepth: 3 }, text, fc.boolean(), fc.integer(), tie('table'), fc.array(text, { maxLength: 3 })),
    table: fc.dictionary(fc.oneof(text, fc.constantFrom('a', 'b', 'a-b_1')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  })).table as fc.Arbitrary<Record<string, unknown>>
  fc.assert(
    fc.property(value, table => same(stringify(table))),
    { numRuns: 300 },
  )
})

test('a name from a prototype is a name like any other', () => {
  const read = parseToml('[__proto__]\nhooks = false\n[constructor]\nx = "y"\n')
  expect(Object.keys(read)).toEqual(['__proto__', 'constructor'])
  expect(({} as { hooks?: unknown }).hooks).toBeUndefined()
})

test('text that nests without end, or repeats itself, is read or refused in no time', () => {
  const began = performance.now()
  expect(() => parseToml(`a = ${'['.repeat(100_000)}`)).toThrow('nested too deep')
  expect(() => parseToml(`a = """${'"" '.repeat(100_000)}`)).toThrow()
  expect(parseToml(`a = "${'\\\\'.repeat(200_000)}"`).a).toHaveLength(200_000)
  expect(performance.now() - began).toBeLessThan(5000)
})
