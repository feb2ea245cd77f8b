import type { Suggestion, Suggestions } from '#app/_ui/suggestion.ts'
import { MAX_APPROVALS } from '#core/boundary/limits.ts'
import { SECTIONS } from '#core/boundary/parse.ts'
import { CASE_KEYS } from '#core/boundary/read-case.ts'
import { FALLBACK_KEYS, FOR_KEYS } from '#core/boundary/read-extras.ts'
import { RULE_KEYS } from '#core/boundary/read-rule.ts'
import { ACTIONS, conditionsFor, isAction, ON_UNKNOWN, SELF_ANSWERS, STAGES } from '#core/boundary/shape.ts'
import { FIGURE_NAMES, FIGURES, isFigureName, PLAN_WINDOWS } from '#core/figure.ts'
import { ROLES } from '#core/role.ts'
import { type Spot, spotAt } from './cursor-spot.ts'
import { comparatorsFor, startingValue, valuesFor } from './rule-words.ts'
import {
  ACTION_HELP,
  CASE_KEY_HELP,
  COMPARATOR_HELP,
  FALLBACK_KEY_HELP,
  FIGURE_HELP,
  FOR_KEY_HELP,
  RULE_KEY_HELP,
  SECTION_HELP,
  VALUE_HELP,
} from './schema-words.ts'

type Offer = Suggestion & {
  /** A value made up to be changed: offered only before anything of one's own is written. */
  example?: boolean
}

/**
 * What can stand at the cursor, from the tables that the parser reads. As somebody types only what they have begun, and what
 * belongs after a colon or into braces; when asked for, everything.
 * @param at offset of the cursor in UTF-16 units
 */
