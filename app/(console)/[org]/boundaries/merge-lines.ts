import { diffLines } from '#app/_ui/line-diff.ts'

export type Merge = { clean: boolean; text: string }

type Change = { from: number; to: number; lines: string[] }

/**
 * Puts two changes of one text together, line by line. Where both changed the same lines, or lines that touch, `clean` is
 * false and the text keeps mine there, so that nothing of the author's is lost; the diff then shows what of theirs is not in it.
 */
export function mergeLines(base: string, mine: string, theirs: string): Merge {
  if (mine === base || mine === theirs) return { clean: true, text: theirs }
  if (theirs === base) return { clean: true, text: mine }
  const lines = linesOf(base)
  const a = changesOf(base, mine)
  const b = changesOf(base, theirs)
  const out: string[] = []
  let at = 0
  let clean = true
  while (a.length > 0 || b.length > 0) {
    const first = [...a.slice(0, 1), ...b.slice(0, 1)].sort((x, y) => x.from - y.from || x.to - y.to)[0]!
    // Grow the stretch until it holds every change of either side that touches it.
    let { from, to } = first
    const ours: Change[] = []
    const others: Change[] = []
    for (let grew = true; grew; ) {
      grew = false
      for (const [queue, taken] of [
        [a, ours],
        [b, others],
      ] as const) {
        while (queue[0] && queue[0].from <= to) {
          const next = queue.shift()!
          taken.push(next)
          from = Math.min(from, next.from)
          to = Math.max(to, next.to)
          grew = true
        }
      }
    }
    out.push(...lines.slice(at, from))
    const my = apply(lines, from, to, ours)
    const their = apply(lines, from, to, others)
    if (ours.length > 0 && others.length > 0 && my.join('\n') !== their.join('\n')) clean = false
    out.push(...(ours.length > 0 ? my : their))
    at = to
  }
  out.push(...lines.slice(at))
  return { clean, text: out.length === 0 ? '' : `${out.join('\n')}\n` }
}

const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Runs of changed lines: base lines [from, to) are replaced. */
function changesOf(base: string, next: string): Change[] {
  const changes: Change[] = []
  let at = 0
  let open: Change | undefined
  for (const line of diffLines(base, next)) {
    if (line.kind === 'same') {
      open = undefined
      at++
      continue
    }
    if (open === undefined) {
      open = { from: at, to: at, lines: [] }
      changes.push(open)
    }
    if (line.kind === 'removed') {
      at++
      open.to = at
    } else open.lines.push(line.text)
  }
  return changes
}

function apply(lines: readonly string[], from: number, to: number, changes: readonly Change[]): string[] {
  const out: string[] = []
  let at = from
  for (const change of changes) {
    out.push(...lines.slice(at, change.from), ...change.lines)
    at = change.to
  }
  out.push(...lines.slice(at, to))
  return out
}
