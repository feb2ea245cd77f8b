import fc from 'fast-check'
import { expect, it } from 'vitest'
import { csvCell, csvText, readCsv } from '#core/csv.ts'

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

it('a decimal is written digit by digit, and what only claims to be one is a text', () => {
  expect([{ decimal: '-0.000000000001' }, { decimal: '=1' }, { decimal: '1e3' }].map(csvCell)).toEqual([
    '-0.000000000001',
    "'=1",
    '1e3',
  ])
})

it('reads back what it writes, whatever the cells hold', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', ';') })
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), rows => {
      const read = readCsv(csvText(['x', 'y'], rows))
      if (!('rows' in read)) throw new Error(read.message)
      // a guard in front of a formula is part of the text
      expect(read.rows.map(row => row.cells)).toEqual([
        ['x', 'y'],
        ...rows.map(row => row.map(text => (/^[\r\n]/.test(text) ? `'${text}` : text))),
      ])
    }),
  )
})

it.each([
  ['a,"b\nc', { line: 1, column: 2, message: 'a quote is opened here and never closed' }],
  ['a\n"b"c,d', { line: 2, column: 1, message: 'something follows the closing quote' }],
])('%j is told with its place', (text, fault) => {
  expect(readCsv(text)).toEqual(fault)
})

it('skips a byte order mark and empty lines, and counts the lines of a cell', () => {
  expect(readCsv('\ufeffa,b\n\n"x\ny",2\n3,4')).toEqual({
    rows: [
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['x\ny', '2'] },
      { line: 5, cells: ['3', '4'] },
    ],
  })
})

it('a formula after a line break, or in full width, is a text as well', () => {
  expect(['\n=1', '＝1+1', '＋1', '－1', '＠x'].map(csvCell)).toEqual(['"\'\n=1"', "'＝1+1", "'＋1", "'－1", "'＠x"])
})
