import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, parseStrictJson } from '#core/json.ts'

const key = fc.string().filter(k => k !== '__proto__' && !/[\ud800-\udfff]/.test(k))
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string().filter(t => !/[\ud800-\udfff]/.test(t)),
    fc.boolean(),
    fc.maxSafeInteger().filter(n => !Object.is(n, -0)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value

describe('canonical JSON', () => {
  it('is one spelling: parsing and spelling again gives the same bytes, whatever the order of keys', () => {
    fc.assert(
      fc.property(json, value => {
        const text = canonicalJson(value)
        expect(canonicalJson(parseStrictJson(text))).toBe(text)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
  it('sorts keys by UTF-16 code units and escapes as RFC 8785 section 3.2 says', () => {
    const value = {
      '\u20ac': 'Euro',
      '\r': 'CR',
      '\ufb33': 'Dalet',
      '1': 'One',
      '\ud83d\ude00': 'Smiley',
      '\u0080': 'Control',
      '\u00f6': 'o',
    }
    expect(canonicalJson(value)).toBe(
      '{"\\r":"CR","1":"One","\u0080":"Control","\u00f6":"o","\u20ac":"Euro","\ud83d\ude00":"Smiley","\ufb33":"Dalet"}',
    )
    expect(canonicalJson('\u000f\n"\\/é')).toBe('"\\u000f\\n\\"\\\\/é"')
  })
  it('leaves out members that are undefined', () => expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}'))
  it.each([[null], [1.5], [2 ** 53], [-0], [Number.NaN], ['\ud800'], [{ a: null }], [[undefined]], [() => 1]])(
    'has no place for %s',
    value => {
      expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'BAD_INPUT' }))
    },
  )
})

describe('strict JSON', () => {
  it('reads what JSON.parse reads, where no rule of its own is broken', () => {
    fc.assert(
      fc.property(json, value => {
        const text = JSON.stringify(value, null, 1)
        expect(JSON.parse(canonicalJson(parseStrictJson(text)))).toEqual(JSON.parse(text))
      }),
    )
  })
  it('never throws anything but its own refusal', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        try {
          parseStrictJson(text)
        } catch (error) {
          expect(error).toMatchObject({ code: 'BAD_INPUT' })
        }
      }),
    )
  })
  it.each([
    ['{"a":1,"a":2}', 'the key "a" twice'],
    ['{"a":1,"\\u0061":2}', 'the key "a" twice'],
    ['null', 'null'],
    ['[1.0]', 'no safe integer'],
    ['[1e3]', 'no safe integer'],
    ['[-0]', 'no safe integer'],
    ['[9007199254740993]', 'no safe integer'],
    ['[01]', 'no safe integer'],
    ['"\\ud800"', 'surrogate'],
    ['"\\udc00\\ud800"', 'surrogate'],
    ['"a\nb"', 'control character'],
    ['{"__proto__":1}', '__proto__'],
    ['[1,]', 'no value'],
    ['{"a":1,}', 'object key'],
    ['[1] 2', 'after the value'],
    ['', 'no value'],
    ['"open', 'without an end'],
    ['[NaN]', 'no value'],
    [`${'['.repeat(40)}${']'.repeat(40)}`, 'nesting'],
  ])('refuses %s', (text, why) => expect(() => parseStrictJson(text)).toThrow(why))
})
