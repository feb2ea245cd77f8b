/** The difference of two short texts, line by line, for showing before a file is changed. */

/** Lines that changed, marked `-` and `+`, with up to two equal ones around them; `⋯` where lines are left out. */
export function lineDiff(before: string, after: string, around = 2): string[] {
  const a = lines(before)
  const b = lines(after)
  const marked = mark(a, b)
  const near = marked.map((_, i) => marked.slice(Math.max(0, i - around), i + around + 1).some(line => line[0] !== ' '))
  const out: string[] = []
  marked.forEach((line, i) => {
    if (near[i]) out.push(line)
    else if (out.length > 0 && out.at(-1) !== '⋯' && near.slice(i).some(Boolean)) out.push('⋯')
  })
  return out
}

const lines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** The longest common run of lines, by the classic table; settings files have hundreds of lines at most. */
function mark(a: string[], b: string[]): string[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--)
      table[i]![j] = a[i] === b[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!)
  }
  const out: string[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(` ${a[i]}`)
      i++
      j++
    } else if (i < a.length && (j >= b.length || table[i + 1]![j]! >= table[i]![j + 1]!)) out.push(`-${a[i++]}`)
    else out.push(`+${b[j++]}`)
  }
  return out
}
