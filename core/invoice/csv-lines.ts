import { nearest, oneOf } from '#core/boundary/problem.ts'
import { readCsv } from '#core/csv.ts'
import { isDay } from '#core/day.ts'
import { AppError } from '#core/error.ts'
import { INVOICE_TEXT_MAX } from '#core/limits.ts'
import { CURRENCY } from '#core/spend/exchange.ts'
import { addLine, type InvoiceLine, picoOf, refuseAt, wordedAs } from './line.ts'

/** What an invoice's own file, or lines entered by hand, may have; `amount` must be there. */
export const INVOICE_COLUMNS = ['day', 'model', 'description', 'amount', 'currency'] as const
type Column = (typeof INVOICE_COLUMNS)[number]

/**
 * Reads a CSV with a head line of {@link INVOICE_COLUMNS} in any order. A cell may be empty, save the amount's.
 * @param currency of lines that name none
 * @throws AppError BAD_INPUT naming line and column
 */
export function readInvoiceCsv(text: string, currency: string): InvoiceLine[] {
  if (text.length > INVOICE_TEXT_MAX) throw new AppError('TOO_LARGE', 'The file is larger than 8 MiB.')
  const read = readCsv(text)
  if ('message' in read) throw refuseAt(`line ${read.line}, column ${read.column}`, read.message)
  const [head, ...rows] = read.rows
  if (!head) throw refuseAt('line 1', `the file is empty; its first line names its columns, ${oneOf(INVOICE_COLUMNS)}`)
  const columns = head.cells.map((cell, i) => readHead(cell, i, head.cells))
  if (!columns.includes('amount')) throw refuseAt(`line ${head.line}`, 'there is no column amount')
  const lines: InvoiceLine[] = []
  for (const { line, cells } of rows) {
    if (cells.length !== columns.length)
      throw refuseAt(`line ${line}`, `it has ${cells.length} cells, the first line has ${columns.length}`)
    const cell = Object.fromEntries(columns.map((column, i) => [column, cells[i]!.trim()])) as Partial<
      Record<Column, string>
    >
    addLine(
      lines,
      readLine(cell, currency, column => `line ${line}, column ${columns.indexOf(column) + 1}`),
    )
  }
  return lines
}

function readHead(cell: string, i: number, all: readonly string[]): Column {
  const name = cell.trim().toLowerCase()
  const place = `line 1, column ${i + 1}`
  if (!(INVOICE_COLUMNS as readonly string[]).includes(name)) {
    const near = nearest(name, INVOICE_COLUMNS)
    throw refuseAt(place, near ? `did you mean ${near}` : `the columns are ${oneOf(INVOICE_COLUMNS)}`)
  }
  if (all.findIndex(other => other.trim().toLowerCase() === name) < i) throw refuseAt(place, `${name} stands twice`)
  return name as Column
}

/** One line from its cells, as a file or a form gives them. @throws AppError BAD_INPUT naming the place that `at` gives */
export function readLine(
  cell: Partial<Record<Column, string>>,
  currency: string,
  at: (column: Column) => string = column => column,
): InvoiceLine {
  const { day, model, description, amount = '' } = cell
  if (day && !isDay(day)) throw refuseAt(at('day'), 'write a day as 2026-11-30')
  if (model && !/^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,99}$/.test(model))
    throw refuseAt(at('model'), 'this is no id of a model')
  const pico = /^-?\d{1,15}(\.\d{1,20})?$/.test(amount) ? picoOf(amount) : undefined
  if (pico === undefined)
    throw refuseAt(at('amount'), 'write an amount as 1234.50, without a sign of a currency or thousands')
  const own = cell.currency || currency
  if (!CURRENCY.test(own)) throw refuseAt(at('currency'), 'a currency is three capital letters, such as USD')
  return { ...(day ? { day } : {}), ...(model ? { model } : {}), ...wordedAs(description), currency: own, pico }
}
