import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffLine, diffLines, foldDiff } from '#app/_ui/line-diff.ts'

const sides = (lines: readonly DiffLine[]) => ({
  before: lines.filter(line => line.kind !== 'added').map(line => line.text),
  after: lines.filter(line => line.kind !== 'removed').map(line => line.text),
})
const text = fc.array(fc.constantFrom('a', 'b', 'c', '', '  d: 1'), { maxLength: 14 })
const asText = (lines: string[]) => lines.map(line => `${line}\n`).join('')

/** The length of the longest common subsequence, by the plainest recursion. */
function common(a: string[], b: string[], i = 0, j = 0, seen = new Map<string, number>()): number {
  if (i === a.length || j === b.length) return 0
  const key = `${i},${j}`
  const known = seen.get(key)
  if (known !== undefined) return known
  const length =
    a[i] === b[j]
      ? 1 + common(a, b, i + 1, j + 1, seen)
      : Math.max(common(a, b, i + 1, j, seen), common(a, b, i, j + 1, seen))
  seen.set(key, length)
  return length
}

describe('diffLines', () => {
  it('tells both texts whole, in order, with their line numbers', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const lines = diffLines(asText(a), asText(b))
        expect(sides(lines)).toEqual({ before: a, after: b })
        for (const line of lines) {
          if (line.before !== undefined) expect(a[line.before - 1]).toBe(line.text)
          if (line.after !== undefined) expect(b[line.after - 1]).toBe(line.text)
        }
      }),
    )
  })

  it('changes as few lines as can be', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const same = diffLines(asText(a), asText(b)).filter(line => line.kind === 'same').length
        expect(same).toBe(common(a, b))
      }),
    )
  })

  it('shows a replaced line as removed, then added', () => {
    const kinds = diffLines('a\nb\nc\n', 'a\nX\nc\n').map(line => `${line.kind} ${line.text}`)
    expect(kinds).toEqual(['same a', 'removed b', 'added X', 'same c'])
  })

  it('stays whole where the texts are too long for an exact answer', () => {
    const a = Array.from({ length: 2500 }, (_, at) => `a${at}`)
    const b = Array.from({ length: 2500 }, (_, at) => `b${at}`)
    expect(sides(diffLines(asText(a), asText(b)))).toEqual({ before: a, after: b })
  })
})

describe('foldDiff', () => {
  it('folds only unchanged lines, loses none, and keeps those near a change in sight', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const lines = diffLines(asText([...a, ...'0123456789']), asText([...b, ...'0123456789']))
        const blocks = foldDiff(lines, 2)
        expect(blocks.flatMap(block => block.lines)).toEqual(lines)
        for (const block of blocks) {
          if (block.kind === 'unchanged') expect(block.lines.every(line => line.kind === 'same')).toBe(true)
        }
      }),
    )
    const blocks = foldDiff(diffLines('1\n2\n3\n4\n5\n6\n', '1\n2\n3\n4\n5\nX\n'), 2)
    expect(blocks.map(block => [block.kind, block.lines.map(line => line.text).join('')])).toEqual([
      ['unchanged', '123'],
      ['lines', '456X'],
    ])
  })
})
