import { CLIENT_NAMES, type Client } from '#core/client.ts'
import { type Block, layOut, type Mail } from './layout.ts'

export type BudgetStopData = {
  account: string
  org: string
  budget: string
  /** The boundary that read it. */
  rule: string
  did: 'asked' | 'refused'
  client: string
  /** Whose call it was: the reader's own, somebody's, or somebody's whose figures the reader does not see. */
  whose: { kind: 'own' } | { kind: 'named'; name: string } | { kind: 'withheld' }
  /** Absent: the reader does not see whose call it was. */
  machine?: string
  /** What the boundary read: a decimal of percent, or `unread`. */
  usedPct?: string
  at: string
  window: { start: string; end: string; zone: string }
  url: string
}

/** A budget's boundary held or refused a member's call: to the member, and to one of the budget's owners. */
export function budgetStopMail(data: BudgetStopData): Mail {
  const { budget, rule, whose, window, machine, usedPct } = data
  const client = CLIENT_NAMES[data.client as Client] ?? data.client
  const agent = whose.kind === 'own' ? 'your agent' : whose.kind === 'named' ? `the agent of ${whose.name}` : 'an agent'
  const verb = data.did === 'refused' ? 'refused' : 'held'
  const why =
    usedPct === undefined
      ? ''
      : usedPct === 'unread'
        ? ' How far the budget is used could not be read there, and the boundary holds then.'
        : ` The budget was ${usedPct} % used.`
  const rows: (readonly [string, string])[] = [
    ['Organisation', data.org],
    ['Budget', budget],
    ['Boundary', rule],
    ['Client', client],
    ...(machine === undefined ? [] : [['Machine', machine] as const]),
    ['When', data.at],
    ['Window', `${window.start} to ${window.end}${window.zone === 'UTC' ? '' : ` (${window.zone})`}`],
  ]
  const more =
    whose.kind === 'withheld'
      ? 'Others may be stopped by it until the window ends; you are told once, because you do not see whose figures these are.'
      : 'It goes on holding until the window ends, or the budget or the boundary is changed.'
  const blocks: Block[] = [
    { kind: 'text', text: `The boundary ${rule} ${verb} a call of ${agent}.${why} ${more}` },
    { kind: 'rows', rows },
    { kind: 'link', label: 'Open the budget', url: data.url },
    {
      kind: 'small',
      text:
        whose.kind === 'own'
          ? `Sent to ${data.account}, once for each budget and window, whatever else it stops.`
          : `Sent to ${data.account}, an owner of this budget, once for each window and member it stops.`,
    },
  ]
  return layOut(`Budget ${budget} stopped ${agent}`, blocks)
}
