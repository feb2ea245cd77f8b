export type YamlKind = 'plain' | 'key' | 'string' | 'comment' | 'sign'
export type YamlToken = { kind: YamlKind; text: string }

const BLOCK_TEXT = /(?:^|[\s:-])[|>][+-]?\d?\s*(?:#.*)?$/
// In order: a comment at a word's start; a quoted word that is a key; any quoted word; a bare key; signs; anything else.
const TOKEN =
  /((?:^|(?<=\s))#.*$)|((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?=\s*:(?:\s|$)))|("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|([^\s#"'{}[\],:&*!|>%@`-][^\s{}[\],:]*(?:[ ][^\s{}[\],:#]+)*(?=\s*:(?:\s|$)))|(---|\.\.\.|[{}[\],]|-(?=\s|$)|:(?=\s|$))|(\s+|[^\s{}[\],:]+|.)/g
const KINDS: readonly YamlKind[] = ['comment', 'key', 'string', 'key', 'sign', 'plain']

/**
 * Colours for YAML, line by line. Only for the eye: it never judges whether the text is good.
 * The tokens of a line joined together are that line, exactly.
 */
export function colourYaml(text: string): YamlToken[][] {
  let blockIndent = -1
  return text.split('\n').map(line => {
    const indent = line.search(/\S/)
    if (blockIndent >= 0 && (indent < 0 || indent > blockIndent)) return line ? [{ kind: 'string', text: line }] : []
    blockIndent = BLOCK_TEXT.test(line) && indent >= 0 && line[indent] !== '#' ? indent : -1
    return colourLine(line)
  })
}

function colourLine(line: string): YamlToken[] {
  const tokens: YamlToken[] = []
  for (const match of line.matchAll(TOKEN)) {
    const kind = KINDS[match.slice(1).findIndex(group => group !== undefined)] ?? 'plain'
    const last = tokens[tokens.length - 1]
    if (last && last.kind === kind) last.text += match[0]
    else tokens.push({ kind, text: match[0] })
  }
  return tokens
}

/** Cuts tokens at columns, so that a stretch from `from` up to but not including `to` (counted from 0) stands alone. */
export function cutTokens(tokens: readonly YamlToken[], from: number, to: number): (YamlToken & { marked: boolean })[] {
  const cut: (YamlToken & { marked: boolean })[] = []
  let at = 0
  for (const token of tokens) {
    const end = at + token.text.length
    for (const [start, stop] of [
      [at, Math.min(end, from)],
      [Math.max(at, from), Math.min(end, to)],
      [Math.max(at, to), end],
    ] as const) {
      if (stop > start)
        cut.push({
          kind: token.kind,
          text: token.text.slice(start - at, stop - at),
          marked: start >= from && stop <= to,
        })
    }
    at = end
  }
  return cut
}
