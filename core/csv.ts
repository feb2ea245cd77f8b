/** A number that no binary number holds: written digit by digit. */
export type CsvDecimal = { decimal: string }
/** A cell of a CSV: text is guarded, a number stays a number, a moment is ISO 8601 in UTC, nothing is an empty cell. */
export type CsvValue = string | number | CsvDecimal | Date | null | undefined

/**
 * A CSV (RFC 4180) with a head line. A text that a spreadsheet would run as a formula gets a quote in front (CWE-1236);
 * numbers, negative ones too, are written as they are.
 */
export function csvText(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map(csvLine).join('')
}

/** What spreadsheets take for the start of a formula: also after a line break, and in full width, as East Asian ones read it. */
const FORMULA = /^[\t\r\n]|^[=+\-@\uff1d\uff0b\uff0d\uff20]/

/** One line with its end. */
export const csvLine = (cells: readonly CsvValue[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** One cell, quoted where it must be. A text that a spreadsheet would run is guarded by an apostrophe. */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  // what claims to be a decimal and is none is a text, and guarded like one
  if (typeof value === 'object' && 'decimal' in value && /^-?\d+(\.\d+)?$/.test(value.decimal)) return value.decimal
  const text = typeof value === 'string' ? value : 'decimal' in value ? value.decimal : value.toISOString()
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A place in a CSV: lines and columns of cells, from 1. */
export type CsvFault = { line: number; column: number; message: string }

/**
 * Reads a CSV (RFC 4180; lines may also end in a line feed alone, a byte order mark is skipped) into rows of cells. Empty lines are
 * left out. What is not one is told with its place, and nothing is given then.
 */
export function readCsv(text: string): { rows: { line: number; cells: string[] }[] } | CsvFault {
  const rows: { line: number; cells: string[] }[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  while (at < text.length) {
    const start = line
    const cells: string[] = []
    for (;;) {
      let cell = ''
      if (text[at] === '"') {
        const open = { line, column: cells.length + 1 }
        for (at++; ; at++) {
          if (at >= text.length) return { ...open, message: 'a quote is opened here and never closed' }
          if (text[at] === '"' && text[at + 1] === '"') at++
          else if (text[at] === '"') break
          if (text[at] === '\n') line++
          cell += text[at]
        }
        at++
        if (at < text.length && !/[,\r\n]/.test(text[at]!))
          return { line, column: cells.length + 1, message: 'something follows the closing quote' }
      } else while (at < text.length && !/[,\r\n]/.test(text[at]!)) cell += text[at++]
      cells.push(cell)
      if (text[at] !== ',') break
      at++
    }
    if (text[at] === '\r') at++
    if (text[at] === '\n') at++
    line++
    if (cells.length > 1 || cells[0] !== '') rows.push({ line: start, cells })
  }
  return { rows }
}
