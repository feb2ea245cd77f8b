import { minorPlaces } from '#core/spend/exchange.ts'
import { type Block, layOut, type Mail } from './layout.ts'

export type BudgetStepData = {
  account: string
  org: string
  budget: string
  /** `tenant acme`; `a member` for somebody whose figures the reader does not see. */
  of?: string
  /** Percentages, rising; all reached now. */
  steps: readonly number[]
  /** Exact decimals. Absent: the reader does not see them. */
  used?: string
  bound?: string
  amount: string
  currency: string
  basis: 'equivalent' | 'billed'
  window: { start: string; end: string; zone: string }
  /** The window had ended when usage came that reached the step. */
  ended: boolean
  url: string
}

const BASIS = { equivalent: 'all usage at list prices', billed: 'usage that is billed for' }

/** A step of a budget was reached, to one of its owners. Amounts are shown to the currency's smallest unit, upwards: nothing looks unspent that is not. */
export function budgetStepMail(data: BudgetStepData): Mail {
  const { budget, of, steps, amount, currency, window } = data
  const step = steps.at(-1)!
  const name = of === undefined ? budget : `${budget} (${of})`
  const money = (decimal: string) => `${upTo(minorPlaces(currency), decimal)} ${currency}`
  const rows: (readonly [string, string])[] = [
    ['Organisation', data.org],
    ['Budget', name],
  ]
  if (data.used !== undefined) rows.push(['Used', money(data.used)])
  rows.push(['Amount', money(amount)], ['Counts', BASIS[data.basis]])
  if (data.bound !== undefined) rows.push(['Of it unpriced', `at most ${money(data.bound)}, at the dearest price`])
  rows.push(['Window', `${window.start} to ${window.end}${window.zone === 'UTC' ? '' : ` (${window.zone})`}`])
  if (steps.length > 1) rows.push(['Steps reached', steps.map(pct => `${pct} %`).join(', ')])
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `${name} has reached ${step} % of its amount.${step >= 100 ? ' It is exhausted: boundaries that read it hold from now on.' : ''}${data.ended ? ' The window has ended; the usage was reported late.' : ''}`,
    },
    { kind: 'rows', rows },
    { kind: 'link', label: 'Open the budget', url: data.url },
    {
      kind: 'small',
      text: `Sent to ${data.account}, an owner of this budget, once for each step and window. Figures are what machines reported.`,
    },
  ]
  return layOut(`Budget ${name}: ${step} % reached`, blocks)
}

/** Rounds an exact decimal up to so many places, in its digits. */
function upTo(places: number, decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.')
  const units = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
  const up = units + (/[1-9]/.test(fraction.slice(places)) ? 1n : 0n)
  const digits = up.toString().padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}
