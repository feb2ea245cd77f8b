/**
 * What a database holds: its tables and indexes by name, and their rows. Reads; there is no way to write. Names are in lower
 * case; a column that is the rowid itself reads as null.
 */
import { comparePrefix, findRow, indexEntries, type Row, tableRows } from './btree.ts'
import { corrupt, unsupported } from './failure.ts'
import type { Pages } from './pages.ts'
import { compareValues, type SqliteRecord, type SqliteValue } from './record.ts'

const SCHEMA_ROOT = 1
/** More tables and indexes than a program has. */
const OBJECTS_MAX = 10_000
/** Longer definitions, and more of them, than a program has. */
const DEFINITION_MAX = 32 * 1024
const DEFINITIONS_MAX = 4 * 1024 * 1024

export type Index = { name: string; root: number; columns: string[] }
export type Table = { name: string; root: number; columns: string[]; withoutRowid: boolean; indexes: Index[] }

const COMMENT = /('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])|--[^\n]*|\/\*[\s\S]*?\*\//g

/** The parts of a definition between its outer brackets, as far as commas of the outermost level part them. */
function definitionParts(definition: string): string[] {
  const sql = definition.replace(COMMENT, (_, quoted?: string) => quoted ?? ' ')
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let part = ''
  for (const char of sql.slice(sql.indexOf('('))) {
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === "'" || char === '"' || char === '`') quote = char
    else if (char === '[') quote = ']'
    else if (char === '(' && depth++ === 0) continue
    else if (char === ')' && --depth === 0) return [...parts, part.trim()]
    if (char === ',' && depth === 1 && quote === '') {
      parts.push(part.trim())
      part = ''
    } else part += char
  }
  throw corrupt('a definition without an end')
}

/** The name a part begins with; undefined where it begins with none. */
function leadingName(part: string): string | undefined {
  const found = /^(?:`((?:[^`]|``)+)`|"((?:[^"]|"")+)"|\[([^\]]+)\]|'((?:[^']|'')+)'|([A-Za-z_][\w$]*))/.exec(part)
  const name = found?.slice(1).find(one => one !== undefined)
  return name?.replace(/(["`'])\1/g, '$1').toLowerCase()
}

const CONSTRAINT = /^(?:constraint|primary\s+key|unique|check|foreign\s+key)\b/i

