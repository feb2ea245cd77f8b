/**
 * Tables and indexes as trees of pages (https://www.sqlite.org/fileformat2.html#b_tree_pages). Whatever a page says, reading
 * ends: a tree is not deeper than trees get, no walk sees more pages than there are, and no value is longer than a row may be.
 */
import { corrupt, unsupported } from './failure.ts'
import type { Pages } from './pages.ts'
import { compareValues, type Payload, readRowid, readVarint, SqliteRecord, type SqliteValue } from './record.ts'

const DEPTH_MAX = 20
/** Longer rows are no row of a program whose records we read. */
const PAYLOAD_MAX = 256 * 1024 * 1024
const INTERIOR_INDEX = 2
const INTERIOR_TABLE = 5
const LEAF_INDEX = 10
const LEAF_TABLE = 13

type Node = { kind: number; bytes: Uint8Array; cells: number; cellsAt: number; view: DataView }

function readNode(pages: Pages, number: number): Node {
  const bytes = pages.page(number)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const start = number === 1 ? 100 : 0
  const kind = view.getUint8(start)
  const isInterior = kind === INTERIOR_INDEX || kind === INTERIOR_TABLE
  if (!isInterior && kind !== LEAF_INDEX && kind !== LEAF_TABLE) throw corrupt(`page ${number} is of no kind`)
  const cells = view.getUint16(start + 3)
  const cellsAt = start + (isInterior ? 12 : 8)
  if (cellsAt + 2 * cells > pages.usable) throw corrupt(`page ${number} holds more than fits`)
  return { kind, bytes, cells, cellsAt, view }
}

function cellAt(pages: Pages, { view, cellsAt, cells }: Node, n: number): number {
  const at = view.getUint16(cellsAt + 2 * n)
  if (at < cellsAt + 2 * cells || at >= pages.usable) throw corrupt('a cell outside its page')
  return at
}

/** The page below a cell of an interior page; of the last one where `n` is past the cells. */
function childAt(pages: Pages, node: Node, n: number): number {
  if (n >= node.cells) return node.view.getUint32(node.cellsAt - 4)
  const at = cellAt(pages, node, n)
  if (at + 4 > pages.usable) throw corrupt('a cell outside its page')
  return node.view.getUint32(at)
}

/** A cell's bytes: those that stand on the page, and where the rest goes on. */
function readPayload(pages: Pages, node: Node, size: number, at: number, isTable: boolean): Payload {
  if (size > PAYLOAD_MAX) throw unsupported('a row that is too long')
  const { usable } = pages
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const fitting = least + ((size - least) % (usable - 4))
  const held = size <= most ? size : fitting <= most ? fitting : least
  if (at + held + (held < size ? 4 : 0) > usable) throw corrupt('a row that runs out of its page')
  const local = node.bytes.subarray(at, at + held)
  if (held === size) return { size, local, first: () => local }
  if (size > pages.count * usable) throw corrupt('a row that is longer than its database')
  const next = node.view.getUint32(at + held)
  let some = local
  return {
    size,
    local,
    first: bytes => {
      if (some.length < bytes) some = readChain(pages, local, Math.min(bytes, size), next)
      return some
    },
  }
}

/** A long row from its start on, page after page; it ends when there are as many bytes as were asked for. */
function readChain(pages: Pages, local: Uint8Array, size: number, first: number): Uint8Array {
  const all = new Uint8Array(size)
  all.set(local)
  let next = first
  for (let have = local.length; have < size; ) {
    const page = pages.page(next)
    const take = Math.min(size - have, pages.usable - 4)
    all.set(page.subarray(4, 4 + take), have)
    have += take
    next = new DataView(page.buffer, page.byteOffset, 4).getUint32(0)
  }
  return all
}

export type Row = { rowid: number; record: SqliteRecord }

function readRow(pages: Pages, node: Node, n: number): Row {
  const size = readVarint(node.bytes, cellAt(pages, node, n))
  const rowid = readRowid(node.bytes, size.end)
  return {
    rowid: rowid.value,
    record: new SqliteRecord(readPayload(pages, node, size.value, rowid.end, true)),
  }
}

const rowidAt = (pages: Pages, node: Node, n: number): number =>
  readRowid(node.bytes, readVarint(node.bytes, cellAt(pages, node, n)).end).value

