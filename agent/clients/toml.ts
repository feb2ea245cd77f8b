/** Reads TOML (toml.io, v1.0.0), for the few settings in it that we look at. Numbers and dates stay as they are written. Pure. */

export type TomlValue = string | boolean | TomlRaw | TomlValue[] | TomlTable
export type TomlTable = { [key: string]: TomlValue }
/** A number or a date: nothing that is looked at is one. */
export class TomlRaw {
  constructor(readonly text: string) {}
}

export class TomlError extends Error {}

const SPACE = /[ \t]*/y
/** Blank lines and comments. */
const GAP = /(?:[ \t\r\n]|#[^\n]*)*/y
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y
const BARE_KEY = /[A-Za-z0-9_-]+/y
const RAW = /[+-]?(?:inf|nan|[0-9][0-9A-Za-z_.:+-]*(?: [0-9][0-9A-Za-z_.:+-]*)?)/y
const BASIC = /"((?:[^"\\\n]|\\.)*)"/y
const LITERAL = /'([^'\n]*)'/y
const LONG_BASIC = /"""(?:\r?\n)?((?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{0,2})"""/y
const LONG_LITERAL = /'''(?:\r?\n)?((?:[^']|'{1,2}(?!'))*'{0,2})'''/y
const ESCAPE = /\\(?:([btnfr"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([ \t]*\r?\n[ \t\r\n]*)|([\s\S]))/g
const LETTERS: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', '"': '"', '\\': '\\' }
const DEPTH_MAX = 100

const isTable = (value: unknown): value is TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof TomlRaw)

const newTable = (): TomlTable => Object.create(null)

class Reader {
  private at = 0
  private readonly root = newTable()
  /** Tables that a header has named, and those written in one line: neither is named again. */
  private readonly closed = new Set<unknown>()
  /** Lists of tables, which alone a header may add to. */
  private readonly lists = new Set<unknown>()

  constructor(private readonly text: string) {}

  read(): TomlTable {
    let table = this.root
    for (this.eat(GAP); this.at < this.text.length; this.eat(GAP)) {
      if (this.text[this.at] === '[') table = this.header()
      else this.pair(table, 0)
      if (this.eat(LINE_END) === undefined) this.fail('something follows the value')
    }
    return this.root
  }

  private fail(what: string): never {
    throw new TomlError(`line ${this.text.slice(0, this.at).split('\n').length}: ${what}`)
  }

  private eat(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.at
    const found = form.exec(this.text)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }

  private take(mark: string): boolean {
    if (!this.text.startsWith(mark, this.at)) return false
    this.at += mark.length
    return true
  }

  private header(): TomlTable {
    const isList = this.take('[[')
    if (!isList) this.take('[')
    const path = this.key()
    if (!this.take(isList ? ']]' : ']')) this.fail('the header does not end')
    const last = path.pop()!
    let table = this.root
    for (const name of path) table = this.below(table, name, true)
    if (isList) {
      const list = this.open(table, last, () => this.newList())
      if (!Array.isArray(list) || !this.lists.has(list)) this.fail(`${last} is no list of tables`)
      const added = newTable()
      list.push(added)
      return added
    }
    const found = this.open(table, last, newTable)
    if (!isTable(found) || this.closed.has(found)) this.fail(`${last} stands twice`)
    this.closed.add(found)
    return found
  }

  private open(table: TomlTable, name: string, make: () => TomlValue): TomlValue {
    table[name] ??= make()
    return table[name]
  }

  private newList(): TomlValue[] {
    const list: TomlValue[] = []
    this.lists.add(list)
    return list
  }

  /** The table of a name, made where there is none; of a list of tables the newest, where a header leads through it. */
  private below(table: TomlTable, name: string, isHeader: boolean): TomlTable {
    const found = this.open(table, name, newTable)
    const newest = isHeader && Array.isArray(found) && this.lists.has(found) ? found.at(-1) : found
    if (!isTable(newest) || (!isHeader && this.closed.has(newest))) this.fail(`${name} is no table here`)
    return newest
  }

  private key(): string[] {
    const path: string[] = []
    do {
      this.eat(SPACE)
      const bare = this.eat(BARE_KEY)
      if (bare) path.push(bare[0])
      else {
        const quoted = this.eat(LITERAL)
        const basic = quoted ? undefined : this.eat(BASIC)
        if (quoted) path.push(quoted[1]!)
        else path.push(basic ? this.unescape(basic[1]!) : this.fail('expected a key'))
      }
      this.eat(SPACE)
    } while (this.take('.'))
    return path
  }

  private pair(into: TomlTable, depth: number): void {
    const path = this.key()
    if (!this.take('=')) this.fail('expected =')
    this.eat(SPACE)
    const last = path.pop()!
    let table = into
    for (const name of path) table = this.below(table, name, false)
    if (last in table) this.fail(`${last} stands twice`)
    table[last] = this.value(depth)
  }

  private value(depth: number): TomlValue {
    if (depth > DEPTH_MAX) this.fail('nested too deep')
    const basic = this.eat(LONG_BASIC) ?? (this.text.startsWith('"""', this.at) ? undefined : this.eat(BASIC))
    if (basic) return this.unescape(basic[1]!)
    const literal = this.eat(LONG_LITERAL) ?? (this.text.startsWith("'''", this.at) ? undefined : this.eat(LITERAL))
    if (literal) return literal[1]!
    if (this.take('[')) return this.list(depth + 1)
    if (this.take('{')) return this.inline(depth + 1)
    if (this.take('true')) return true
    if (this.take('false')) return false
    const raw = this.eat(RAW)
    return raw ? new TomlRaw(raw[0]) : this.fail('expected a value')
  }

  private list(depth: number): TomlValue[] {
    const list: TomlValue[] = []
    for (this.eat(GAP); !this.take(']'); this.eat(GAP)) {
      if (list.length > 0) {
        if (!this.take(',')) this.fail('expected , or ]')
        this.eat(GAP)
        if (this.take(']')) return list
      }
      list.push(this.value(depth))
    }
    return list
  }

  private inline(depth: number): TomlTable {
    const table = newTable()
    this.eat(SPACE)
    if (!this.take('}')) {
      do {
        this.pair(table, depth)
        this.eat(SPACE)
      } while (this.take(','))
      if (!this.take('}')) this.fail('expected , or }')
    }
    this.close(table)
    return table
  }

  private close(value: TomlValue): void {
    this.closed.add(value)
    if (isTable(value)) for (const member of Object.values(value)) this.close(member)
  }

  private unescape(text: string): string {
    return text.replace(ESCAPE, (_, letter?: string, short?: string, long?: string, gap?: string) => {
      if (letter !== undefined) return LETTERS[letter]!
      if (gap !== undefined) return ''
      const code = Number.parseInt(short ?? long ?? '', 16)
      if (Number.isNaN(code) || code > 0x10ffff) this.fail('an escape that is none')
      return String.fromCodePoint(code)
    })
  }
}

/** A text's tables, without a prototype. @throws TomlError */
export const parseToml = (text: string): TomlTable => new Reader(text.replace(/^\uFEFF/, '')).read()
