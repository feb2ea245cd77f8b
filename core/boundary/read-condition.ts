import { DESTINATIONS, FIGURE_NAMES, FIGURES, type FigureName, isFigureName, PLAN_WINDOWS } from '#core/figure.ts'
import { isTier, TIERS } from '#core/model-tier.ts'
import { cutDecimal, MICROS_PER_UNIT } from '#core/money.ts'
import { clip, isPlainWord } from '#core/plain-text.ts'
import { MAX_PATTERN_CHARS } from './limits.ts'
import { type Findings, nearest, oneOf } from './problem.ts'
import {
  type Action,
  COMPARATORS,
  CONDITION_ACTIONS,
  type Comparator,
  type Condition,
  conditionsFor,
  type Scope,
} from './shape.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from './tree.ts'

export interface ConditionContext {
  scope: Scope
  /** Undefined when the rule's action could not be read: then no condition is refused for it. */
  action: Action | undefined
  /** The budgets there are; undefined when the reader does not know them. */
  budgets?: readonly string[]
  /** The same of the organisation's, without `org:`; for local rules. */
  organisationBudgets?: readonly string[]
}

const QUALIFIERS = ['window', 'budget'] as const

/** Reads `when:`. Conditions come in the order of FIGURE_NAMES, so that two spellings of one rule are one rule. */
export function readWhen(tree: Tree, context: ConditionContext, findings: Findings): Condition[] {
  if (tree.kind !== 'map') {
    findings.error(
      tree,
      'wrong_kind',
      `when takes conditions, not ${describeTree(tree)}`,
      'write when: { session_cost_usd: ">= 20" }',
    )
    return []
  }
  if (tree.entries.length === 0) {
    findings.error(tree, 'missing', 'when has no condition', 'give at least one condition')
    return []
  }
  const conditions = tree.entries.flatMap(entry => readCondition(entry, tree, context, findings))
  return conditions.sort((a, b) => FIGURE_NAMES.indexOf(a.figure) - FIGURE_NAMES.indexOf(b.figure))
}

function readCondition(entry: TreeEntry, when: TreeMap, context: ConditionContext, findings: Findings): Condition[] {
  const { key, keyAt, value } = entry
  if (key === 'window' || key === 'budget') {
    const owner = key === 'window' ? 'plan_left_pct' : 'budget_used_pct'
    if (entryOf(when, owner) === undefined) {
      findings.error(keyAt, 'lone_qualifier', `${key} stands without ${owner}`, `add ${owner}, or remove ${key}`)
    }
    return []
  }
  const { action } = context
  const known = action === undefined ? FIGURE_NAMES : conditionsFor(action)
  if (!isFigureName(key)) {
    const near = nearest(key, [...known, ...QUALIFIERS])
    const judged = action === undefined ? `Conditions are ${oneOf(known)}` : `${action} is judged by ${oneOf(known)}`
    const remedy = bracketed(key) ?? (near === undefined ? `use ${oneOf(known)}` : `did you mean ${near}?`)
    findings.error(keyAt, 'unknown_condition', `${clip(key)} is not a condition. ${judged}.`, remedy)
    return []
  }
  if (action !== undefined && !CONDITION_ACTIONS[key].includes(action)) {
    const message = `${action} cannot be judged by ${key}: it is judged by ${oneOf(known)}`
    findings.error(keyAt, 'not_judged', message, `use it with ${oneOf(CONDITION_ACTIONS[key])}`)
    return []
  }
  const comparison = readComparison(key, value, findings)
  const qualifier = readQualifier(key, when, context, findings)
  if (comparison === undefined || qualifier === undefined) return []
  return [{ figure: key, ...comparison, ...(qualifier === '' ? {} : { qualifier }) }]
}

/** How a figure is written whose window or budget was put in brackets, as figures are shown elsewhere. */
function bracketed(key: string): string | undefined {
  const [, figure = '', name = ''] = /^([a-z_]+)\[([a-z0-9_-]{1,63})\]$/.exec(key) ?? []
  if (figure !== 'budget_used_pct' && figure !== 'plan_left_pct') return undefined
  const qualifier = figure === 'budget_used_pct' ? 'budget' : 'window'
  return `write ${figure}: ${example(figure)}, ${qualifier}: ${name}, with the action ${oneOf(CONDITION_ACTIONS[figure])}`
}

