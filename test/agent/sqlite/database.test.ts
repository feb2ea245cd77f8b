import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openIfThere, type Unreadable } from '#agent/clients/record-file.ts'
import { type Database, placeOf, type Table } from '#agent/sqlite/database.ts'
import { DatabaseFile } from '#agent/sqlite/database-file.ts'
import { SqliteFailure } from '#agent/sqlite/failure.ts'
import type { SqliteRecord } from '#agent/sqlite/record.ts'
import { OpenDatabase, sql } from './shell.ts'

let folder: string
let file: string
let open: OpenDatabase | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-sqlite-'))
  file = join(folder, 'a.db')
})
afterEach(async () => {
  await open?.kill()
  open = undefined
  rmSync(folder, { recursive: true, force: true })
})

const databaseAt = (path: string) => new DatabaseFile(path, openIfThere)
function readAt<T>(path: string, work: (database: Database) => T): T {
  const read = databaseAt(path).read(database => ({ result: work(database) }))
  if (read === undefined) throw new Error(`no database at ${path}`)
  return read.result
}
const objectOf = (table: Table, record: SqliteRecord) =>
  Object.fromEntries(table.columns.map((column, n) => [column, record.at(n)]))
const tableOf = (database: Database, name: string): Table => {
  const table = database.table(name)
  if (!table) throw new Error(`no table ${name}`)
  return table
}
const rowsOf = (name: string, at = file) =>
  readAt(at, database => {
    const table = tableOf(database, name)
    return [...database.rows(table)].map(row => objectOf(table, row.record))
  })
const numbers = (at = file) => rowsOf('t', at).map(row => row.n)

const REPEAT = (n: number, more = '') => `
  create table t(n int, text text);
  with recursive c(i) as (select 1 union all select i + 1 from c where i < ${n})
  insert into t select i, 'row ' || i ${more} from c;`

