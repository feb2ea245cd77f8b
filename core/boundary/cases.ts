import { FIGURES, type FigureReading } from '#core/figure.ts'
import { formatMicros } from '#core/money.ts'
import { compileRules, type Evaluation, mergeRules } from './evaluate.ts'
import type { Json, JsonObject } from './rule.ts'
import { type BoundaryCase, type CaseFigure, type Outcome, type Rule, requirementText, type Scope } from './shape.ts'

export interface CaseResult {
  case: BoundaryCase
  /** What the rules say about the case's call. */
  outcome: Outcome
  /** Names of the rules that decided it. */
  decidedBy: readonly string[]
  ok: boolean
  /** Names of rules for which a figure was missing: they passed for want of a figure, not on its value. */
  undecided: readonly string[]
}

/** A case's figures as readings of one moment. In an organisation's document a budget's name is the organisation's. */
function caseReadings(figures: readonly CaseFigure[], scope: Scope): FigureReading[] {
  return figures.map(({ figure: name, value, qualifier }) => {
    const ofOrganisation =
      scope === 'organisation' && name === 'budget_used_pct' && qualifier?.startsWith('org:') === false
    // A budget without a name stands for whichever is the fullest.
    const own = ofOrganisation
      ? `org:${qualifier}`
      : (qualifier ?? (scope === 'organisation' && name === 'budget_used_pct' ? 'org:' : undefined))
    return {
      name,
      ...(own === undefined ? {} : { qualifier: own }),
      value,
      unit: FIGURES[name].unit,
      observedAt: 0,
      source: 'event',
    }
  })
}

/**
 * Runs cases against rules, every rule as if enforced: a case says what the rules do once they bind. A case that names
 * a rule is judged by that rule alone.
 */
export function runCases(
  rules: readonly Rule[],
  cases: readonly BoundaryCase[],
  scope: Scope = 'organisation',
): CaseResult[] {
  const binding = rules.map(rule => ({ ...rule, stage: 'enforce' as const }))
  const all = compileFor(binding, scope)
  return cases.map(item => {
    const alone = item.rule === undefined ? undefined : binding.filter(rule => rule.name === item.rule)
    const evaluation = (alone === undefined ? all : compileFor(alone, scope)).decide({
      action: item.action,
      figures: caseReadings(item.figures, scope),
      attribution: { tenant: item.tenant, project: item.project, machine: item.machine },
      now: 0,
    })
    return resultOf(item, evaluation)
  })
}

function compileFor(rules: readonly Rule[], scope: Scope) {
  return compileRules(mergeRules(scope === 'local' ? { local: rules } : { organisation: rules }))
}

function resultOf(item: BoundaryCase, evaluation: Evaluation): CaseResult {
  const { outcome, decidedBy, unread } = evaluation
  return {
    case: item,
    outcome,
    decidedBy: decidedBy.map(match => match.rule.name),
    ok: requirementText(outcome) === requirementText(item.expect),
    undecided: [...new Set(unread.map(({ key }) => key.replace(/^org:/, '')))],
  }
}

export interface Bindable {
  /** An organisation's rule may be enforced: it has a case in each direction, and none of its cases fails. */
  ok: boolean
  mustStop: readonly CaseResult[]
  mustPass: readonly CaseResult[]
  lacking: readonly ('must_stop' | 'must_pass')[]
  failing: readonly CaseResult[]
}

/**
 * Whether a rule may bind: at least one case that it must stop and one that it must pass, both holding. A case counts
 * for a rule when it names it, or names no rule and has its action; to stop, the rule itself must have decided it; to
 * pass, the rule must have seen the figures it reads. (For a rule that allows, "stop" reads "match".)
 */
export function bindable(
  rule: Rule,
  cases: readonly BoundaryCase[],
  rules: readonly Rule[] = [rule],
  scope: Scope = 'organisation',
): Bindable {
  const own = cases.filter(item => item.rule === rule.name || (item.rule === undefined && item.action === rule.action))
  const results = runCases(rules, own, scope)
  const holding = results.filter(result => result.ok)
  const mustStop = holding.filter(result => result.outcome.kind !== 'pass' && result.decidedBy.includes(rule.name))
  const mustPass = holding.filter(
    result =>
      result.outcome.kind === 'pass' && result.case.action === rule.action && !result.undecided.includes(rule.name),
  )
  const failing = results.filter(
    result => !result.ok && (result.case.rule === rule.name || result.decidedBy.includes(rule.name)),
  )
  const lacking = [
    ...(mustStop.length === 0 ? (['must_stop'] as const) : []),
    ...(mustPass.length === 0 ? (['must_pass'] as const) : []),
  ]
  return { ok: lacking.length === 0 && failing.length === 0, mustStop, mustPass, lacking, failing }
}

/** Why a rule may not bind yet, from its cases as they went; the first that failed is named. */
export function whyUnproven(
  name: string,
  proof: {
    lacking: Bindable['lacking']
    cases: readonly { name: string | undefined; text: string; expect: string; got: string; ok: boolean }[]
  },
): { message: string; remedy: string } {
  const first = proof.cases.find(item => !item.ok)
  if (first) {
    return {
      message: `${name} cannot be enforced: the case ${first.name ?? first.text} expects ${first.expect}, the rules say ${first.got}`,
      remedy: 'change the case or the rule',
    }
  }
  const words = proof.lacking.map(what => (what === 'must_stop' ? 'that it must stop' : 'that it must let pass'))
  return {
    message: `${name} cannot be enforced before its cases prove it: it lacks a case ${words.join(' and a case ')}`,
    remedy: 'accept the proposed cases, or set stage: shadow',
  }
}

/** A case as a JSON object with the document's own keys; amounts are decimal strings. */
export function caseToJson(item: BoundaryCase): JsonObject {
  const figures: Record<string, Json> = {}
  for (const { figure, value, qualifier } of item.figures) {
    figures[figure] = typeof value === 'number' ? formatMicros(value) : value
    const key = FIGURES[figure].qualifier
    if (key !== undefined && qualifier !== undefined) figures[key] = qualifier
  }
  return {
    ...(item.name === undefined ? {} : { name: item.name }),
    ...(item.rule === undefined ? {} : { rule: item.rule }),
    action: item.action,
    figures,
    ...(item.tenant === undefined ? {} : { tenant: item.tenant }),
    ...(item.project === undefined ? {} : { project: item.project }),
    ...(item.machine === undefined ? {} : { machine: item.machine }),
    expect: requirementText(item.expect),
  }
}
