import { CLIENT_NAMES } from '#core/client.ts'
import { FIGURES } from '#core/figure.ts'
import { formatCost, parseMicros } from '#core/money.ts'
import type { Ceiling } from './answer.ts'
import type { ApprovalRequest, CrossedFigure } from './request.ts'

/** A crossed figure's value as people read it: `$20.14`, `91%`, `opus`, `could not be read`. */
export function figureText(figure: Pick<CrossedFigure, 'value' | 'unit'>): string {
  if (figure.value === 'unread') return 'could not be read'
  if (figure.unit === 'usd') {
    const micros = parseMicros(figure.value)
    return micros === undefined ? `$${figure.value}` : formatCost(micros)
  }
  return figure.unit === 'pct' ? `${figure.value}%` : figure.value
}

/** A ceiling's amount as people read it: `$40.00`, `90%`. */
export const ceilingText = ({ figure, value }: Ceiling): string =>
  figureText({ value, unit: figure === 'session_cost_usd' ? 'usd' : 'pct' })

/** What a crossed figure is called: `Session cost`, `Budget used (monthly)`. */
export function figureTitle(figure: Pick<CrossedFigure, 'name' | 'qualifier'>): string {
  const { label } = FIGURES[figure.name]
  const title = label.charAt(0).toUpperCase() + label.slice(1)
  return figure.qualifier === undefined ? title : `${title} (${figure.qualifier})`
}

/**
 * The question a request asks, in one sentence, for pages and mail: "A Claude Code session of Dana has cost $20.14. Let it
 * go on?" Built from the fixed lists of the request and the member's own name; nothing else is known here.
 */
export function questionOf(
  request: Pick<ApprovalRequest, 'action' | 'client' | 'figures' | 'subject'>,
  memberName: string,
): string {
  const client = CLIENT_NAMES[request.client]
  const cost = request.figures.find(f => f.name === 'session_cost_usd' && f.value !== 'unread')
  const budget = request.figures.find(f => f.name === 'budget_used_pct' && f.value !== 'unread')
  const plan = request.figures.find(f => f.name === 'plan_left_pct' && f.value !== 'unread')
  const tier = request.figures.find(f => f.name === 'model_tier')
  const { subject } = request
  if (subject.kind === 'route')
    return `The router would move a request of ${memberName} from ${subject.from} to ${subject.to}. Let it?`
  if (subject.kind === 'share')
    return `A machine of ${memberName} is about to send figures to ${subject.destination}. Let it?`
  if (request.action === 'subagent_model') {
    return `A ${client} session of ${memberName} wants a subagent on ${tier ? `a model of tier ${tier.value}` : 'another model'}. Let it start?`
  }
  if (cost) return `A ${client} session of ${memberName} has cost ${figureText(cost)}. Let it go on?`
  if (budget)
    return `A ${client} session of ${memberName} runs on a budget that is ${figureText(budget)} used. Let it go on?`
  if (plan) return `A ${client} session of ${memberName} has ${figureText(plan)} of its plan left. Let it go on?`
  return `A ${client} session of ${memberName} has reached a hold point. Let it go on?`
}
