/** A change to make in a text box: replace [start, end) by `insert`, then select. Positions count UTF-16 units, as the DOM does. */
export type Edit = { start: number; end: number; insert: string; selectStart: number; selectEnd: number }

const STEP = '  '

/** What Tab does: a step in at the cursor, or every selected line one step in. */
export function indentEdit(text: string, start: number, end: number): Edit {
  if (!text.slice(start, end).includes('\n')) {
    return { start, end, insert: STEP, selectStart: start + STEP.length, selectEnd: start + STEP.length }
  }
  return shiftLines(text, start, end, line => (line === '' ? line : STEP + line))
}

/** What Shift+Tab does: every line touched one step out. */
export function outdentEdit(text: string, start: number, end: number): Edit {
  return shiftLines(text, start, end, line => line.replace(/^ {1,2}/, ''))
}

/** What Enter does: a new line as deep as this one, deeper after a colon or a dash's first key. */
export function newlineEdit(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const line = text.slice(lineStart, start)
  const depth = /^ */.exec(line)![0]
  const more = /^ *- +\S.*[^:\s] *$/.test(line) || /:\s*[|>]?[+-]?\s*$/.test(line) ? STEP : ''
  const both = /^ *- .*: *$/.test(line) ? STEP : ''
  const insert = `\n${depth}${more}${both}`
  return { start, end, insert, selectStart: start + insert.length, selectEnd: start + insert.length }
}

function shiftLines(text: string, start: number, end: number, shift: (line: string) => string): Edit {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lastChar = end > start && text[end - 1] === '\n' ? end - 1 : end
  const stop = text.indexOf('\n', lastChar)
  const to = stop < 0 ? text.length : stop
  const lines = text.slice(from, to).split('\n')
  const shifted = lines.map(shift)
  const firstBy = shifted[0]!.length - lines[0]!.length
  const insert = shifted.join('\n')
  const by = insert.length - (to - from)
  return {
    start: from,
    end: to,
    insert,
    selectStart: Math.max(from, start + firstBy),
    selectEnd: Math.max(from, end + by),
  }
}