/** A computed column that is not stored has no place in a row. */
const isComputed = (part: string) => /\bas\s*\(/i.test(part) && !/\bstored\b/i.test(part)

const columnsOf = (sql: string): string[] =>
  definitionParts(sql)
    .filter(part => !CONSTRAINT.test(part) && !isComputed(part))
    .flatMap(part => leadingName(part) ?? [])

/** Columns of an index whose order is the plain one; undefined where it is another. */
function indexColumns(sql: string): string[] | undefined {
  const close = sql.lastIndexOf(')')
  // a partial index lacks rows
  if (/\bwhere\b/i.test(sql.slice(close))) return undefined
  const parts = definitionParts(sql)
  const names = parts.map(part => (/\b(?:desc|collate)\b/i.test(part) ? undefined : leadingName(part)))
  const isPlain = names.every((name, n) => name !== undefined && !parts[n]!.includes('('))
  return isPlain ? (names as string[]) : undefined
}

/** Columns of the first index that SQLite makes by itself, where that is the one of a key of a single column. */
function keyColumns(sql: string): string[] | undefined {
  const part = definitionParts(sql).find(one => /\b(?:unique|primary\s+key)\b/i.test(one))
  if (part === undefined || CONSTRAINT.test(part) || /\b(?:unique|collate|desc)\b/i.test(part)) return undefined
  const name = leadingName(part)
  return name === undefined ? undefined : [name]
}

/** Where a column's value stands in a row. @throws SqliteFailure */
export function placeOf(table: Table, column: string): number {
  const place = table.columns.indexOf(column)
  if (place < 0) throw unsupported(`no column ${column} in ${table.name}`)
  return place
}

/** An index that begins with these columns. */
export const indexFor = (table: Table, columns: readonly string[]): Index | undefined =>
  table.indexes.find(index => columns.every((column, n) => index.columns[n] === column))

type SchemaRow = { type: string; name: string; table: string; root: number; sql: string | undefined }

function* schemaRows(pages: Pages): Generator<SchemaRow> {
  let count = 0
  let length = 0
  for (const { record } of tableRows(pages, SCHEMA_ROOT)) {
    length += record.size
    if (++count > OBJECTS_MAX || length > DEFINITIONS_MAX) throw corrupt('more tables than there can be')
    // a table that nobody here asks for may be as wide as it likes
    if (record.size > DEFINITION_MAX) continue
    const [type, name, table, root] = [record.text(0), record.text(1), record.text(2), record.number(3)]
    if (type === undefined || name === undefined || table === undefined || !root) continue
    yield { type, name: name.toLowerCase(), table: table.toLowerCase(), root, sql: record.text(4) }
  }
}

export type Tables = ReadonlyMap<string, Table>

/** The tables of a database and their indexes. @throws SqliteFailure */
export function readTables(pages: Pages): Tables {
  const tables = new Map<string, Table>()
  const rows = [...schemaRows(pages)]
  const definitions = new Map(rows.filter(row => row.type === 'table').map(row => [row.name, row.sql]))
  for (const [name, sql] of definitions) {
    if (sql === undefined || !/^\s*create\s+table\b/i.test(sql)) continue
    const withoutRowid = /\bwithout\s+rowid\b/i.test(sql.slice(sql.lastIndexOf(')')))
    const { root } = rows.find(row => row.type === 'table' && row.name === name)!
    tables.set(name, { name, root, columns: columnsOf(sql), withoutRowid, indexes: [] })
  }
  for (const { type, name, table, root, sql } of rows) {
    const of = tables.get(table)
    if (type !== 'index' || of === undefined || of.withoutRowid) continue
    const isKeys = name === `sqlite_autoindex_${table}_1`
    const columns = sql === undefined ? isKeys && keyColumns(definitions.get(table)!) : indexColumns(sql)
    if (columns) of.indexes.push({ name, root, columns })
  }
  return tables
}

export class Database {
  constructor(
    readonly pages: Pages,
    private readonly tables: Tables,
  ) {}

  table(name: string): Table | undefined {
    return this.tables.get(name)
  }

  /** The row with a rowid. @throws SqliteFailure */
  row(table: Table, rowid: number): Row | undefined {
    return findRow(this.pages, table.root, rowid)
  }

  /** Rows in the order of their rowids. @throws SqliteFailure */
  rows(table: Table, from?: number): Generator<Row> {
    return tableRows(this.pages, table.root, from)
  }

  /** Rows of a table WITHOUT ROWID: its key's columns come first. @throws SqliteFailure */
  keyedRows(table: Table): Generator<SqliteRecord> {
    return indexEntries(this.pages, table.root)
  }

  /** Entries of an index from these first values on: its columns, then the rowid. @throws SqliteFailure */
  entries(index: Index, from: readonly SqliteValue[] = []): Generator<SqliteRecord> {
    return indexEntries(this.pages, index.root, from)
  }

  /** The rowid that an entry of an index points to. @throws SqliteFailure */
  rowidOf(index: Index, entry: SqliteRecord): number {
    const rowid = entry.number(index.columns.length)
    if (rowid === undefined) throw corrupt('an entry that points nowhere')
    return rowid
  }

  /**
   * Rows whose columns have these values, and in `then.column` at least `then.from`: in the order of an index that begins with
   * these columns; where none does, all rows are looked through. @throws SqliteFailure
   */
  *rowsWhere(
    table: Table,
    where: Readonly<Record<string, SqliteValue>>,
    then?: { column: string; from: SqliteValue },
  ): Generator<Row> {
    const wanted = Object.keys(where)
    const values = Object.values(where)
    const ordered = then && indexFor(table, [...wanted, then.column])
    const index = ordered ?? indexFor(table, wanted)
    const place = (column: string) => placeOf(table, column)
    const isLate = ({ record }: Row) => !then || compareValues(record.at(place(then.column)), then.from) >= 0
    if (index === undefined) {
      const places = wanted.map(place)
      for (const row of this.rows(table))
        if (places.every((at, n) => compareValues(row.record.at(at), values[n]!) === 0) && isLate(row)) yield row
      return
    }
    for (const entry of this.entries(index, ordered ? [...values, then!.from] : values)) {
      if (comparePrefix(entry, values) !== 0) return
      const row = this.row(table, this.rowidOf(index, entry))
      if (row === undefined) throw corrupt('an entry whose row is not there')
      if (ordered || isLate(row)) yield row
    }
  }
}
