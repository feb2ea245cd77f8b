/** The name among `names` that a mistyped one is nearest to; undefined when none is near (a third of its letters, at least two). */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const most = Math.max(2, Math.floor(typed.length / 3))
  let best: { name: string; away: number } | undefined
  for (const name of names) {
    const away = name.startsWith(typed) && typed.length > 1 ? 1 : distance(typed, name)
    if (away <= most && (!best || away < best.away)) best = { name, away }
  }
  return best?.name
}

/** How many letters must be put in, taken out or changed (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