export function completeRules(text: string, at: number, asked: boolean): Suggestions | undefined {
  const spot = spotAt(text, at)
  if (spot === undefined) return undefined
  if (spot.word === '' && !asked && spot.part === 'key' && !/[{,]\s*$/.test(lineBefore(text, spot.from)))
    return undefined
  const items = matching(offersAt(spot, text), spot.word)
  if (items.length === 0 || (items.length === 1 && items[0]!.label === spot.word.trim())) return undefined
  return { from: spot.from, to: spot.to, items: items.map(({ example: _, ...item }) => item) }
}

const lineBefore = (text: string, at: number) => text.slice(text.lastIndexOf('\n', at - 1) + 1, at)

/** Those that begin with what was written come first; then those of which a part does: `cost` finds `session_cost_usd`. */
function matching(offers: readonly Offer[], written: string): Offer[] {
  const plain = (words: string) => words.toLowerCase().replaceAll(' ', '')
  const word = plain(written)
  if (word === '') return [...offers]
  const left = offers.filter(({ example }) => !(example && /\d/.test(word)))
  const begins = left.filter(({ label }) => plain(label).startsWith(word))
  const holds = left.filter(({ label }) => label.split(/[\s_:-]/).some(part => part.toLowerCase().startsWith(word)))
  return [...begins, ...holds.filter(offer => !begins.includes(offer))]
}

function offersAt(spot: Spot, text: string): Offer[] {
  const where = spot.path.join('.')
  if (spot.part === 'value') return own(VALUES, where)?.(spot) ?? []
  const hasColon = text[spot.to] === ':'
  const keys = own(KEYS, where)?.(spot) ?? []
  return keys
    .filter(([key]) => !spot.beside.has(key))
    .map(([key, help]) => ({ label: key, help, ...(hasColon ? { insert: key } : begun(where, key)) }))
}

/** What a key brings with it: its colon, and braces or a list where it takes them. */
function begun(where: string, key: string): Pick<Offer, 'insert' | 'back' | 'more'> {
  if (where === '') return { insert: `${key}:\n  - `, more: true }
  if (['when', 'figures', 'for', 'fallback'].includes(key)) return { insert: `${key}: {  }`, back: 2, more: true }
  if (where === 'boundaries.for') return { insert: `${key}: []`, back: 1 }
  return { insert: `${key}: `, more: true }
}

/** What a table has itself: somebody may write `constructor`, which every object knows. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

type Named = readonly (readonly [string, string])[]
const named = <K extends string>(keys: readonly K[], help: Readonly<Record<K, string>>): Named =>
  keys.map(key => [key, help[key]])

/** Which keys a place takes. */
const KEYS: Readonly<Record<string, (spot: Spot) => Named>> = {
  '': () => named(SECTIONS, SECTION_HELP),
  boundaries: () => RULE_KEYS.map(key => [key, RULE_KEY_HELP[key].help]),
  'boundaries.when': figures,
  'boundaries.for': () => named(FOR_KEYS, FOR_KEY_HELP),
  'boundaries.fallback': () => named(FALLBACK_KEYS, FALLBACK_KEY_HELP),
  tests: () => named(CASE_KEYS, CASE_KEY_HELP),
  'tests.figures': figures,
}

/** The figures that the rule's action is judged by, with the word that narrows one that is there. */
function figures({ item, beside }: Spot): Named {
  const action = item.get('action')
  const known = isAction(action) ? conditionsFor(action) : FIGURE_NAMES
  const window: Named = beside.has('plan_left_pct') ? [['window', 'Which window of the plan: 5h or week.']] : []
  return [...window, ...named(known, FIGURE_HELP)]
}

/** Which values the keys of a place take. */
const VALUES: Readonly<Record<string, (spot: Spot) => Offer[]>> = {
  boundaries: ({ key }) => own(RULE_VALUES, key ?? '')?.() ?? [],
  'boundaries.when': ({ key }) => (key === 'window' ? windows() : comparisons(key)),
  'boundaries.fallback': ({ key }) =>
    key === 'role'
      ? words(ROLES)
      : key === 'after'
        ? examples('15m', '30m', '1h')
        : key === 'loosens'
          ? words(['true'])
          : [],
  tests: ({ key, ruleNames }) =>
    key === 'action'
      ? words(ACTIONS, ACTION_HELP)
      : key === 'expect'
        ? [...words(['pass'], VALUE_HELP), ...requirements()]
        : key === 'rule'
          ? words(ruleNames)
          : [],
  'tests.figures': ({ key }) => (key === 'window' ? windows() : words(valuesFor(key ?? '') ?? [])),
}

const RULE_VALUES: Readonly<Record<string, () => Offer[]>> = {
  action: () => words(ACTIONS, ACTION_HELP),
  require: requirements,
  stage: () => words(STAGES, VALUE_HELP),
  on_unknown: () => words(ON_UNKNOWN, { pass: 'It satisfies no condition. The default.', hold: 'The rule holds.' }),
  self: () => words(SELF_ANSWERS, VALUE_HELP),
  signed: () => words(['true']),
  approvals: () => words(Array.from({ length: MAX_APPROVALS }, (_, i) => String(i + 1))),
  expires: () => examples('30m', '1h', '4h', '24h'),
}

const words = (list: readonly string[], help: Readonly<Record<string, string>> = {}): Offer[] =>
  list.map(label => {
    const about = own(help, label)
    return { label, insert: label, ...(about ? { help: about } : {}) }
  })

const examples = (...list: string[]): Offer[] => words(list).map(offer => ({ ...offer, example: true }))

const windows = () => words(PLAN_WINDOWS, VALUE_HELP)

function requirements(): Offer[] {
  const approvers = ROLES.map(role => ({
    label: `approver:${role}`,
    insert: `approver:${role}`,
    help: `Held until ${/^[ao]/.test(role) ? 'an' : 'a'} ${role} or above answers.`,
  }))
  return [...words(['allow', 'ask'], VALUE_HELP), ...approvers, ...words(['deny'], VALUE_HELP)]
}

/** Whole comparisons in their quotes; where the value is one's own, with a first one to be changed. */
function comparisons(figure: string | undefined): Offer[] {
  if (!isFigureName(figure)) return []
  const start = startingValue(figure).value
  const values = valuesFor(figure) ?? [start]
  const example = FIGURES[figure].unit !== 'tier' && figure !== 'destination'
  return comparatorsFor(figure).flatMap(op =>
    values.map(value => ({
      label: `${op} ${value}`,
      insert: `"${op} ${value}"`,
      help: COMPARATOR_HELP[op] ?? '',
      ...(example ? { example, select: value.length } : {}),
    })),
  )
}
