import { bindable, type CaseResult, caseToJson, runCases } from '#core/boundary/cases.ts'
import { amountText, describeRule, figureLabel } from '#core/boundary/describe.ts'
import { type RuleOutline, ruleOutline } from '#core/boundary/edit.ts'
import type { Problem } from '#core/boundary/problem.ts'
import { proposeCases } from '#core/boundary/propose-cases.ts'
import { type BoundaryCase, type Rule, requirementText } from '#core/boundary/shape.ts'
import { ROLES } from '#core/role.ts'
import { parseRuleDocument } from '#core/rules/document.ts'

/** One case with what the rules say about it, in words. `index` is its place in `tests:`; absent for a proposed one. */
export type ShownCase = {
  key: string
  index?: number
  /** `session cost $20.00`. */
  figures: string
  expect: string
  got: string
  ok: boolean
  /** The rule must let it pass, or must stop it. */
  mustPass: boolean
}

/** What the page says about one rule that can be read. */
export type RuleView = {
  rule: Rule
  sentence: string
  cases: ShownCase[]
  /** Boundary-value cases that the document lacks. */
  proposed: BoundaryCase[]
  proposedShown: ShownCase[]
  /** Fit to bind: a case in each direction, none failing. */
  proven: boolean
  lacking: readonly ('must_stop' | 'must_pass')[]
  failing: number
}

export type Analysis = {
  rules: ReadonlyMap<string, RuleView>
  outline: readonly RuleOutline[]
  errors: readonly Problem[]
  warnings: readonly Problem[]
}

/** Everything that can be said about a draft without the server: the parser, the cases, the proposals, in the browser. */
export function analyse(text: string): Analysis {
  // Whether tenants and members that it names exist is the server's to say.
  const parsed = parseRuleDocument(text, { roles: ROLES })
  const results = runCases(parsed.rules, parsed.tests)
  return {
    rules: new Map(parsed.rules.map(rule => [rule.name, viewOf(rule, parsed.rules, parsed.tests, results)])),
    outline: ruleOutline(text),
    errors: parsed.errors,
    warnings: parsed.warnings,
  }
}

function viewOf(
  rule: Rule,
  all: readonly Rule[],
  tests: readonly BoundaryCase[],
  results: readonly CaseResult[],
): RuleView {
  const bind = bindable(rule, tests, all)
  const own = results.flatMap((result, index) =>
    result.case.rule === rule.name || (result.case.rule === undefined && result.case.action === rule.action)
      ? [{ result, index }]
      : [],
  )
  const there = new Set(own.map(({ result }) => caseKey(result.case)))
  const proposed = proposeCases(rule).filter(item => !there.has(caseKey(item)))
  return {
    rule,
    sentence: describeRule(rule),
    cases: own.map(({ result, index }) => ({ ...shown(result, String(index)), index })),
    proposed,
    proposedShown: runCases(all, proposed).map((result, index) => shown(result, `p${index}`)),
    proven: bind.ok,
    lacking: bind.lacking,
    failing: bind.failing.length,
  }
}

/** Two cases are one when they try the same call and expect the same, whatever they are called. */
const caseKey = (item: BoundaryCase): string =>
  JSON.stringify({ ...caseToJson(item), name: undefined, rule: undefined })

function shown({ case: item, outcome, ok }: CaseResult, key: string): ShownCase {
  const where = [item.tenant, item.project, item.machine].filter(word => word !== undefined)
  const figures = item.figures.map(
    ({ figure, qualifier, value }) => `${figureLabel(figure, qualifier)} ${amountText(figure, value)}`,
  )
  return {
    key,
    figures: [...(figures.length === 0 ? ['nothing can be read'] : figures), ...where.map(word => `for ${word}`)].join(
      ', ',
    ),
    expect: requirementText(item.expect),
    got: requirementText(outcome),
    ok,
    mustPass: item.expect.kind === 'pass',
  }
}

/** The rule whose lines hold a line, for the cursor. */
export function ruleAtLine(outline: readonly RuleOutline[], line: number): string | undefined {
  return outline.find(rule => line >= rule.startLine && line <= rule.endLine)?.name
}

/** The key of a rule that a problem stands at: the last one that begins at or above its line. */
export function keyOfProblem(entry: RuleOutline | undefined, problem: { line: number }): string | undefined {
  if (entry === undefined) return undefined
  const above = Object.entries(entry.keyLines).filter(([, line]) => line <= problem.line)
  const last = Math.max(...above.map(([, line]) => line))
  const keys = above.filter(([, line]) => line === last)
  // Several keys on one line cannot be told apart by it.
  return keys.length === 1 ? keys[0]![0] : undefined
}

/** `session cost is missing. Add it.` A problem as a sentence and what to do. */
export function problemText(problem: { message: string; remedy: string }): string {
  const { message, remedy } = problem
  const end = /[.!?]$/.test(message) ? '' : '.'
  return `${upper(message)}${end} ${upper(remedy)}${/[.!?]$/.test(remedy) ? '' : '.'}`
}

// A name in front (`session_cost_usd …`) keeps its spelling.
const upper = (text: string) => (/^[a-z]+ /.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text)
