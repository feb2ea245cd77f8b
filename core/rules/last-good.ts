import { type LocalDocument, parseLocalDocument } from './document.ts'

/** What is in force of config.yaml, and what is wrong with it as it stands now. */
export interface LocalInForce extends LocalDocument {
  /** `last-good`: the file is broken and what its last good reading said stays in force. `none`: nothing of it is. */
  source: 'current' | 'last-good' | 'none'
}

/**
 * Which local boundaries and budgets are in force. A good file is; a broken one leaves its last good text in force; with none,
 * nothing of it. A file that is not there says nothing and is not an error. The organisation's rules are not touched by any of this.
 */
export function chooseLocalDocument(input: {
  text: string | undefined
  lastGoodText?: string
  options: Parameters<typeof parseLocalDocument>[1]
}): LocalInForce {
  const nothing = { rules: [], tests: [], budgets: [], source: 'none' as const }
  if (input.text === undefined) return { ...nothing, errors: [], warnings: [] }
  const now = parseLocalDocument(input.text, input.options)
  if (now.errors.length === 0) return { ...now, source: 'current' }
  const { errors, warnings } = now
  const good = input.lastGoodText === undefined ? undefined : parseLocalDocument(input.lastGoodText, input.options)
  if (good === undefined || good.errors.length > 0) return { ...nothing, errors, warnings }
  return { ...good, source: 'last-good', errors, warnings }
}
