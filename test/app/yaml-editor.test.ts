import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Edit, indentEdit, newlineEdit, outdentEdit } from '#app/_ui/indent.ts'
import { colourYaml, cutTokens } from '#app/_ui/yaml-colours.ts'

const colours = (line: string) =>
  colourYaml(line)[0]!
    .filter(token => token.text.trim())
    .map(token => `${token.kind}:${token.text.trim()}`)
const apply = (text: string, edit: Edit) => text.slice(0, edit.start) + edit.insert + text.slice(edit.end)

describe('colours', () => {
  it('never lose, add or move a character, whatever is typed', () => {
    const odd = fc.string({
      unit: fc.constantFrom('a', ' ', ':', '-', '#', '"', "'", '{', '}', '|', '>', '\n', '\\', 'é', '@', ','),
    })
    fc.assert(
      fc.property(odd, text => {
        expect(
          colourYaml(text)
            .map(line => line.map(token => token.text).join(''))
            .join('\n'),
        ).toBe(text)
      }),
    )
  })

  it('know keys, strings, comments and signs', () => {
    expect(colours('  - name: session-spend')).toEqual(['sign:-', 'key:name', 'sign::', 'plain:session-spend'])
    expect(colours('when: { session_cost_usd: ">= 20" }')).toEqual([
      'key:when',
      'sign::',
      'sign:{',
      'key:session_cost_usd',
      'sign::',
      'string:">= 20"',
      'sign:}',
    ])
    expect(colours('require: approver:lead # twice')).toEqual([
      'key:require',
      'sign::',
      'plain:approver:lead',
      'comment:# twice',
    ])
    expect(colours('note: a#b')).toEqual(['key:note', 'sign::', 'plain:a#b'])
  })

  it('take block text as text until it ends', () => {
    const kinds = colourYaml('note: |\n  key: not one\n\n  # nor this\nname: x').map(line => line[0]?.kind)
    expect(kinds).toEqual(['key', 'string', undefined, 'string', 'key'])
  })

  it('can be cut at the columns of a fault', () => {
    const marked = cutTokens(colourYaml('when: { model_teir: 1 }')[0]!, 8, 18)
    expect(marked.map(token => token.text).join('')).toBe('when: { model_teir: 1 }')
    expect(marked.filter(token => token.marked).map(token => token.text)).toEqual(['model_teir'])
  })
})

describe('indenting', () => {
  it('puts a step in at the cursor, or moves every selected line', () => {
    expect(apply('ab', indentEdit('ab', 1, 1))).toBe('a  b')
    expect(apply('a\nb\n\nc', indentEdit('a\nb\n\nc', 0, 4))).toBe('  a\n  b\n\nc')
  })

  it('takes back with Shift+Tab what Tab did to lines', () => {
    const lines = fc.array(fc.constantFrom('a', '  b: 1', '    - c'), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(lines, rows => {
        const text = rows.join('\n')
        const inward = indentEdit(text, 0, text.length)
        const moved = apply(text, inward)
        expect(apply(moved, outdentEdit(moved, inward.selectStart, inward.selectEnd))).toBe(text)
      }),
    )
  })

  it('never takes more than blanks, and keeps the cursor in its line', () => {
    const edit = outdentEdit('x\n a', 2, 2)
    expect(apply('x\n a', edit)).toBe('x\na')
    expect(edit.selectStart).toBe(2)
  })

  it('opens a new line as deep as YAML wants it', () => {
    const opened = (text: string) => apply(text, newlineEdit(text, text.length, text.length)).slice(text.length)
    expect(opened('  action: continue')).toBe('\n  ')
    expect(opened('when:')).toBe('\n  ')
    expect(opened('note: |')).toBe('\n  ')
    expect(opened('  - name: x')).toBe('\n    ')
    expect(opened('  - when:')).toBe('\n      ')
  })
})
