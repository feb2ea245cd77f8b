import { FIGURES, type FigureName, type FigureReading, type Figures, isFresh } from '#core/figure.ts'
import { globMatches } from '#core/glob.ts'
import { tierRank } from '#core/model-tier.ts'
import {
  type Action,
  type AppliesTo,
  type Comparator,
  type Condition,
  isUnsupported,
  type Rule,
  type Scope,
  type Stage,
  type UnsupportedRule,
} from './shape.ts'

/** A rule where it stands: `key` is its name, with `org:` before it when it is the organisation's. */
export interface ScopedRule {
  key: string
  scope: Scope
  rule: Rule | UnsupportedRule
}

/** To whom a call belongs, as far as it is known; what is unknown keeps no rule from applying. */
export interface Attribution {
  tenant?: string
  project?: string
  machine?: string
}

export interface EvaluationInput {
  action: Action
  figures: Figures
  attribution?: Attribution
  /** Milliseconds since 1970. */
  now: number
  /** Keys of rules that an answer lets through. */
  lifted?: ReadonlySet<string>
}

/** One condition that held: what it compares with, and the reading that met it (absent: unread, and the rule holds then). */
export interface Crossing {
  figure: FigureName
  qualifier?: string
  op: Comparator
  threshold: number | string
  reading?: FigureReading
}

/** A figure that a rule needed and could not have; `unsupported`: the rule itself could not be read. */
export interface Unread {
  key: string
  scope: Scope
  stage: Stage
  figure?: FigureName
  qualifier?: string
  why: 'missing' | 'stale' | 'unknown' | 'unsupported'
}

export type Verdict = typeof UNMATCHED | typeof MATCHED | typeof UNDETERMINED
/** Some condition does not hold, or the rule is for somebody else. */
export const UNMATCHED = 0
const MATCHED = 1
/** Some figure is unread, nothing else speaks against the rule, and it passes when unread. */
export const UNDETERMINED = 2

/** A condition with everything about it looked up once. All have one shape, which keeps the loop fast. */
interface CompiledCondition {
  figure: FigureName
  op: Comparator
  /** Micros, or the tier's rank. */
  value: number
  text: string
  kind: 'number' | 'tier' | 'exact' | 'glob'
  smallest: boolean
  /** As readings carry it: an organisation's budget is `org:<name>` there. */
  qualifier: string | undefined
  /** An organisation rule without a budget's name reads the organisation's budgets only. */
  organisationOnly: boolean
  source: Condition
}

export interface CompiledRule {
  source: ScopedRule
  /** Undefined: every action (an unreadable rule whose action is unreadable). */
  action: string | undefined
  conditions: readonly CompiledCondition[]
  appliesTo: AppliesTo | undefined
  holdsUnread: boolean
  unsupported: boolean
}

/** A rule with everything about it looked up once. */
export function compileRule(source: ScopedRule): CompiledRule {
  const { rule, scope } = source
  const holdsUnread = rule.onUnknown === 'hold'
  if (isUnsupported(rule)) {
    return { source, action: rule.action, conditions: [], appliesTo: undefined, holdsUnread, unsupported: true }
  }
  const conditions = rule.when.map(condition => compileCondition(condition, scope))
  return { source, action: rule.action, conditions, appliesTo: rule.for, holdsUnread, unsupported: false }
}

function compileCondition(source: Condition, scope: Scope): CompiledCondition {
  const { figure, op, value, qualifier } = source
  const { unit, worst } = FIGURES[figure]
  const text = typeof value === 'string' ? value : ''
  const number = typeof value === 'number' ? value : tierRank(value)
  const kind =
    unit === 'usd' || unit === 'pct' ? 'number' : unit === 'tier' ? 'tier' : text.includes('*') ? 'glob' : 'exact'
  const ofOrganisation = scope === 'organisation' && figure === 'budget_used_pct'
  return {
    figure,
    op,
    value: number,
    text,
    kind,
    smallest: worst === 'min',
    qualifier: ofOrganisation && qualifier !== undefined ? `org:${qualifier}` : qualifier,
    organisationOnly: ofOrganisation,
    source,
  }
}

/** Whether a rule matches a call. Allocates nothing. */
export function judge(rule: CompiledRule, input: EvaluationInput): Verdict {
  if (rule.unsupported) return rule.holdsUnread ? MATCHED : UNDETERMINED
  if (rule.appliesTo !== undefined && input.attribution !== undefined && !applies(rule.appliesTo, input.attribution)) {
    return UNMATCHED
  }
  const { conditions } = rule
  let verdict: Verdict = MATCHED
  for (let i = 0; i < conditions.length; i++) {
    const condition = conditions[i]!
    const reading = pick(condition, input.figures, input.now)
    if (reading === undefined) {
      if (!rule.holdsUnread) verdict = UNDETERMINED
    } else if (!holds(condition, reading)) {
      return UNMATCHED
    }
  }
  return verdict
}

/** The reading a condition compares: of several fresh ones the worst; undefined when there is none. */
function pick(condition: CompiledCondition, figures: Figures, now: number): FigureReading | undefined {
  let chosen: FigureReading | undefined
  for (let i = 0; i < figures.length; i++) {
    const reading = figures[i]!
    if (reading.name !== condition.figure || !isQualified(condition, reading)) continue
    if (reading.source !== 'event' && !isFresh(reading, now)) continue
    if (!isReadable(condition, reading)) continue
    if (chosen === undefined || isWorse(condition, reading, chosen)) chosen = reading
  }
  return chosen
}

