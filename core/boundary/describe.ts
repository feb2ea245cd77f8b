import { describeDuration } from '#core/duration.ts'
import { FIGURES } from '#core/figure.ts'
import { formatCost, formatMicros, formatUsd } from '#core/money.ts'
import type { Crossing } from './compile.ts'
import type { Action, Comparator, Condition, Outcome, Requirement, Rule } from './shape.ts'

/** What each action is, as words after "before". */
export const ACTION_WORDS: Record<Action, string> = {
  continue: "the agent's next tool call",
  spend: "the agent's next tool call, judged by money",
  subagent_model: 'a subagent starts',
  model_route: 'a request moves to another model',
  share: 'figures leave the machine',
}

/** An amount in the unit of its figure: `$20.00`, `5%`, `opus`. */
export function amountText(figure: Condition['figure'], value: number | string): string {
  if (typeof value === 'string') return value
  return FIGURES[figure].unit === 'pct' ? `${formatMicros(value)}%` : formatUsd(value)
}

/** What is compared: `session cost`, `plan left (week)`, `budget used (monthly)`. */
export function figureLabel(figure: Condition['figure'], qualifier?: string): string {
  const { label } = FIGURES[figure]
  return qualifier === undefined ? label : `${label} (${qualifier})`
}

/** `$20.00 or more`, `less than 5%`, `above sonnet`, `team`. */
export function thresholdText(figure: Condition['figure'], op: Comparator, value: number | string): string {
  const amount = amountText(figure, value)
  const tier = FIGURES[figure].unit === 'tier'
  switch (op) {
    case '>=':
      return tier ? `${amount} or above` : `${amount} or more`
    case '>':
      return tier ? `above ${amount}` : `more than ${amount}`
    case '<=':
      return tier ? `${amount} or below` : `${amount} or less`
    case '<':
      return tier ? `below ${amount}` : `less than ${amount}`
    case '==':
      return FIGURES[figure].unit === 'name' ? amount : `exactly ${amount}`
  }
}

/** One condition in words: `session cost is $20.00 or more`. */
function describeCondition({ figure, op, value, qualifier }: Condition): string {
  return `${figureLabel(figure, qualifier)} is ${thresholdText(figure, op, value)}`
}

function requirementWords(require: Requirement): string {
  switch (require.kind) {
    case 'allow':
      return 'let it through and record it'
    case 'ask':
      return 'ask a person'
    case 'deny':
      return 'refuse'
    case 'approver':
      return `ask for the approval of ${roleWords(require.role)}`
  }
}

/** `a lead or above`, `an owner`. */
export function roleWords(role: Extract<Outcome, { kind: 'approver' }>['role']): string {
  if (role === 'owner') return 'an owner'
  return `${role === 'admin' ? 'an' : 'a'} ${role} or above`
}

/** A rule in one or two plain sentences, for lists, pages and mail. */
export function describeRule(rule: Rule): string {
  const conditions = rule.when.map(describeCondition).join(' and ')
  const parts = [`Before ${ACTION_WORDS[rule.action]}, when ${conditions}: ${requirementWords(rule.require)}.`]
  if (rule.approvals !== undefined) parts.push(`${rule.approvals} different people must approve.`)
  if (rule.step !== undefined) parts.push(`An answer holds until the figure has grown by ${stepText(rule)}.`)
  if (rule.expires !== undefined) parts.push(`A request waits ${describeDuration(rule.expires)}.`)
  if (rule.fallback !== undefined) {
    parts.push(`After ${describeDuration(rule.fallback.afterSeconds)} ${roleWords(rule.fallback.role)} may answer too.`)
  }
  if (rule.signed) parts.push("An approval needs the approver's own key.")
  if (rule.self === 'never') parts.push('Nobody answers their own request.')
  if (rule.self === 'key') parts.push('Only a key answers for its own owner.')
  if (rule.for !== undefined) parts.push(`Applies to ${appliesWords(rule.for)}.`)
  if (rule.onUnknown === 'hold') parts.push('It holds too when a figure cannot be read.')
  if (rule.stage === 'shadow') parts.push('In shadow: recorded, and changes nothing.')
  return parts.join(' ')
}

function stepText(rule: Rule): string {
  const growing = rule.when.find(c => c.figure === 'session_cost_usd' || c.figure === 'budget_used_pct')
  return amountText(growing?.figure ?? 'session_cost_usd', rule.step ?? 0)
}

function appliesWords(to: NonNullable<Rule['for']>): string {
  const kinds = [
    ['tenant', to.tenants],
    ['project', to.projects],
    ['machine', to.machines],
  ] as const
  return kinds
    .flatMap(([kind, names]) =>
      names === undefined ? [] : [`${kind}${names.length === 1 ? '' : 's'} ${names.join(', ')}`],
    )
    .join(' and ')
}

/** What crossed: `session cost is $20.14, the rule holds at $20.00 or more`. */
export function describeCrossing({ figure, qualifier, op, threshold, reading }: Crossing): string {
  const label = figureLabel(figure, qualifier)
  if (reading === undefined) return `${label} could not be read, and the rule holds then`
  const { value } = reading
  const up = reading.cut && FIGURES[figure].worst === 'max' && typeof value === 'number' ? value + 1 : value
  if (FIGURES[figure].unit === 'name') {
    return figure === 'destination'
      ? `figures would go to ${value}`
      : `${label} matches ${amountText(figure, threshold)}`
  }
  return `${label} is ${readingText(figure, up)}, the rule holds at ${thresholdText(figure, op, threshold)}`
}

/** A measured amount: as {@link amountText}, but a cost is rounded up to what people count in. */
function readingText(figure: Condition['figure'], value: number | string): string {
  return typeof value === 'number' && FIGURES[figure].unit === 'usd' ? formatCost(value) : amountText(figure, value)
}

/** By how much: `$0.14 over`, `1.5 points below`; undefined for names, tiers, and a figure that stands just on the threshold. */
export function crossedBy({ figure, threshold, reading }: Crossing): string | undefined {
  if (typeof reading?.value !== 'number' || typeof threshold !== 'number') return undefined
  const by = reading.value - threshold
  if (by === 0) return undefined
  const size = Math.abs(by)
  const amount = FIGURES[figure].unit === 'usd' ? formatCost(size) : `${formatMicros(size)} points`
  return `${amount} ${by > 0 ? 'over' : 'below'}`
}
