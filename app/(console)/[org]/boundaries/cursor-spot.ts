import { type CST, Parser } from 'yaml'

/** What a map holds, as far as it is written: keys with the text of their values, empty where there is none. */
export type Written = ReadonlyMap<string, string>

/** Where the cursor stands in a rule set, and what is begun there. */
export type Spot = {
  /** A key is being written, or a key's value. */
  part: 'key' | 'value'
  /** The keys above it, lists left out: `[]`, `['boundaries']`, `['boundaries', 'when']`. */
  path: readonly string[]
  /** Whose value it is. */
  key?: string
  /** What has been written of it up to the cursor, without quotes. */
  word: string
  /** The stretch that a suggestion takes the place of. */
  from: number
  to: number
  /** The other keys of the map that it stands in. */
  beside: Written
  /** The keys of the rule or the case around it; `beside` where it is one of them. */
  item: Written
  /** The names of the rules in the whole document. */
  ruleNames: readonly string[]
}

/** Stands for what is being written while the document is read; no document of ours may hold it. */
const MARK = '\uE000'

/**
 * Where a cursor stands, in a text that need not be finished: the YAML library's own tolerant parser reads it, with a mark put
 * where the word is. Undefined in comments, in block text and in places that no rule set has.
 * @param at offset in UTF-16 units
 */
export function spotAt(text: string, at: number): Spot | undefined {
  const stretch = stretchAt(text, at)
  if (stretch === undefined || text.includes(MARK)) return undefined
  const { from, to } = stretch
  const marked = text.slice(0, from) + MARK + text.slice(to)
  let root: CST.Token | undefined
  try {
    for (const token of new Parser().parse(marked)) if (token.type === 'document') root ??= token.value
  } catch {
    return undefined // no text should throw; one that does gets no suggestions
  }
  const place = root && findMark(root, [], [], marked)
  if (place === undefined) return undefined
  const { maps, ...rest } = place
  const beside = place.open ? new Map<string, string>() : (maps.at(-1) ?? new Map<string, string>())
  return {
    part: rest.part,
    path: rest.path,
    ...(rest.key === undefined ? {} : { key: rest.key }),
    ...stretch,
    beside,
    item: maps[1] ?? beside,
    ruleNames: root === undefined ? [] : namesIn(root),
  }
}

/** The word at the cursor within its line: a quoted one whole, a bare one up to the next sign. */
function stretchAt(text: string, at: number): Pick<Spot, 'from' | 'to' | 'word'> | undefined {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  const lineEnd = text.indexOf('\n', at)
  const before = text.slice(lineStart, at)
  const after = text.slice(at, lineEnd < 0 ? text.length : lineEnd)
  const open = openQuote(before)
  if (open === 'comment') return undefined
  if (open !== undefined) {
    const closing = after.indexOf(open.quote)
    // A quote further on may belong to another word.
    const own = closing >= 0 && !/[,{}[\]]/.test(after.slice(0, closing))
    const from = lineStart + open.at
    return { from, to: at + (own ? closing + 1 : 0), word: before.slice(open.at + 1) }
  }
  // A comparison that somebody began without its quote is one word, blanks included.
  const bare = /(?<=:\s+)[<>=]+ ?[^\s{}[\],#]*$/.exec(before) ?? /[^\s{}[\],"'#]*$/.exec(before)
  const word = bare?.[0] ?? ''
  const rest = /^[^\s{}[\],:"'#]*/.exec(after)?.[0] ?? ''
  return { from: at - word.length, to: at + rest.length, word }
}

/** The quote that is still open at the end of a line's beginning, or that a comment has begun there. */
function openQuote(before: string): { quote: '"' | "'"; at: number } | 'comment' | undefined {
  let open: { quote: '"' | "'"; at: number } | undefined
  for (let i = 0; i < before.length; i++) {
    const char = before[i]!
    if (open !== undefined) {
      if (char === '\\' && open.quote === '"') i++
      else if (char === open.quote) open = undefined
    } else if (char === '#' && (i === 0 || /\s/.test(before[i - 1]!))) return 'comment'
    else if ((char === '"' || char === "'") && (i === 0 || /[\s{[,:]/.test(before[i - 1]!)))
      open = { quote: char, at: i }
  }
  return open
}

type Place = {
  part: 'key' | 'value'
  path: readonly string[]
  key?: string
  maps: readonly Written[]
  /** A map is about to begin here, and has no key yet. */
  open?: boolean
}

function findMark(
  token: CST.Token,
  path: readonly string[],
  maps: readonly Written[],
  text: string,
): Place | undefined {
  if (isMark(token)) return { part: 'key', path, maps, open: true }
  if (token.type === 'block-seq' || (token.type === 'flow-collection' && token.start.source === '[')) {
    for (const { key, value } of token.items) {
      const item = value ?? key
      const place = item && findMark(item, path, maps, text)
      if (place) return place
    }
    return undefined
  }
  if (token.type !== 'block-map' && token.type !== 'flow-collection') return undefined
  const inside = [...maps, writtenIn(token)]
  for (const { key, value } of token.items) {
    if (key && isMark(key)) return { part: 'key', path, maps: inside }
    if (!value) continue
    const name = sourceOf(key)
    if (isMark(value)) {
      const between = key ? text.slice(key.offset, value.offset) : ''
      // On a line of its own, what is begun is the first key of a map beneath this one.
      if (between.includes('\n')) return { part: 'key', path: [...path, name], maps: inside, open: true }
      return { part: 'value', path, key: name, maps: inside }
    }
    const place = findMark(value, [...path, name], inside, text)
    if (place) return place
  }
  return undefined
}

const isMark = (token: CST.Token): boolean => 'source' in token && token.source === MARK

function writtenIn({ items }: CST.BlockMap | CST.FlowCollection): Written {
  return new Map(
    items.flatMap(({ key, value }) => (key && !isMark(key) ? [[sourceOf(key), sourceOf(value)] as const] : [])),
  )
}

/** What a scalar says, its quotes left out; empty for anything else. */
function sourceOf(token: CST.Token | null | undefined): string {
  if (!token || !('source' in token)) return ''
  return token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar'
    ? token.source.slice(1, -1)
    : token.source
}

function namesIn(root: CST.Token): string[] {
  if (root.type !== 'block-map' && root.type !== 'flow-collection') return []
  const list = root.items.find(({ key }) => sourceOf(key) === 'boundaries')?.value
  if (list?.type !== 'block-seq' && list?.type !== 'flow-collection') return []
  return list.items.flatMap(({ key, value }) => {
    const item = value ?? key
    const name = item && (item.type === 'block-map' || item.type === 'flow-collection') && writtenIn(item).get('name')
    return name ? [name] : []
  })
}