/** The rowid beside which an interior page of a table parts what is below: at most it on its left. */
const partingAt = (pages: Pages, node: Node, n: number): number =>
  readRowid(node.bytes, cellAt(pages, node, n) + 4).value

function readEntry(pages: Pages, node: Node, n: number): SqliteRecord {
  const at = cellAt(pages, node, n) + (node.kind === INTERIOR_INDEX ? 4 : 0)
  const size = readVarint(node.bytes, at)
  return new SqliteRecord(readPayload(pages, node, size.value, size.end, false))
}

/** The first of `count` positions for which `isAtOrAfter` holds; `count` when there is none. */
function search(count: number, isAtOrAfter: (n: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAtOrAfter(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Counts the pages of a walk: a sound tree has each of its pages once. */
function stepper(pages: Pages): () => void {
  let left = pages.count
  return () => {
    if (left-- <= 0) throw corrupt('a tree that comes back on itself')
  }
}

function isTableNode({ kind }: Node, wanted: boolean): void {
  if ((kind === INTERIOR_TABLE || kind === LEAF_TABLE) !== wanted) throw corrupt('a page of another tree')
}

/** The row of a table with this rowid. @throws SqliteFailure */
export function findRow(pages: Pages, root: number, rowid: number): Row | undefined {
  let number = root
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const node = readNode(pages, number)
    isTableNode(node, true)
    if (node.kind === INTERIOR_TABLE) {
      const n = search(node.cells, i => partingAt(pages, node, i) >= rowid)
      number = childAt(pages, node, n)
      continue
    }
    const n = search(node.cells, i => rowidAt(pages, node, i) >= rowid)
    const row = n < node.cells ? readRow(pages, node, n) : undefined
    return row?.rowid === rowid ? row : undefined
  }
  throw corrupt('a tree that is too deep')
}

/** The rows of a table in the order of their rowids, those from `from` on. @throws SqliteFailure */
export function* tableRows(pages: Pages, root: number, from = Number.MIN_SAFE_INTEGER): Generator<Row> {
  const step = stepper(pages)
  let last = Number.NEGATIVE_INFINITY
  function* below(number: number, depth: number): Generator<Row> {
    if (depth >= DEPTH_MAX) throw corrupt('a tree that is too deep')
    step()
    const node = readNode(pages, number)
    isTableNode(node, true)
    if (node.kind === LEAF_TABLE) {
      for (let n = search(node.cells, i => rowidAt(pages, node, i) >= from); n < node.cells; n++) {
        const row = readRow(pages, node, n)
        // no row comes twice
        if (row.rowid <= last) throw corrupt('rows out of their order')
        last = row.rowid
        yield row
      }
      return
    }
    for (let n = search(node.cells, i => partingAt(pages, node, i) >= from); n <= node.cells; n++)
      yield* below(childAt(pages, node, n), depth + 1)
  }
  yield* below(root, 0)
}

/** Compares an entry's first values with others; 0 when they are the same as far as `values` go. */
export function comparePrefix(entry: SqliteRecord, values: readonly SqliteValue[]): number {
  for (let n = 0; n < values.length; n++) {
    const order = compareValues(entry.at(n), values[n]!)
    if (order !== 0) return order
  }
  return 0
}

/**
 * The entries of an index, or the rows of a table WITHOUT ROWID, from the first on whose first values are at or after `from`,
 * in their order. Only of indexes that rise and compare bytes. @throws SqliteFailure
 */
export function* indexEntries(pages: Pages, root: number, from: readonly SqliteValue[] = []): Generator<SqliteRecord> {
  const step = stepper(pages)
  function* below(number: number, depth: number): Generator<SqliteRecord> {
    if (depth >= DEPTH_MAX) throw corrupt('a tree that is too deep')
    step()
    const node = readNode(pages, number)
    isTableNode(node, false)
    const first = search(node.cells, i => comparePrefix(readEntry(pages, node, i), from) >= 0)
    for (let n = first; n <= node.cells; n++) {
      if (node.kind === INTERIOR_INDEX) yield* below(childAt(pages, node, n), depth + 1)
      if (n < node.cells) yield readEntry(pages, node, n)
    }
  }
  yield* below(root, 0)
}
