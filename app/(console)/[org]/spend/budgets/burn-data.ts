/** What is left of a budget over its window, for the burn-down chart. Shares of the window go from 0 to 1; amounts are for lengths only. */
import { parseDecimal } from '#core/decimal.ts'
import { axisMarks } from '../axis.ts'
import { roughly } from '../figures.ts'
import type { BudgetDetail, Share } from './words.ts'

export type Point = { x: number; left: number }
export type BurnData = {
  amount: number
  points: Point[]
  /** Where the window will end: expected, and the bounds; undefined: too early or over. */
  end: { expected: number; best: number; worst: number } | undefined
  /** Highest and lowest marks of the axis, and those between. */
  marks: number[]
  now: number
}

const amountOf = (decimal: string): number => roughly(parseDecimal(decimal) ?? 0n)

export function burnData(
  budget: Pick<BudgetDetail, 'amount' | 'start' | 'end' | 'days'>,
  share: Share,
  now: Date,
): BurnData {
  const [start, end] = [budget.start.getTime(), budget.end.getTime()]
  const at = (ms: number) => Math.min(1, Math.max(0, (ms - start) / (end - start)))
  const present = at(now.getTime())
  const amount = amountOf(budget.amount)
  const days = budget.days.length
  // Days are of one length here: an hour more or less in spring and autumn is no pixel.
  const width = 86_400_000 / (end - start)
  const points = [
    { x: 0, left: amount },
    ...budget.days.map(({ sum }, i) => ({
      x: i === days - 1 ? present : Math.min(present, (i + 1) * width),
      left: amount - amountOf(sum),
    })),
  ]
  const { forecast } = share
  const ahead =
    forecast.state === 'forecast' && forecast.method !== 'over'
      ? {
          expected: amount - amountOf(forecast.expected),
          best: amount - amountOf(forecast.low),
          worst: amount - amountOf(forecast.high),
        }
      : undefined
  const lefts = [...points.map(({ left }) => left), ...(ahead ? [ahead.expected, ahead.best, ahead.worst] : [])]
  const top = Math.max(amount, ...lefts)
  const lowest = Math.min(0, ...lefts)
  // One step for both sides of nought, of all that is drawn: a budget that is passed a thousand times over has no thousand marks.
  const step = axisMarks(top - lowest)[1]!
  const marksTo = (most: number) => Math.ceil(most / step - 1e-9)
  const below = marksTo(-lowest)
  const marks = Array.from({ length: below + Math.max(1, marksTo(top)) + 1 }, (_, i) => (i - below) * step)
  return { amount, points, end: ahead, marks, now: present }
}
