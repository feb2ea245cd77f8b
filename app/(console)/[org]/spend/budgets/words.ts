import type { inferRouterOutputs } from '@trpc/server'
import { parseDecimal } from '#core/decimal.ts'
import { moneyText } from '#core/spend/round.ts'
import type { AppRouter } from '#server/api/root.ts'
import { startWords } from '../period.ts'

type Outputs = inferRouterOutputs<AppRouter>['budget']
export type BudgetList = Outputs['list']
export type Budget = BudgetList['budgets'][number]
export type BudgetDetail = Outputs['get']
export type Share = Budget['shares'][number]
export type ForecastView = Share['forecast']

/** An exact decimal as money of the budget's currency. */
export const moneyOf = (amount: string, currency: string): string => moneyText(parseDecimal(amount) ?? 0n, { currency })

/** Whom a budget is for: `the whole organisation`, `tenant billing`, `each tenant`. */
export const forWords = ({ for: whom }: Pick<Budget, 'for'>): string =>
  whom == null ? 'the whole organisation' : whom.value === '*' ? `each ${whom.key}` : `${whom.key} ${whom.value}`

const WINDOWS: Readonly<Record<string, string>> = {
  daily: 'a day',
  weekly: 'a week',
  monthly: 'a month',
  quarterly: 'a quarter',
}
/** `a month`, `in 30 days, rolling`. */
export function windowWords({ window }: Pick<Budget, 'window'>): string {
  const rolling = /^rolling (\d+)d$/.exec(window)?.[1]
  return rolling ? `in ${rolling} days, rolling` : (WINDOWS[window] ?? window)
}
/** `$500.00 a month`, `$2,500.00 in 30 days, rolling`. */
export const amountWords = (budget: Pick<Budget, 'amount' | 'currency' | 'window'>): string =>
  `${moneyOf(budget.amount, budget.currency)} ${windowWords(budget)}`

export const basisWords = (basis: Budget['basis']): string => (basis === 'billed' ? 'billed' : 'list price')

/** The highest step that is reached right now; undefined below the first. */
export const stepReached = ({ steps }: Pick<Share, 'steps'>): number | undefined =>
  steps.filter(({ reached }) => reached).at(-1)?.step

/** How a share stands, for its bar and its pill. */
export function standing(share: Share): { tone: 'accent' | 'waiting' | 'held'; words: string } {
  if (share.exhausted) return { tone: 'held', words: 'used up' }
  const step = stepReached(share)
  return step === undefined
    ? { tone: 'accent', words: 'below the first step' }
    : { tone: step >= 75 ? 'waiting' : 'accent', words: `past ${step} %` }
}

/** What the window will have cost at its end, in one line. */
export function forecastWords(forecast: ForecastView, currency: string): string {
  if (forecast.state === 'too_early') return 'too early to say'
  if (forecast.method === 'over') return 'the window has ended'
  return moneyOf(forecast.expected, currency)
}

/** What it rests on, and between which bounds; of a budget that is not used up yet, when it will be. */
export function forecastNote({ forecast, exhausted }: Pick<Share, 'forecast' | 'exhausted'>, currency: string): string {
  if (forecast.state === 'too_early') return `${forecast.days} of the 3 whole days that a forecast needs`
  if (forecast.method === 'over') return 'nothing is left to foretell'
  const range = `${moneyOf(forecast.low, currency)} to ${moneyOf(forecast.high, currency)}`
  return forecast.reachedOn && !exhausted ? `${range}; used up on ${startWords(forecast.reachedOn, 'day')}` : range
}

export const ownersWords = ({ owners }: Pick<Budget, 'owners'>): string =>
  owners
    .map(({ owner, name, people }) =>
      owner.startsWith('member:')
        ? people === 0
          ? `${name} (gone)`
          : name
        : `${name}s${name === 'owner' ? '' : ' and above'} (${people})`,
    )
    .join(', ')