describe('a database that rests', () => {
  test('every kind of value is read as SQLite wrote it', () => {
    sql(
      file,
      `create table v(a, b, c, d, e);
       insert into v values (null, 0, 1, -1, 127), (-128, 128, -32768, 8388607, -8388608),
         (2147483647, -2147483648, 140737488355327, -140737488355328, 9007199254740991),
         (9223372036854775807, -9223372036854775808, 1.5, -0.25, 1e300), ('', 'é€𝔸', x'', x'00ff', 'a''b');`,
    )
    expect(rowsOf('v').map(row => [row.a, row.b, row.c, row.d, row.e])).toEqual([
      [null, 0, 1, -1, 127],
      [-128, 128, -32768, 8388607, -8388608],
      [2147483647, -2147483648, 140737488355327, -140737488355328, 9007199254740991],
      [9223372036854775807n, -9223372036854775808n, 1.5, -0.25, 1e300],
      ['', 'é€𝔸', new Uint8Array(), new Uint8Array([0, 255]), "a'b"],
    ])
  })

  test('long rows are read over all their pages, and their short columns without them', () => {
    sql(file, `create table t(n int, long text, last int); insert into t values (1, printf('%.*c', 100000, 'x'), 7);`)
    expect(rowsOf('t')).toEqual([{ n: 1, long: 'x'.repeat(100_000), last: 7 }])
    const seen = readAt(file, database => {
      const [row] = [...database.rows(tableOf(database, 't'))]
      const before = database.pages.bytesRead
      expect(row?.record.at(0)).toBe(1)
      const short = database.pages.bytesRead - before
      expect(row?.record.at(2)).toBe(7)
      return { short, long: database.pages.bytesRead - before }
    })
    expect(seen.short).toBe(0)
    expect(seen.long).toBeGreaterThan(95_000)
  })

  test('columns are found whatever stands beside them in the definition', () => {
    sql(
      file,
      `create table "Odd ""one"""(
         \`first\` text primary key, -- a comment, with a comma
         [second] int default (1 + (2)), /* another, one */ "third" text check ("third" <> ','),
         made int generated always as (second + 1) virtual, fourth, constraint x unique (second, "third"));
       insert into "Odd ""one"""(first, second, third, fourth) values ('a', 5, 'b', 'c');
       alter table "Odd ""one""" add column later text;`,
    )
    expect(rowsOf('odd "one"')).toEqual([{ first: 'a', second: 5, third: 'b', fourth: 'c', later: null }])
  })

  test('a row is found by its number and by an index, and only those asked for', () => {
    sql(
      file,
      `create table t(id text primary key, who text, n int);
       create index t_who on t(who, n);
       with recursive c(i) as (select 1 union all select i + 1 from c where i < 5000)
       insert into t select 'id' || i, 'who' || (i % 7), 5000 - i from c;`,
    )
    readAt(file, database => {
      const t = tableOf(database, 't')
      const found = (where: Record<string, string>, from?: number) =>
        [...database.rowsWhere(t, where, from === undefined ? undefined : { column: 'n', from })].map(
          ({ record }) => record.at(placeOf(t, 'n')) as number,
        )
      expect(t.indexes.map(index => index.name).sort()).toEqual(['sqlite_autoindex_t_1', 't_who'])
      expect(database.row(t, 4321)?.record.at(0)).toBe('id4321')
      expect(database.row(t, 5001)).toBeUndefined()
      expect(found({ id: 'id77' })).toEqual([4923])
      expect(found({ id: 'id5001' })).toEqual([])
      const of3 = Array.from({ length: 5000 }, (_, i) => i + 1).filter(i => i % 7 === 3)
      expect(found({ who: 'who3' })).toEqual(of3.map(i => 5000 - i).reverse())
      expect(found({ who: 'who3' }, 4900)).toEqual(
        of3
          .map(i => 5000 - i)
          .filter(n => n >= 4900)
          .reverse(),
      )
      expect([...database.rows(t, 4999)].map(row => row.rowid)).toEqual([4999, 5000])
    })
  })

  test('an index that leaves rows out, falls or compares otherwise is not used', () => {
    sql(
      file,
      `create table t(a text unique, id text primary key, b text, c text collate nocase);
       create index part on t(b) where b <> 'y'; create index down on t(b desc); create index loose on t(b collate nocase);
       create index made on t(lower(b)); insert into t values ('1', 'x', 'y', 'z'), ('2', 'y', 'Y', 'z');`,
    )
    readAt(file, database => {
      const t = tableOf(database, 't')
      expect(t.indexes).toEqual([])
      expect([...database.rowsWhere(t, { b: 'y' })].map(row => row.record.at(1))).toEqual(['x'])
      expect([...database.rowsWhere(t, { id: 'y' })].map(row => row.record.at(0))).toEqual(['2'])
    })
  })

  test('a table WITHOUT ROWID is read in the order of its key', () => {
    sql(file, `create table k(id text primary key, n int) without rowid; insert into k values ('b', 1), ('a', 2);`)
    const rows = readAt(file, database => [...database.keyedRows(tableOf(database, 'k'))].map(r => r.at(0)))
    expect(rows).toEqual(['a', 'b'])
  })

  test.each([512, 1024, 65536])('pages of %i bytes are read', size => {
    sql(file, `pragma page_size = ${size}; ${REPEAT(2000)}`)
    expect(numbers()).toEqual(Array.from({ length: 2000 }, (_, i) => i + 1))
  })

  test('any table that SQLite writes is read back as it is', { timeout: 60_000 }, () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
      fc.string({ unit: 'grapheme', maxLength: 12 }).filter(text => !text.includes('\0')),
      fc.integer({ min: 0, max: 9000 }).map(length => 'y'.repeat(length)),
      fc.uint8Array({ maxLength: 40 }),
    )
    const literal = (v: unknown) =>
      v === null
        ? 'null'
        : typeof v === 'string'
          ? `'${v.replaceAll("'", "''")}'`
          : typeof v === 'number'
            ? String(v)
            : `x'${Buffer.from(v as Uint8Array).toString('hex')}'`
    const table = fc.record({
      size: fc.constantFrom(512, 1024, 4096),
      rows: fc.array(fc.tuple(value, value, value), { maxLength: 120 }),
      gone: fc.array(fc.nat(119), { maxLength: 40 }),
    })
    let n = 0
    fc.assert(
      fc.property(table, ({ size, rows, gone }) => {
        const at = join(folder, `${n++}.db`)
        sql(
          at,
          `pragma page_size = ${size}; pragma journal_mode = ${n % 2 ? 'wal' : 'delete'};
           create table r(a blob, b blob, c blob); create index r_a on r(a, b); begin;
           ${rows.map(row => `insert into r values (${row.map(literal).join()});`).join('\n')}
           ${gone.map(one => `delete from r where rowid = ${one + 1};`).join('\n')} commit;`,
        )
        const left = rows.flatMap((row, i) => (gone.includes(i) ? [] : [{ rowid: i + 1, row }]))
        readAt(at, database => {
          const t = tableOf(database, 'r')
          const read = [...database.rows(t)].map(({ rowid, record }) => ({
            rowid,
            row: [0, 1, 2].map(c => record.at(c)),
          }))
          expect(read).toEqual(left)
          const [index] = t.indexes
          const inOrder = [...database.entries(index!)].map(entry => database.rowidOf(index!, entry))
          const wanted = sql(at, 'select rowid from r order by a, b, rowid').map(row => row.rowid)
          expect(inOrder).toEqual(wanted)
          for (const { rowid, row } of left.slice(0, 20)) {
            const found = [...database.rowsWhere(t, { a: row[0] }, { column: 'b', from: row[1] })]
            expect(found.map(one => one.rowid)).toContain(rowid)
          }
        })
        rmSync(at)
      }),
      { numRuns: 40 },
    )
  })
})