function example(figure: FigureName): string {
  switch (figure) {
    case 'session_cost_usd':
      return '">= 20"'
    case 'plan_left_pct':
      return '"< 5"'
    case 'budget_used_pct':
      return '">= 90"'
    case 'model_tier':
      return '">= opus"'
    case 'destination':
      return '"== team"'
    case 'workflow_id':
      return '"== claude-code:my-repo:*"'
    case 'agent_id':
      return '"== claude-code:my-repo"'
  }
}

function readComparison(
  figure: FigureName,
  tree: Tree,
  findings: Findings,
): Pick<Condition, 'op' | 'value'> | undefined {
  const fail = (
    code: 'wrong_kind' | 'bad_comparator' | 'bad_value' | 'out_of_range',
    message: string,
    remedy: string,
  ) => {
    findings.error(tree, code, message, remedy)
    return undefined
  }
  if (tree.kind !== 'scalar' || tree.value === null || typeof tree.value === 'boolean') {
    return fail('wrong_kind', `${figure} takes a comparison, not ${describeTree(tree)}`, `write ${example(figure)}`)
  }
  const written = (typeof tree.value === 'string' ? tree.value : tree.source).trim()
  const [, sign = '', rest = ''] = /^([<>=!~≤≥≠]*)\s*([\s\S]*)$/.exec(written) ?? []
  if (!isComparator(sign)) {
    if (sign !== '') {
      return fail(
        'bad_comparator',
        `${clip(sign)} is not a comparator`,
        `use ${oneOf(COMPARATORS)}, as in ${example(figure)}`,
      )
    }
    const guess = FIGURES[figure].unit === 'name' ? '==' : FIGURES[figure].worst === 'min' ? '<' : '>='
    const remedy = isPlainWord(rest) ? `write "${guess} ${rest}"` : `write ${example(figure)}`
    return fail('bad_comparator', `${figure} needs a comparator: ${oneOf(COMPARATORS)}`, remedy)
  }
  const { unit } = FIGURES[figure]
  if (unit === 'usd' || unit === 'pct') return readThreshold(figure, sign, rest, tree, findings)
  if (unit === 'tier') {
    if (isTier(rest)) {
      if (sign === '>' && rest === TIERS.at(-1))
        findings.warn(tree, 'never', `no tier is above ${rest}`, `write ">= ${rest}"`)
      if (sign === '<' && rest === TIERS[0])
        findings.warn(tree, 'never', `no tier is below ${rest}`, `write "<= ${rest}"`)
      if (sign === '>=' && rest === TIERS[0]) warnAlways(figure, tree, findings)
      if (sign === '<=' && rest === TIERS.at(-1)) warnAlways(figure, tree, findings)
      return { op: sign, value: rest }
    }
    return fail('bad_value', `${rest === '' ? 'nothing' : clip(rest)} is not a model tier`, `use ${oneOf(TIERS)}`)
  }
  if (sign !== '==') return fail('bad_comparator', `${figure} can only be compared with ==`, `write ${example(figure)}`)
  if (figure === 'destination') {
    if ((DESTINATIONS as readonly string[]).includes(rest)) return { op: sign, value: rest }
    return fail('bad_value', `${clip(rest)} is not a destination`, `use ${oneOf(DESTINATIONS)}`)
  }
  if (isPlainWord(rest) && rest.length <= MAX_PATTERN_CHARS) {
    if (/^\*+$/.test(rest)) warnAlways(figure, tree, findings)
    return { op: sign, value: rest }
  }
  const message = `${figure} takes one word of at most ${MAX_PATTERN_CHARS} characters, * being a wildcard`
  return fail('bad_value', message, `write ${example(figure)}`)
}

