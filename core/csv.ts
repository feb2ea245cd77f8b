/** A cell of a CSV: text is guarded, a number stays a number, a moment is ISO 8601 in UTC, nothing is an empty cell. */
export type CsvValue = string | number | Date | null | undefined

/**
 * A CSV (RFC 4180) with a head line. A text that a spreadsheet would run as a formula gets a quote in front (CWE-1236);
 * numbers, negative ones too, are written as they are.
 */
export function csvText(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows]
    .map(row => row.map(csvCell).join(','))
    .join('\r\n')
    .concat('\r\n')
}

export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : value.toISOString()
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
