export type DiffLine = { kind: 'same' | 'added' | 'removed'; text: string; before?: number; after?: number }

// Above this many cells the table would cost more than an exact answer is worth; the middle is then shown as replaced.
const MAX_CELLS = 4_000_000

/** The lines of two texts, in order, each the same, removed or added. Line numbers count from 1. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = toLines(before)
  const b = toLines(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++

  const lines: DiffLine[] = []
  const same = (i: number, j: number) => lines.push({ kind: 'same', text: a[i]!, before: i + 1, after: j + 1 })
  const removed = (i: number) => lines.push({ kind: 'removed', text: a[i]!, before: i + 1 })
  const added = (j: number) => lines.push({ kind: 'added', text: b[j]!, after: j + 1 })

  for (let i = 0; i < head; i++) same(i, i)
  const aEnd = a.length - tail
  const bEnd = b.length - tail
  const reach = (aEnd - head) * (bEnd - head) <= MAX_CELLS ? longestCommon(a, b, head, aEnd, bEnd) : undefined
  let i = head
  let j = head
  while (i < aEnd || j < bEnd) {
    if (reach && i < aEnd && j < bEnd && a[i] === b[j]) same(i++, j++)
    else if (j >= bEnd || (i < aEnd && (!reach || reach(i + 1, j) >= reach(i, j + 1)))) removed(i++)
    else added(j++)
  }
  for (let k = 0; k < tail; k++) same(aEnd + k, bEnd + k)
  return lines
}

function toLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split(/\r?\n/)
  if (lines[lines.length - 1] === '') lines.pop()
  return lines
}

/** Length of the longest common subsequence from (i, j) onward, for every i and j between head and the ends. */
function longestCommon(a: string[], b: string[], head: number, aEnd: number, bEnd: number) {
  const width = bEnd - head + 1
  const table = new Uint32Array((aEnd - head + 1) * width)
  const at = (i: number, j: number) => (i - head) * width + (j - head)
  for (let i = aEnd - 1; i >= head; i--) {
    for (let j = bEnd - 1; j >= head; j--) {
      table[at(i, j)] =
        a[i] === b[j] ? table[at(i + 1, j + 1)]! + 1 : Math.max(table[at(i + 1, j)]!, table[at(i, j + 1)]!)
    }
  }
  return (i: number, j: number) => table[at(i, j)]!
}

export type DiffBlock = { kind: 'lines'; lines: DiffLine[] } | { kind: 'unchanged'; lines: DiffLine[] }

/** Groups lines so that long unchanged stretches can be folded, with `context` lines left around each change. */
export function foldDiff(lines: readonly DiffLine[], context = 3): DiffBlock[] {
  const near = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.kind !== 'same') near.fill(1, Math.max(0, at - context), at + context + 1)
  })
  const blocks: DiffBlock[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at
    while (end < lines.length && near[end] === near[at]) end++
    // Folding one line would save nothing.
    const kind = near[at] || end - at < 2 ? 'lines' : 'unchanged'
    const last = blocks[blocks.length - 1]
    if (last?.kind === 'lines' && kind === 'lines') last.lines.push(...lines.slice(at, end))
    else blocks.push({ kind, lines: lines.slice(at, end) })
    at = end
  }
  return blocks
}
