import { type Findings, nearest, oneOf } from '#core/boundary/problem.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from '#core/boundary/tree.ts'
import { isDay } from '#core/day.ts'
import { clip } from '#core/plain-text.ts'
import { FIRST_DAY, LAST_DAY, PLACES } from './limits.ts'

/** Readers of single values. Each gives undefined, with a finding, for what it refuses. */

/** What is written, when it is one word, number or text; undefined for nothing, true, false, a list or a map. */
export function writtenText(tree: Tree): string | undefined {
  if (tree.kind !== 'scalar' || tree.value === null || typeof tree.value === 'boolean') return undefined
  return typeof tree.value === 'string' ? tree.value : tree.source
}

/** A map, or undefined with a finding that says what to write. */
export function readMap(tree: Tree, what: string, example: string, findings: Findings): TreeMap | undefined {
  if (tree.kind === 'map') return tree
  findings.error(tree, 'wrong_kind', `${what} is a map of keys, not ${describeTree(tree)}`, `write ${example}`)
  return undefined
}

/** The entry of a key that must be there. */
export function required(map: TreeMap, key: string, what: string, remedy: string, findings: Findings) {
  const entry = entryOf(map, key)
  if (entry === undefined) findings.error(map.entries[0]?.keyAt ?? map, 'missing', `${what} has no ${key}`, remedy)
  return entry
}

/** A list's items, or one value alone. */
export const oneOrMore = (tree: Tree): readonly Tree[] => (tree.kind === 'list' ? tree.items : [tree])

/** One of a fixed list of words. */
export function readChoice<T extends string>(
  { key, value }: Pick<TreeEntry, 'key' | 'value'>,
  words: readonly T[],
  findings: Findings,
): T | undefined {
  const text = writtenText(value)
  const found = words.find(word => word === text)
  if (found !== undefined) return found
  const near = text === undefined ? undefined : nearest(text, words)
  const remedy = near === undefined ? `use ${oneOf(words)}` : `did you mean ${near}?`
  findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, remedy)
  return undefined
}

/**
 * An exact, plain, non-negative decimal in its shortest form: `500.00` is `500`. Read as it is written, so that no digit passes
 * through a binary number. `max` in whole units.
 */
export function readDecimal(
  { key, value }: Pick<TreeEntry, 'key' | 'value'>,
  max: number,
  findings: Findings,
  places = PLACES,
): string | undefined {
  const text = writtenText(value)
  const match = text === undefined ? null : /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text)
  if (text === undefined || match === null) {
    const bare = (text ?? '').replace(/[$€£,_\s]|USD|EUR|GBP/gi, '')
    const negative = /^-\d/.test(text ?? '')
    const remedy = /^\d+(?:\.\d+)?$/.test(bare) ? `write "${bare}"` : 'write a plain decimal such as "500.00"'
    const said = negative ? `${key} lies between 0 and ${max}, not at` : `${key} is a plain decimal number, not`
    findings.error(value, negative ? 'out_of_range' : 'bad_value', `${said} ${describeTree(value)}`, remedy)
    return undefined
  }
  const whole = match[1]!.replace(/^0+(?=\d)/, '')
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > places) {
    const message = `${key} has more than ${places} decimal places`
    findings.error(value, 'bad_value', message, `use ${places} decimal places at most`)
    return undefined
  }
  // Of the same length digits compare as text; what lies between `max` and the next whole number is above it too.
  const limit = String(max)
  const over = whole.length > limit.length || (whole.length === limit.length && whole >= limit)
  if (over && !(whole === limit && fraction === '')) {
    findings.error(
      value,
      'out_of_range',
      `${key} lies between 0 and ${max}, not at ${clip(text)}`,
      `use at most ${max}`,
    )
    return undefined
  }
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** A whole number in a range. */
export function readWhole(
  tree: Tree,
  key: string,
  least: number,
  most: number,
  findings: Findings,
): number | undefined {
  const text = writtenText(tree)
  const n = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
  if (n !== undefined && n >= least && n <= most) return n
  const code = n === undefined ? 'bad_value' : 'out_of_range'
  const remedy = `use a whole number from ${least} to ${most}`
  findings.error(tree, code, `${key} cannot be ${describeTree(tree)}`, remedy)
  return undefined
}

/** A day, as `2026-12-01`. */
export function readDay({ key, value }: Pick<TreeEntry, 'key' | 'value'>, findings: Findings): string | undefined {
  const text = writtenText(value)
  if (text === undefined || !isDay(text)) {
    findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, 'write a date as 2026-12-01')
    return undefined
  }
  if (text >= FIRST_DAY && text < LAST_DAY) return text
  findings.error(value, 'out_of_range', `${key} lies between ${FIRST_DAY} and ${LAST_DAY}`, 'correct the year')
  return undefined
}
