import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  type ParsedNode,
  Parser,
} from 'yaml'
import { BOUNDARIES_TEXT_MAX } from '#core/limits.ts'
import { clip } from '#core/plain-text.ts'
import { MAX_DEPTH } from './limits.ts'
import type { Findings, Place, ProblemCode } from './problem.ts'
import type { Tree, TreeEntry } from './tree.ts'

/** A document as the YAML library sees it, for edits in place; `doc` is undefined (with findings) when it is none we take. */
export interface YamlText {
  doc: Document.Parsed | undefined
  lines: LineCounter
}

class TooDeep extends Error {}

/** Parses one YAML 1.2 document. Never throws, and reads nothing that could be a bomb: size and depth come first. */
export function readYaml(text: string, findings: Findings): YamlText {
  const lines = new LineCounter()
  lines.addNewLine(0)
  if (text.length > BOUNDARIES_TEXT_MAX || utf8Length(text) > BOUNDARIES_TEXT_MAX) {
    const remedy = 'keep boundaries in a file of their own, below 256 KiB'
    findings.error({ start: 0, end: 0 }, 'too_large', 'the document is larger than 256 KiB', remedy)
    return { doc: undefined, lines }
  }
  return { doc: compose(text, lines, findings), lines }
}

function compose(text: string, lines: LineCounter, findings: Findings): Document.Parsed | undefined {
  const parser = new Parser(offset => lines.addNewLine(offset))
  // Keys are compared in treeFromYaml: the library's own way takes the square of their number.
  const composer = new Composer({
    version: '1.2',
    uniqueKeys: false,
    merge: false,
    prettyErrors: false,
    keepSourceTokens: true,
  })
  const docs: Document.Parsed[] = []
  try {
    for (const doc of composer.compose(boundedTokens(text, parser), true, text.length))
      docs.push(doc as Document.Parsed)
  } catch (error) {
    const start = Math.min(parser.offset, text.length)
    const at = { start, end: start }
    if (error instanceof TooDeep) {
      findings.error(
        at,
        'too_deep',
        `the document nests more than ${MAX_DEPTH} levels deep`,
        'a rule needs five levels',
      )
    } else {
      findings.error(at, 'yaml', 'the document cannot be read as YAML', 'check the text around this place')
    }
    return undefined
  }
  const [doc, second] = docs
  if (second !== undefined) {
    const start = text.lastIndexOf('---', second.contents?.range[0] ?? second.range[1])
    const at = { start, end: start + 3 }
    findings.error(
      at,
      'yaml',
      'a second YAML document starts here',
      'keep everything in one document, without a second ---',
    )
    return undefined
  }
  for (const error of doc?.errors ?? []) {
    findings.error({ start: error.pos[0], end: error.pos[1] }, ...explainYamlError(error.code, error.message))
  }
  for (const warning of doc?.warnings ?? []) {
    const at = { start: warning.pos[0], end: warning.pos[1] }
    findings.error(at, 'yaml', clip(warning.message), 'leave tags and directives out')
  }
  if (doc !== undefined && doc.directives.yaml.version !== '1.2') {
    const at = { start: 0, end: doc.contents?.range[0] ?? 0 }
    findings.error(
      at,
      'yaml',
      'the document asks for another version of YAML',
      'leave the %YAML line out: this is YAML 1.2',
    )
  }
  return doc
}

/** The parser's tokens, while its stack stays below the depth that is safe to recurse into. */
function* boundedTokens(text: string, parser: Parser) {
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > MAX_DEPTH * 2) throw new TooDeep()
  }
  yield* parser.end()
}

/** What the library's own findings mean in our words: code, message and remedy. */
function explainYamlError(code: string, message: string): [ProblemCode, string, string] {
  const quote = 'put the comparison in quotes, as in ">= 20"'
  if (code === 'TAB_AS_INDENT') return ['yaml', 'a tab is used to indent', 'indent with spaces']
  if (code === 'BAD_SCALAR_START') return ['yaml', 'a value cannot start with this character unquoted', quote]
  if (message.startsWith('Block scalar header includes extra characters: >')) {
    return ['yaml', 'a value cannot start with > unquoted', quote]
  }
  return ['yaml', `not valid YAML: ${clip(message)}`, 'check indentation, quotes and brackets around this place']
}

/** A YAML node as a tree; undefined (with findings) where it holds an alias, an anchor, a tag, a merge key or an odd key. */
export function treeFromYaml(node: ParsedNode | null, at: Place, findings: Findings): Tree | undefined {
  if (node === null) return { kind: 'scalar', value: null, source: '', ...at }
  const place = { start: node.range[0], end: node.range[1] }
  if (isAlias(node)) return refuse(findings, place, 'an alias (*name) is not read here', 'write the value out')
  if (node.anchor !== undefined)
    return refuse(findings, place, 'an anchor (&name) is not read here', 'write the value out where it is needed')
  if (node.tag !== undefined) return refuse(findings, place, 'a tag (!name) is not read here', 'leave the tag out')
  if (isScalar(node)) return scalarFromYaml(node.value, node.source ?? '', place, findings)
  if (isSeq(node)) {
    // An item that was refused is left out, so that the mistakes of the others are found too.
    const items = node.items.flatMap(item => treeFromYaml(item as ParsedNode | null, place, findings) ?? [])
    return { kind: 'list', items, ...place }
  }
  if (isMap(node)) return mapFromYaml(node.items as Pair<ParsedNode | null, ParsedNode | null>[], place, findings)
  return refuse(findings, place, 'this value is not read here', 'write a word, a number, a list or a map')
}

function mapFromYaml(
  pairs: readonly Pair<ParsedNode | null, ParsedNode | null>[],
  place: Place,
  findings: Findings,
): Tree | undefined {
  const entries: TreeEntry[] = []
  const seen = new Set<string>()
  let whole = true
  for (const { key, value } of pairs) {
    const keyAt = key === null ? place : { start: key.range[0], end: key.range[1] }
    if (
      !isScalar(key) ||
      key.value === null ||
      typeof key.value === 'object' ||
      key.anchor !== undefined ||
      key.tag !== undefined
    ) {
      refuse(findings, keyAt, 'a key must be a plain word', 'write a word before the colon')
      whole = false
      continue
    }
    const word = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
    if (seen.has(word))
      findings.error(keyAt, 'duplicate', `${clip(word)} stands twice in one map`, 'keep one of the two')
    seen.add(word)
    const tree = treeFromYaml(value, keyAt, findings)
    if (tree === undefined) whole = false
    else entries.push({ key: word, keyAt, value: tree })
  }
  return whole ? { kind: 'map', entries, ...place } : undefined
}

function scalarFromYaml(value: unknown, source: string, place: Place, findings: Findings): Tree | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'scalar', value, source, ...place }
  }
  return refuse(findings, place, 'this value is not read here', 'write a word or a number')
}

function refuse(findings: Findings, at: Place, message: string, remedy: string): undefined {
  findings.error(at, 'yaml', message, remedy)
  return undefined
}

/** Bytes in UTF-8, counted without making them. */
function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff)) bytes += 2
    else if (unit > 0x7f) bytes += 1
  }
  return bytes
}
