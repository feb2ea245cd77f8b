import { describe, expect, it } from 'vitest'
import { plain } from '#agent/terminal.ts'
import { clip, isPlainLine, isPlainWord, plainName } from '#core/plain-text.ts'
import { headerText } from '#server/email/layout.ts'

/** A line break, an escape, a delete, C1, marks of direction and of zero width, separators, a byte order mark, annotation. */
const MARKS = [
  '\n',
  '\u001b',
  '\u007f',
  '\u009b',
  '\u061c',
  '\u200b',
  '\u200f',
  '\u2028',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\ufffa',
]

describe.each(MARKS.map(mark => [mark.charCodeAt(0).toString(16), mark]))('the character %s', (_, mark) => {
  const text = `Ana${mark}Evil`
  it('passes neither as a line nor as a word of a rule', () => {
    expect(isPlainLine(text)).toBe(false)
    expect(isPlainWord(text)).toBe(false)
    expect(isPlainLine('Ana Evil')).toBe(true)
    expect(isPlainWord('AnaEvil')).toBe(true)
  })
  it('reaches no page, no header of a mail, no terminal and no message', () => {
    for (const shown of [plainName, headerText, plain, clip]) expect(shown(text)).not.toContain(mark)
  })
})

it('a name loses line breaks, control and direction characters', () =>
  expect(plainName('Ev\r\nil\u202e \u200bname\u0000')).toBe('Ev il name'))
