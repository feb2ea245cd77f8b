/** What the command prints, and how. Colour only where a person looks; nothing from outside can move the cursor. */
import { stripVTControlCharacters } from 'node:util'
import { replaceMarks } from '#core/plain-text.ts'

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow'
const CODES: Record<Colour, [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
}

export type Terminal = {
  readonly colour: boolean
  /** One line to standard output. */
  line(text?: string): void
  /** One line to standard error: warnings and questions, never results. */
  note(text: string): void
  /** A result for scripts: one JSON value and a line break. */
  json(value: unknown): void
  /** Exact bytes to standard output. */
  bytes(value: Uint8Array | string): void
  paint(colour: Colour, text: string): string
}

/** Standard output and error. NO_COLOR (any value) and TERM=dumb switch colour off, FORCE_COLOR does not switch it on. */
export function openTerminal(env: Readonly<Record<string, string | undefined>> = process.env): Terminal {
  const colour = Boolean(process.stdout.isTTY) && !env.NO_COLOR && env.TERM !== 'dumb'
  return {
    colour,
    line: (text = '') => void process.stdout.write(`${text}\n`),
    note: text => void process.stderr.write(`${text}\n`),
    json: value => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    bytes: value => void process.stdout.write(value),
    paint: (name, text) => (colour ? `\x1b[${CODES[name][0]}m${text}\x1b[${CODES[name][1]}m` : text),
  }
}

/**
 * Text from outside (the network, a file of another program) as it may be printed: escape sequences, control characters,
 * line breaks and the marks that turn the direction of writing (Unicode bidi controls, zero-width ones) are taken out.
 */
export function plain(text: unknown, max = 2000): string {
  const flat = replaceMarks(stripVTControlCharacters(String(text)).replace(/[\t\r\n]+/g, ' '), '')
  return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat
}

/** Everything that is text in a value from outside, cleaned as {@link plain} does it. */
export function plainDeep<T>(value: T): T {
  if (typeof value === 'string') return plain(value, 20_000) as T
  if (Array.isArray(value)) return value.map(plainDeep) as T
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [plain(key, 200), plainDeep(member)])) as T
  return value
}

/** A moment in this machine's zone, the zone named: `2026-10-12 16:02 CEST`. */
export function localTime(at: string | number | Date | undefined): string {
  const date = new Date(at ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return 'never'
  const two = (n: number) => String(n).padStart(2, '0')
  const zone =
    new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })
      .formatToParts(date)
      .find(part => part.type === 'timeZoneName')?.value ?? ''
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())} ${zone}`.trim()
}

/** A span of time in its largest fitting unit: `40 s`, `5 min`, `3 h`, `2 days`. */
export function span(seconds: number): string {
  const s = Math.max(0, Math.round(seconds))
  if (s < 90) return `${s} s`
  if (s < 90 * 60) return `${Math.round(s / 60)} min`
  if (s < 36 * 3600) return `${Math.round(s / 3600)} h`
  return `${Math.round(s / 86_400)} days`
}

/** Rows with their cells under each other, two spaces between them. Widths count characters without colour. */
export function columns(rows: readonly (readonly string[])[], indent = ''): string[] {
  const width = (cell: string) => [...stripVTControlCharacters(cell)].length
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell))
  return rows.map(row =>
    `${indent}${row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - width(cell)))).join('  ')}`.trimEnd(),
  )
}

/** `1 call`, `3 calls`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`
