import { DESTINATIONS, FIGURES, isFigureName, PLAN_WINDOWS } from '#core/figure.ts'
import { isTier, TIERS } from '#core/model-tier.ts'
import { cutDecimal, MICROS_PER_UNIT } from '#core/money.ts'
import { clip, isPlainLine, isPlainWord } from '#core/plain-text.ts'
import { type LadderRole, ROLES } from '#core/role.ts'
import { MAX_PATTERN_CHARS } from './limits.ts'
import { type Findings, nearest, oneOf } from './problem.ts'
import { refuseUnknownKeys } from './read-rule.ts'
import {
  ACTIONS,
  type Action,
  type BoundaryCase,
  type CaseFigure,
  conditionsFor,
  isAction,
  type Outcome,
} from './shape.ts'
import { describeTree, entryOf, type Tree, type TreeEntry, type TreeMap } from './tree.ts'

/** The keys of a case, in the order a document gives them. */
export const CASE_KEYS = ['name', 'rule', 'action', 'figures', 'tenant', 'project', 'machine', 'expect'] as const

/** Reads one entry of `tests:`; undefined, with findings, when anything in it is wrong. */
export function readCase(
  tree: Tree,
  context: { roles?: readonly LadderRole[]; ruleNames: readonly string[] },
  findings: Findings,
): BoundaryCase | undefined {
  if (tree.kind !== 'map') {
    findings.error(
      tree,
      'wrong_kind',
      `a case is a map of keys, not ${describeTree(tree)}`,
      'write { action, figures, expect }',
    )
    return undefined
  }
  const before = findings.errors.length
  refuseUnknownKeys(tree, CASE_KEYS, 'a case', findings)
  const action = readCaseAction(entryOf(tree, 'action'), tree, findings)
  const figuresTree = entryOf(tree, 'figures')?.value
  const figures = figuresTree === undefined ? [] : readFigures(figuresTree, action, findings)
  const expect = readExpect(entryOf(tree, 'expect'), tree, context.roles ?? ROLES, findings)
  const name = readText(entryOf(tree, 'name'), findings)
  const rule = readText(entryOf(tree, 'rule'), findings)
  if (rule !== undefined && !context.ruleNames.includes(rule)) {
    const near = nearest(rule, context.ruleNames)
    findings.error(
      entryOf(tree, 'rule')!.value,
      'bad_value',
      `no boundary is called ${clip(rule)}`,
      near === undefined ? 'name a boundary of this document' : `did you mean ${near}?`,
    )
  }
  const tenant = readText(entryOf(tree, 'tenant'), findings)
  const project = readText(entryOf(tree, 'project'), findings)
  const machine = readText(entryOf(tree, 'machine'), findings)
  if (findings.errors.length > before || action === undefined || expect === undefined) return undefined
  return {
    ...(name === undefined ? {} : { name }),
    action,
    figures,
    ...(tenant === undefined ? {} : { tenant }),
    ...(project === undefined ? {} : { project }),
    ...(machine === undefined ? {} : { machine }),
    expect,
    ...(rule === undefined ? {} : { rule }),
  }
}

function readCaseAction(entry: TreeEntry | undefined, map: TreeMap, findings: Findings): Action | undefined {
  if (entry?.value.kind === 'scalar' && isAction(entry.value.value)) return entry.value.value
  if (entry === undefined) findings.error(map, 'missing', 'the case has no action', `add action: ${oneOf(ACTIONS)}`)
  else
    findings.error(
      entry.value,
      'unknown_action',
      `${describeTree(entry.value)} is not an action`,
      `use ${oneOf(ACTIONS)}`,
    )
  return undefined
}

function readExpect(
  entry: TreeEntry | undefined,
  map: TreeMap,
  roles: readonly LadderRole[],
  findings: Findings,
): Outcome | undefined {
  const remedy = 'use pass, allow, ask, approver:<role> or deny'
  if (entry === undefined) {
    findings.error(map, 'missing', 'the case does not say what it expects', remedy)
    return undefined
  }
  const text = entry.value.kind === 'scalar' ? entry.value.value : undefined
  if (text === 'pass' || text === 'allow' || text === 'ask' || text === 'deny') return { kind: text }
  const role = roles.find(r => text === `approver:${r}`)
  if (role !== undefined) return { kind: 'approver', role }
  findings.error(entry.value, 'bad_value', `${describeTree(entry.value)} is not an outcome`, remedy)
  return undefined
}

