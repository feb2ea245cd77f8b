import { expect, it } from 'vitest'
import { csvCell, csvText } from '#core/csv.ts'

it('no spreadsheet takes a text for a formula, and numbers stay numbers', () => {
  expect(['=1+1', '@x', '+1', '-1', '\tx', 'plain', -12.5, 3, null, undefined].map(csvCell)).toEqual([
    "'=1+1",
    "'@x",
    "'+1",
    "'-1",
    "'\tx",
    'plain',
    '-12.5',
    '3',
    '',
    '',
  ])
})

it('quotes what would end a cell or a line', () => {
  expect(
    csvText(
      ['a', 'b'],
      [
        ['x,y', 'say "no"'],
        ['two\nlines', new Date(0)],
      ],
    ),
  ).toBe('a,b\r\n"x,y","say ""no"""\r\n"two\nlines",1970-01-01T00:00:00.000Z\r\n')
})
