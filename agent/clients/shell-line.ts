/**
 * Our program as a line of a POSIX shell, for clients that take no list of arguments. Pure.
 *
 * What the shell adds after the program: without `block` its refusal alone (exit 2) stays one, and whatever else goes wrong
 * (it is gone, its Node is gone, it was killed) ends as the client lets pass; with `block` everything that goes wrong refuses.
 */
import type { WhenBroken } from './hook-editor.ts'

const PLAIN = /^[\w@%+=:,./-]+$/

/** One word of a shell's line, quoted where it must be. */
export const shellWord = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

export type ShellLine = {
  words: readonly string[]
  whenBroken: WhenBroken
  /** The exit code at which the client lets a call run although its hook failed. */
  passExit: 0 | 1
}

const UNJUDGED = 'Holdpoint could not judge this call, and is set to hold what it cannot judge.'

/** The line for a hook that waits for an answer. */
export function pauseLine({ words, whenBroken, passExit }: ShellLine): string {
  const program = plainLine(words)
  return whenBroken === 'block'
    ? `${program} || { [ $? -eq 2 ] || echo '${UNJUDGED}' >&2; exit 2; }`
    : `${program} || exit $(( $? == 2 ? 2 : ${passExit} ))`
}

/** The line for a hook that nobody waits for. */
export const plainLine = (words: readonly string[]): string => words.map(shellWord).join(' ')

/** The words of a line up to its first operator; undefined for what is written another way than ours. */
export function wordsOf(line: string): string[] | undefined {
  const words: string[] = []
  const token = /\s*(?:((?:[\w@%+=:,./-]|'[^']*'|\\')+)|(\|\|.*)$)/sy
  while (token.lastIndex < line.length) {
    const at = token.lastIndex
    const found = token.exec(line)
    if (found === null) return line.slice(at).trim() === '' ? words : undefined
    if (found[1] === undefined) return words
    words.push(found[1].replace(/'([^']*)'|\\(')/g, (_, text: string | undefined, single: string) => text ?? single))
  }
  return words
}