function readText(entry: TreeEntry | undefined, findings: Findings): string | undefined {
  if (entry === undefined) return undefined
  const { key, value } = entry
  const text =
    value.kind === 'scalar' && value.value !== null
      ? typeof value.value === 'string'
        ? value.value
        : value.source
      : ''
  if (text.trim() !== '' && text.length <= MAX_PATTERN_CHARS && isPlainLine(text)) return text
  findings.error(
    value,
    'bad_value',
    `${key} cannot be ${describeTree(value)}`,
    `write one line of at most ${MAX_PATTERN_CHARS} characters`,
  )
  return undefined
}

function readFigures(tree: Tree, action: Action | undefined, findings: Findings): CaseFigure[] {
  if (tree.kind !== 'map') {
    findings.error(
      tree,
      'wrong_kind',
      `figures takes a map, not ${describeTree(tree)}`,
      'write figures: { session_cost_usd: 20 }',
    )
    return []
  }
  const figures: CaseFigure[] = []
  for (const { key, keyAt, value } of tree.entries) {
    if (key === 'window' || key === 'budget') {
      const owner = key === 'window' ? 'plan_left_pct' : 'budget_used_pct'
      if (entryOf(tree, owner) === undefined)
        findings.error(keyAt, 'lone_qualifier', `${key} stands without ${owner}`, `add ${owner}, or remove ${key}`)
      continue
    }
    const known = action === undefined ? [] : conditionsFor(action)
    if (!isFigureName(key) || (action !== undefined && !known.includes(key))) {
      const what = isFigureName(key) ? `${action} is not judged by ${key}` : `${clip(key)} is not a figure`
      findings.error(keyAt, 'unknown_condition', what, `use ${oneOf(known)}`)
      continue
    }
    const read = readValue(key, value)
    const qualifierKey = FIGURES[key].qualifier
    const qualifier = qualifierKey === undefined ? undefined : entryOf(tree, qualifierKey)?.value
    const named = qualifier?.kind === 'scalar' ? String(qualifier.value) : undefined
    if (read === undefined)
      findings.error(value, 'bad_value', `${key} cannot be ${describeTree(value)}`, valueRemedy(key))
    else if (qualifier !== undefined && !isQualifier(key, named)) {
      findings.error(
        qualifier,
        'bad_value',
        `${describeTree(qualifier)} is not a ${qualifierKey}`,
        key === 'plan_left_pct' ? `use ${oneOf(PLAN_WINDOWS)}` : 'name a budget',
      )
    } else figures.push({ figure: key, value: read, ...(named === undefined ? {} : { qualifier: named }) })
  }
  return figures
}

function readValue(key: CaseFigure['figure'], tree: Tree): number | string | undefined {
  if (tree.kind !== 'scalar' || tree.value === null || typeof tree.value === 'boolean') return undefined
  const text = typeof tree.value === 'string' ? tree.value.trim() : tree.source
  switch (FIGURES[key].unit) {
    case 'usd':
    case 'pct': {
      const read = cutDecimal(text)
      return read === undefined || read.cut || read.floor > (FIGURES[key].max ?? 0) * MICROS_PER_UNIT
        ? undefined
        : read.floor
    }
    case 'tier':
      return isTier(text) || text === 'unknown' ? text : undefined
    case 'name':
      if (key === 'destination') return (DESTINATIONS as readonly string[]).includes(text) ? text : undefined
      return isPlainWord(text) && text.length <= MAX_PATTERN_CHARS ? text : undefined
  }
}

function valueRemedy(key: CaseFigure['figure']): string {
  switch (FIGURES[key].unit) {
    case 'usd':
    case 'pct':
      return `write a plain number from 0 to ${FIGURES[key].max ?? 0}, without a comparator`
    case 'tier':
      return `use ${oneOf([...TIERS, 'unknown'])}`
    case 'name':
      return key === 'destination' ? `use ${oneOf(DESTINATIONS)}` : 'write one word'
  }
}

function isQualifier(key: CaseFigure['figure'], named: string | undefined): boolean {
  if (named === undefined) return false
  return key === 'plan_left_pct'
    ? (PLAN_WINDOWS as readonly string[]).includes(named)
    : /^(?:org:)?[a-z0-9_-]{1,64}$/.test(named)
}
