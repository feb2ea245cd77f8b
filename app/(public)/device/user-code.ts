/** As the command shows it: eight letters in two groups, upper case, whatever was typed between them. */
export function spellUserCode(typed: string): string {
  const letters = typed
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, 8)
  return letters.length > 4 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : letters
}

/** Whether it is long enough to ask the server about. */
export const isWholeUserCode = (code: string): boolean => /^[A-Z]{4}-[A-Z]{4}$/.test(code)