function isQualified(condition: CompiledCondition, reading: FigureReading): boolean {
  if (condition.qualifier !== undefined) return reading.qualifier === condition.qualifier
  return !condition.organisationOnly || reading.qualifier?.startsWith('org:') === true
}

function isReadable(condition: CompiledCondition, reading: FigureReading): boolean {
  const { value } = reading
  if (condition.kind === 'number') return typeof value === 'number' && Number.isSafeInteger(value)
  return typeof value === 'string' && (condition.kind !== 'tier' || tierRank(value) >= 0)
}

function isWorse(condition: CompiledCondition, reading: FigureReading, than: FigureReading): boolean {
  if (condition.kind === 'tier') return tierRank(reading.value as string) > tierRank(than.value as string)
  if (condition.kind !== 'number') return false
  return condition.smallest ? reading.value < than.value : reading.value > than.value
}

function holds(condition: CompiledCondition, reading: FigureReading): boolean {
  switch (condition.kind) {
    case 'number': {
      const low = reading.value as number
      return compareBetween(low, reading.cut === true ? low + 1 : low, condition.op, condition.value)
    }
    case 'tier': {
      const rank = tierRank(reading.value as string)
      return compareBetween(rank, rank, condition.op, condition.value)
    }
    case 'exact':
      return reading.value === condition.text
    case 'glob':
      return globMatches(condition.text, reading.value as string)
  }
}

/** The comparison for a value known to lie between `low` and `high`: true when any of them could hold. */
function compareBetween(low: number, high: number, op: Comparator, threshold: number): boolean {
  switch (op) {
    case '<':
      return low < threshold
    case '<=':
      return low <= threshold
    case '>':
      return high > threshold
    case '>=':
      return high >= threshold
    case '==':
      return low <= threshold && threshold <= high
  }
}

/** False only when the call is known to belong to none of the listed. */
function applies(to: AppliesTo, attribution: Attribution): boolean {
  return (
    isListed(to.tenants, attribution.tenant) &&
    isListed(to.projects, attribution.project) &&
    isListed(to.machines, attribution.machine)
  )
}

function isListed(patterns: readonly string[] | undefined, value: string | undefined): boolean {
  if (patterns === undefined || value === undefined) return true
  for (let i = 0; i < patterns.length; i++) if (globMatches(patterns[i]!, value)) return true
  return false
}

/** The conditions of a rule that matched, each with its reading. Plain loops and one shape: it runs at every held call. */
export function crossingsOf(rule: CompiledRule, input: EvaluationInput): Crossing[] {
  const { conditions } = rule
  const crossings: Crossing[] = []
  for (let i = 0; i < conditions.length; i++) {
    const condition = conditions[i]!
    const { figure, op, value, qualifier } = condition.source
    crossings.push({ figure, qualifier, op, threshold: value, reading: pick(condition, input.figures, input.now) })
  }
  return crossings
}

/** One condition of a rule at these figures: `holds` is undefined where its figure is unread, and `why` then says why. */
export interface ConditionNow extends Crossing {
  holds?: boolean
  why?: 'missing' | 'stale' | 'unknown'
}

/** Every condition of a rule at these figures, whether it holds or not: for saying why the rule holds a call, or does not. */
export function conditionsNow(rule: CompiledRule, input: EvaluationInput): ConditionNow[] {
  return rule.conditions.map(condition => {
    const { figure, op, value, qualifier } = condition.source
    const reading = pick(condition, input.figures, input.now)
    const judged = reading
      ? { reading, holds: holds(condition, reading) }
      : { why: whyUnread(condition, input) as 'missing' | 'stale' | 'unknown' }
    return { figure, ...(qualifier === undefined ? {} : { qualifier }), op, threshold: value, ...judged }
  })
}

/** Whether a rule is for whoever the call belongs to; what is unknown keeps none from applying. */
export const appliesTo = ({ appliesTo: to }: CompiledRule, attribution: Attribution): boolean =>
  to === undefined || applies(to, attribution)

/** The figures a rule needed and could not have, each with the reason. */
export function unreadOf(rule: CompiledRule, input: EvaluationInput): Unread[] {
  const { key, scope, rule: source } = rule.source
  if (rule.unsupported) return [{ key, scope, stage: source.stage, why: 'unsupported' }]
  return rule.conditions
    .filter(condition => pick(condition, input.figures, input.now) === undefined)
    .map(condition => {
      const { figure, qualifier } = condition.source
      const why = whyUnread(condition, input)
      return { key, scope, stage: source.stage, figure, ...(qualifier === undefined ? {} : { qualifier }), why }
    })
}

function whyUnread(condition: CompiledCondition, input: EvaluationInput): Unread['why'] {
  const there = input.figures.filter(reading => reading.name === condition.figure && isQualified(condition, reading))
  if (there.length === 0) return 'missing'
  return there.some(reading => isFresh(reading, input.now)) ? 'unknown' : 'stale'
}
