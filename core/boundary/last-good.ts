import { type ParseOptions, parseBoundaries } from './parse.ts'
import type { Problem } from './problem.ts'
import type { BoundaryCase, Rule } from './shape.ts'

export interface LocalRules {
  rules: readonly Rule[]
  tests: readonly BoundaryCase[]
  /** `last-good`: the file is broken and the rules of its last good reading stay in force. `none`: no rules at all. */
  source: 'current' | 'last-good' | 'none'
  /** What is wrong with the file as it stands now. */
  errors: readonly Problem[]
  warnings: readonly Problem[]
}

/**
 * Which local rules are in force. A good file is; a broken one leaves its last good text in force; with
 * none, no local rules. A file that is not there has no rules and is not an error. The organisation's rules are not
 * touched by any of this.
 */
export function chooseLocalRules(input: {
  text: string | undefined
  lastGoodText?: string
  options?: Omit<ParseOptions, 'scope'>
}): LocalRules {
  if (input.text === undefined) return { rules: [], tests: [], source: 'none', errors: [], warnings: [] }
  const options: ParseOptions = { ...input.options, scope: 'local' }
  const { rules, tests, errors, warnings } = parseBoundaries(input.text, options)
  if (errors.length === 0) return { rules, tests, source: 'current', errors, warnings }
  const good = input.lastGoodText === undefined ? undefined : parseBoundaries(input.lastGoodText, options)
  if (good === undefined || good.errors.length > 0) return { rules: [], tests: [], source: 'none', errors, warnings }
  return { rules: good.rules, tests: good.tests, source: 'last-good', errors, warnings }
}
