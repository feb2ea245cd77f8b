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
export function questionOf(request: Described, memberName: string): string {
  const { situation, ask } = describeRequest(request, memberName)
  return `${situation} ${ask}`
}

/** The same without asking: what a request that is settled was about. */
export const situationOf = (request: Described, memberName: string): string =>
  describeRequest(request, memberName).situation

type Described = Pick<ApprovalRequest, 'action' | 'client' | 'figures' | 'subject'>

function describeRequest(request: Described, memberName: string): { situation: string; ask: string } {
  const client = CLIENT_NAMES[request.client]
  const read = (name: string) => request.figures.find(figure => figure.name === name && figure.value !== 'unread')
  const { subject } = request
  if (subject.kind === 'route')
    return {
      situation: `The router would move a request of ${memberName} from ${subject.from} to ${subject.to}.`,
      ask: 'Let it?',
    }
  if (subject.kind === 'share')
    return {
      situation: `A machine of ${memberName} is about to send figures to ${subject.destination}.`,
      ask: 'Let it?',
    }
  const session = `A ${client} session of ${memberName}`
  if (request.action === 'subagent_model') {
    const tier = request.figures.find(figure => figure.name === 'model_tier')
    const model = tier ? `a model of tier ${tier.value}` : 'another model'
    return { situation: `${session} wants a subagent on ${model}.`, ask: 'Let it start?' }
  }
  const [cost, budget, plan] = [read('session_cost_usd'), read('budget_used_pct'), read('plan_left_pct')]
  const situation = cost
    ? `${session} has cost ${figureText(cost)}.`
    : budget
      ? `${session} runs on a budget that is ${figureText(budget)} used.`
      : plan
        ? `${session} has ${figureText(plan)} of its plan left.`
        : `${session} has reached a hold point.`
  return { situation, ask: 'Let it go on?' }
}