describe('a database that is being written to', () => {
  test('what is committed in the log is read, what is not is not, and no file changes', async () => {
    open = new OpenDatabase(file)
    await open.run(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${REPEAT(3)}`)
    const reader = databaseAt(file)
    const read = () => reader.read(database => [...database.rows(tableOf(database, 't'))].length)
    const stats = () => ['', '-wal', '-shm'].map(end => statSync(`${file}${end}`, { bigint: true }).mtimeNs)
    const before = stats()
    expect(read()).toBe(3)
    await open.run('begin; insert into t values (4, null);')
    expect(read()).toBe(3)
    await open.run('commit;')
    expect(read()).toBe(4)
    await open.run("update t set text = printf('%.*c', 20000, 'z') where n = 2; delete from t where n = 1;")
    expect(reader.read(db => [...db.rows(tableOf(db, 't'))].map(row => row.record.text(1)?.length))).toEqual([
      20000,
      5,
      undefined,
    ])
    expect(before[0]).toBe(stats()[0])
    // carried over, and the log begun anew
    await open.run('pragma wal_checkpoint(truncate); insert into t values (5, null);')
    expect(read()).toBe(4)
  })

  test('a log that a crash left, cut short anywhere, is read up to its last whole commit', async () => {
    open = new OpenDatabase(file)
    await open.run('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table t(n int, text text);')
    const sizes: number[] = []
    for (let n = 1; n <= 6; n++) {
      await open.run(`insert into t values (${n}, printf('%.*c', ${n * 1500}, 'q'));`)
      sizes.push(statSync(`${file}-wal`).size)
    }
    await open.kill()
    open = undefined
    const log = readFileSync(`${file}-wal`)
    const cut = join(folder, 'cut.db')
    copyFileSync(file, cut)
    for (const size of [...sizes, ...sizes.map(one => one - 1), sizes[2]! + 2000, sizes[4]! + 24]) {
      writeFileSync(`${cut}-wal`, log.subarray(0, size))
      const whole = sizes.filter(one => one <= size).length
      expect(numbers(cut)).toEqual(Array.from({ length: whole }, (_, i) => i + 1))
    }
    // a frame that is damaged ends the log, whatever follows it
    const damaged = Buffer.from(log)
    damaged[sizes[3]! + 100]! ^= 1
    writeFileSync(`${cut}-wal`, damaged)
    expect(numbers(cut)).toEqual([1, 2, 3, 4])
  })

  test('frames of an earlier round of the log are not read', async () => {
    open = new OpenDatabase(file)
    await open.run(
      `pragma journal_mode = wal; ${REPEAT(500)} pragma wal_checkpoint(restart); update t set n = -n where n = 7;`,
    )
    expect(numbers().filter(n => (n as number) < 0)).toEqual([-7])
    expect(numbers()).toHaveLength(500)
  })

  test('a reading is of one moment, however fast the database is written and carried over', {
    timeout: 60_000,
  }, async () => {
    open = new OpenDatabase(file)
    await open.run(`pragma journal_mode = wal; pragma wal_autocheckpoint = 3; pragma synchronous = off; create table t(n int, pad text); create table u(n int, pad text);
      with recursive c(i) as (select 1 union all select i + 1 from c where i < 60)
      insert into t select 0, printf('%.*c', 900, 'p') from c; insert into u select * from t;`)
    // both tables always hold the same number, in all rows
    let round = 0
    let writing = true
    const writer = (async () => {
      while (writing) {
        const statements = Array.from({ length: 20 }, () => {
          round++
          return `begin; update t set n = ${round}; update u set n = ${round}; commit;`
        })
        await open!.run(statements.join('\n'))
      }
    })()
    const reader = databaseAt(file)
    const seen = new Set<number>()
    const look = () => {
      try {
        const values = reader.read(database =>
          ['t', 'u'].flatMap(name =>
            [...database.rows(tableOf(database, name))].map(row => row.record.at(0) as number),
          ),
        )
        if (!values) throw new Error('no database')
        expect(values).toHaveLength(120)
        expect(new Set(values).size).toBe(1)
        seen.add(values[0]!)
      } catch (error) {
        if (!(error instanceof SqliteFailure) || error.problem !== 'moved') throw error
      }
    }
    try {
      while (seen.size < 20 || round < 500) {
        look()
        await new Promise(resolve => setImmediate(resolve))
      }
    } finally {
      writing = false
      await writer
    }
    expect(sql(file, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  test('without a log, a change that is under way is waited for', async () => {
    sql(file, REPEAT(10))
    writeFileSync(`${file}-journal`, 'x')
    expect(() => numbers()).toThrow(expect.objectContaining({ problem: 'moved' }))
    rmSync(`${file}-journal`)
    expect(numbers()).toHaveLength(10)
  })
})

describe('what is no sound database of ours', () => {
  test('is refused with its reason', () => {
    const problem = (at: string) => {
      try {
        return databaseAt(at).read(database => `${[...database.rows(tableOf(database, 't'))].length} rows`) ?? 'missing'
      } catch (error) {
        return (error as Unreadable | SqliteFailure).problem
      }
    }
    sql(file, REPEAT(10))
    const link = join(folder, 'link.db')
    symlinkSync(file, link)
    expect(problem(join(folder, 'none.db'))).toBe('missing')
    expect(problem(link)).toBe('not_a_file')
    expect(problem(folder)).toBe('not_a_file')
    const text = join(folder, 'text.db')
    writeFileSync(text, 'not a database'.repeat(100))
    expect(problem(text)).toBe('corrupt')
    writeFileSync(text, '')
    expect(problem(text)).toBe('missing')
    const wide = join(folder, 'wide.db')
    sql(wide, `pragma encoding = 'UTF-16'; ${REPEAT(1)}`)
    expect(problem(wide)).toBe('unsupported')
    truncateSync(file, 4096)
    expect(problem(file)).toBe('corrupt')
  })

  test('damaged bytes give an error or other rows, and never a walk without an end', { timeout: 60_000 }, () => {
    sql(
      file,
      `pragma page_size = 512; ${REPEAT(400, ", printf('%.*c', i * 3, 'x')").replace('text text', 'text text, long text')}
      create index t_n on t(n, text);`,
    )
    const sound = readFileSync(file)
    const damaged = join(folder, 'damaged.db')
    let failed = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        (changes, atHeads) => {
          const bytes = Buffer.from(sound)
          // heads of pages are where most is decided
          for (const [at, byte] of changes) bytes[atHeads ? at - (at % 512) + (at % 24) : at] = byte
          bytes.set(sound.subarray(0, 40))
          writeFileSync(damaged, bytes)
          try {
            readAt(damaged, database => {
              const t = database.table('t')
              if (!t) return
              for (const { record } of database.rows(t)) for (let n = 0; n < record.length; n++) record.at(n)
              for (const index of t.indexes) for (const entry of database.entries(index)) database.rowidOf(index, entry)
            })
          } catch (error) {
            if (!(error instanceof SqliteFailure)) throw error
            failed++
          }
        },
      ),
      { numRuns: 150 },
    )
    expect(failed).toBeGreaterThan(20)
  })

  test('a row that claims to be longer than its database, or to be nearly all head, takes no memory', () => {
    sql(
      file,
      `pragma page_size = 512; create table t(n int, text text); insert into t values (1, printf('%.*c', 2000, 'x'))`,
    )
    const sound = readFileSync(file)
    const root = Number(sql(file, "select rootpage from sqlite_schema where name = 't'")[0]?.rootpage)
    const cell = (root - 1) * 512 + sound.readUInt16BE((root - 1) * 512 + 8)
    const failure = (damage: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(sound)
      damage(bytes)
      writeFileSync(file, bytes)
      const before = process.memoryUsage().arrayBuffers
      try {
        return `${numbers().length} rows`
      } catch (error) {
        return (error as Error).message
      } finally {
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024)
      }
    }
    /** As much more as leaves the same of it on its own page. */
    const enlarge = (bytes: Buffer) => {
      const size = ((bytes[cell]! & 0x7f) << 7) + bytes[cell + 1]! + 28 * 508
      bytes.writeUInt32BE(0x7fff_ffff, 28)
      bytes.set([0x80 | (size >> 7), size & 0x7f], cell)
    }
    expect(failure(enlarge)).toBe('a row that is longer than its database')
    expect(failure(bytes => bytes.set([0xff, 0xff, 0x7f], cell + 3))).toBe('a record whose head is longer than it')
    expect(failure(() => {})).toBe('1 rows')
  })

  test('a log that says its pages are of an impossible size is none', () => {
    sql(file, 'pragma journal_mode = wal; create table t(n int); insert into t values (7);')
    for (const size of [0xffff_fff8, 0x4000_0000, 131_072, 1000, 256, 8, 3, 0]) {
      const head = Buffer.alloc(32)
      head.writeUInt32BE(0x377f_0683, 0)
      head.writeUInt32BE(3_007_000, 4)
      head.writeUInt32BE(size, 8)
      let [a, b] = [0, 0]
      for (let at = 0; at < 24; at += 8) {
        a = (a + head.readUInt32BE(at) + b) >>> 0
        b = (b + head.readUInt32BE(at + 4) + a) >>> 0
      }
      head.writeUInt32BE(a, 24)
      head.writeUInt32BE(b, 28)
      writeFileSync(`${file}-wal`, Buffer.concat([head, Buffer.alloc(10_000)]))
      expect(numbers(), String(size)).toEqual([7])
      // and so does SQLite
      expect(sql(`file:${file}?mode=ro`, 'select n from t')).toEqual([{ n: 7 }])
    }
  })

  test('definitions that are longer than a program has are not read', () => {
    sql(
      file,
      `create table t(n int); insert into t values (7); create table wide(a text default '${'/*'.repeat(20_000)}')`,
    )
    expect(numbers()).toEqual([7])
    expect(readAt(file, database => database.table('wide'))).toBeUndefined()
  })

  test('a tree that leads back to itself, or to one page many times, is told from one that is large', () => {
    sql(file, `pragma page_size = 512; ${REPEAT(3000)}`)
    const sound = readFileSync(file)
    const root = Number(sql(file, "select rootpage from sqlite_schema where name = 't'")[0]?.rootpage)
    const at = (page: number) => (page - 1) * 512
    const cells = (page: number) =>
      Array.from(
        { length: sound.readUInt16BE(at(page) + 3) },
        (_, n) => at(page) + sound.readUInt16BE(at(page) + 12 + 2 * n),
      )
    const children = (page: number) => [
      ...cells(page).map(cell => sound.readUInt32BE(cell)),
      sound.readUInt32BE(at(page) + 8),
    ]
    /** All that a page leads to is one other. */
    const lead = (bytes: Buffer, page: number, to: number) => {
      for (const cell of cells(page)) bytes.writeUInt32BE(to, cell)
      bytes.writeUInt32BE(to, at(page) + 8)
    }
    const failure = (damage: (bytes: Buffer) => void) => {
      const bytes = Buffer.from(sound)
      damage(bytes)
      writeFileSync(file, bytes)
      try {
        return `${numbers().length} rows`
      } catch (error) {
        return (error as Error).message
      }
    }
    const [first, second] = children(root)
    const [leaf, next] = children(first!)
    expect([sound[at(first!)], sound[at(leaf!)]]).toEqual([5, 13])
    expect(failure(bytes => lead(bytes, root, root))).toBe('a tree that is too deep')
    expect(failure(bytes => lead(bytes, first!, leaf!))).toBe('rows out of their order')
    // without a row, so that no order is broken
    const empty = (bytes: Buffer) => {
      bytes.writeUInt16BE(0, at(next!) + 3)
      lead(bytes, root, first!)
      lead(bytes, first!, second!)
      lead(bytes, second!, next!)
    }
    expect(failure(empty)).toBe('a tree that comes back on itself')
  })
})