function readThreshold(figure: FigureName, op: Comparator, text: string, tree: Tree, findings: Findings) {
  const { unit, max = 0 } = FIGURES[figure]
  const read = cutDecimal(text)
  if (read === undefined) {
    const bare = text.replace(/[$%,_\s]|USD|usd/g, '')
    const negative = /^-\d/.test(text)
    const large = /^\d{8,}/.test(text)
    const remedy = cutDecimal(bare) === undefined ? `write ${example(figure)}` : `write "${op} ${bare}"`
    const what = text === '' ? 'nothing' : clip(text)
    if (negative || large)
      findings.error(tree, 'out_of_range', `${figure} lies between 0 and ${max}, not at ${what}`, remedy)
    else findings.error(tree, 'bad_value', `${what} is not a plain decimal number`, remedy)
    return undefined
  }
  if (read.cut) {
    findings.error(
      tree,
      'bad_value',
      `${clip(text)} has more than six decimal places`,
      'use six decimal places at most',
    )
    return undefined
  }
  const ceiling = max * MICROS_PER_UNIT
  if (read.floor > ceiling) {
    findings.error(
      tree,
      'out_of_range',
      `${figure} lies between 0 and ${max}, not at ${clip(text)}`,
      `use ${unit === 'pct' ? 'a percentage' : 'an amount'} up to ${max}`,
    )
    return undefined
  }
  const bounded = figure === 'plan_left_pct'
  if (op === '<' && read.floor === 0) findings.warn(tree, 'never', `${figure} is never below 0`, 'write "<= 0"')
  if (bounded && op === '>' && read.floor === ceiling)
    findings.warn(tree, 'never', `${figure} is never above 100`, 'write ">= 100"')
  if (op === '>=' && read.floor === 0) warnAlways(figure, tree, findings)
  if (bounded && op === '<=' && read.floor === ceiling) warnAlways(figure, tree, findings)
  return { op, value: read.floor }
}

function warnAlways(figure: FigureName, tree: Tree, findings: Findings): void {
  findings.warn(tree, 'always', `this holds whenever ${figure} can be read`, 'keep it if that is what you mean')
}

/** The qualifier of a condition: empty when there is none, undefined when what stands there was refused. */
function readQualifier(
  figure: FigureName,
  when: TreeMap,
  context: ConditionContext,
  findings: Findings,
): string | undefined {
  const key = FIGURES[figure].qualifier
  const entry = key === undefined ? undefined : entryOf(when, key)
  if (key === undefined || entry === undefined) return ''
  const tree = entry.value
  const text =
    tree.kind === 'scalar' && typeof tree.value !== 'boolean' && tree.value !== null ? String(tree.value) : undefined
  if (text === undefined) {
    findings.error(
      tree,
      'wrong_kind',
      `${key} takes a name, not ${describeTree(tree)}`,
      key === 'window' ? 'use 5h or week' : 'name a budget',
    )
    return undefined
  }
  if (key === 'window') {
    if ((PLAN_WINDOWS as readonly string[]).includes(text)) return text
    findings.error(
      tree,
      'bad_value',
      `${clip(text)} is not a plan window`,
      `use ${oneOf(PLAN_WINDOWS)}, or leave window out for the tightest`,
    )
    return undefined
  }
  const form = context.scope === 'local' ? /^(?:org:)?[a-z0-9_-]{1,64}$/ : /^[a-z0-9][a-z0-9_-]{0,63}$/
  if (!form.test(text)) {
    const remedy =
      context.scope === 'local'
        ? 'name a budget, or org:<name> for one of your organisation'
        : "name one of the organisation's budgets"
    findings.error(tree, 'bad_value', `${clip(text)} is not a budget's name`, remedy)
    return undefined
  }
  const budgets = text.startsWith('org:') ? context.organisationBudgets?.map(name => `org:${name}`) : context.budgets
  if (budgets !== undefined && !budgets.includes(text)) {
    const near = nearest(text, budgets)
    const there = budgets.length === 0 ? 'there are no budgets yet' : `there is ${oneOf(budgets)}`
    findings.error(
      tree,
      'unknown_budget',
      `no budget is called ${text}`,
      near === undefined ? there : `did you mean ${near}?`,
    )
    return undefined
  }
  return text
}

function isComparator(text: string): text is Comparator {
  return (COMPARATORS as readonly string[]).includes(text)
}
