/**
 * True when the whole of `text` matches `pattern`, in which `*` stands for any run of characters, the empty one
 * included, and every other character for itself (case counts). Linear in practice and never exponential: only the
 * last `*` is ever tried again, because an earlier one cannot help where a later one failed.
 */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let starAt = -1
  let resumeAt = 0
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      starAt = p++
      resumeAt = t
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p++
      t++
    } else if (starAt >= 0) {
      p = starAt + 1
      t = ++resumeAt
    } else {
      return false
    }
  }
  while (p < pattern.length && pattern[p] === '*') p++
  return p === pattern.length
}
