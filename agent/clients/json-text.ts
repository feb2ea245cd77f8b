/**
 * Edits JSON text in place: every byte that is not concerned stays as it was. Strict JSON only (no comments, no
 * trailing commas, no key twice): what the client itself would read differently is refused. Pure.
 */

export class JsonTextError extends Error {
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(message)
  }
}

export type JsonNode = { start: number; end: number } & (
  | { kind: 'object'; members: { key: string; keyStart: number; value: JsonNode }[] }
  | { kind: 'array'; items: JsonNode[] }
  | { kind: 'scalar'; value: string | number | boolean | null }
)
export type JsonPath = readonly (string | number)[]

const DEPTH_MAX = 100
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const WORD = /true|false|null/y
const SPACE = /[ \t\r\n]*/y

/** Line and column (both from 1) of an offset. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** @throws JsonTextError with the place */
export function parseJsonText(text: string): JsonNode {
  let at = 0
  const fail = (what: string, offset = at): never => {
    const { line, column } = placeOf(text, offset)
    throw new JsonTextError(what, line, column)
  }
  const eat = (re: RegExp): string | undefined => {
    re.lastIndex = at
    const found = re.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  const expect = (char: string) => {
    if (text[at] !== char) fail(at >= text.length ? 'ends too early' : `expected ${char}`)
    at++
  }
  const readString = () => JSON.parse(eat(STRING) ?? fail('expected a string')) as string
  const read = (depth: number): JsonNode => {
    if (depth > DEPTH_MAX) fail('nested too deep')
    eat(SPACE)
    const start = at
    if (text[at] === '{') {
      at++
      const members: { key: string; keyStart: number; value: JsonNode }[] = []
      const keys = new Set<string>()
      eat(SPACE)
      while (text[at] !== '}') {
        if (members.length) expect(',')
        eat(SPACE)
        const keyStart = at
        const key = readString()
        if (keys.has(key)) fail(`the key ${JSON.stringify(key)} stands twice`, keyStart)
        keys.add(key)
        eat(SPACE)
        expect(':')
        members.push({ key, keyStart, value: read(depth + 1) })
        eat(SPACE)
      }
      at++
      return { kind: 'object', start, end: at, members }
    }
    if (text[at] === '[') {
      at++
      const items: JsonNode[] = []
      eat(SPACE)
      while (text[at] !== ']') {
        if (items.length) expect(',')
        items.push(read(depth + 1))
        eat(SPACE)
      }
      at++
      return { kind: 'array', start, end: at, items }
    }
    if (text[at] === '"') {
      const value = readString()
      return { kind: 'scalar', start, end: at, value }
    }
    const word = eat(NUMBER) ?? eat(WORD) ?? fail(at >= text.length ? 'ends too early' : 'expected a value')
    return { kind: 'scalar', start, end: at, value: JSON.parse(word) as number | boolean | null }
  }
  const root = read(0)
  eat(SPACE)
  if (at < text.length) fail('something follows the value')
  return root
}

export function nodeAt(root: JsonNode, path: JsonPath): JsonNode | undefined {
  let node: JsonNode | undefined = root
  for (const step of path) {
    if (node?.kind === 'object') node = node.members.find(m => m.key === step)?.value
    else if (node?.kind === 'array') node = node.items[step as number]
    else return undefined
  }
  return node
}

export function plainOf(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(m => [m.key, plainOf(m.value)]))
    case 'array':
      return node.items.map(plainOf)
    case 'scalar':
      return node.value
  }
}

type Layout = { unit: string; newline: string; lines: boolean }

function layoutOf(text: string): Layout {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  // several levels may stand before the first indented line only in odd files; a tab or up to 8 spaces are believed
  return {
    unit: /^(\t| {1,8})$/.test(unit) ? unit : '  ',
    newline: text.includes('\r\n') ? '\r\n' : '\n',
    lines: text.includes('\n'),
  }
}

const indentAt = (text: string, offset: number) =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))![0]

function print(value: unknown, indent: string, layout: Layout): string {
  if (!layout.lines) return JSON.stringify(value)
  return JSON.stringify(value, null, layout.unit).replaceAll('\n', layout.newline + indent)
}

/** Replaces what stands at `path`, or adds it at the end of its container; containers that lack are made. */
export function setIn(text: string, path: JsonPath, value: unknown): string {
  const root = parseJsonText(text)
  const layout = layoutOf(text)
  const found = nodeAt(root, path)
  if (found)
    return text.slice(0, found.start) + print(value, indentAt(text, found.start), layout) + text.slice(found.end)
  let depth = path.length - 1
  while (nodeAt(root, path.slice(0, depth)) === undefined) depth--
  const container = nodeAt(root, path.slice(0, depth))!
  const made = path.slice(depth + 1).reduceRight<unknown>((v, s) => (typeof s === 'number' ? [v] : { [s]: v }), value)
  const children = container.kind === 'object' ? container.members.map(m => m.keyStart) : itemStarts(container)
  const name = container.kind === 'object' ? `${JSON.stringify(path[depth])}:${layout.lines ? ' ' : ''}` : ''
  const first = children[0]
  if (first === undefined) {
    if (!layout.lines)
      return `${text.slice(0, container.start + 1)}${name}${print(made, '', layout)}${text.slice(container.end - 1)}`
    const outer = indentAt(text, container.start)
    const inner = outer + layout.unit
    const body = `${layout.newline}${inner}${name}${print(made, inner, layout)}${layout.newline}${outer}`
    return text.slice(0, container.start + 1) + body + text.slice(container.end - 1)
  }
  const last =
    container.kind === 'object' ? container.members.at(-1)!.value : (container as { items: JsonNode[] }).items.at(-1)!
  const ownLine = text.slice(container.start, first).includes('\n')
  const inner = ownLine ? indentAt(text, first) : ''
  const gap = ownLine ? layout.newline + inner : layout.lines ? ' ' : ''
  return `${text.slice(0, last.end)},${gap}${name}${print(made, inner, ownLine ? layout : { ...layout, lines: false })}${text.slice(last.end)}`
}

const itemStarts = (node: JsonNode) => (node.kind === 'array' ? node.items.map(i => i.start) : [])

/** Takes away what stands at `path`, with its comma; nothing there: the text as it is. */
export function removeIn(text: string, path: JsonPath): string {
  const root = parseJsonText(text)
  const target = nodeAt(root, path)
  const container = nodeAt(root, path.slice(0, -1))
  if (!target || !container || container.kind === 'scalar') return text
  const spans =
    container.kind === 'object'
      ? container.members.map(m => ({ start: m.keyStart, end: m.value.end, value: m.value }))
      : container.items.map(i => ({ start: i.start, end: i.end, value: i }))
  const i = spans.findIndex(s => s.value === target)
  if (spans.length === 1) return text.slice(0, container.start + 1) + text.slice(container.end - 1)
  if (i === spans.length - 1) return text.slice(0, spans[i - 1]!.end) + text.slice(spans[i]!.end)
  return text.slice(0, spans[i]!.start) + text.slice(spans[i + 1]!.start)
}
