'use client'

import { daysOfMonth } from '#core/day.ts'
import { moneyText } from '#core/spend/round.ts'
import { type Bar, BarChart } from '../../bar-chart.tsx'
import { roughly } from '../../figures.ts'
import { startsOf, startWords } from '../../period.ts'
import { type ComparedRow, picoOf } from '../words.ts'

type Props = { month: string; days: readonly ComparedRow[]; currency: string; title: string; description: string }

/** Two bars a day: what was asked for, and what was reported; a client component as {@link BarChart} is. */
export function DayChart({ month, days, currency, title, description }: Props) {
  const known = new Map(days.map(day => [day.day, day]))
  const starts = startsOf(daysOfMonth(month), 'day')
  const barsOf = (i: number): Bar[] => {
    const start = starts[i]!
    const row = known.get(start)
    const bar = (look: 1 | 2, name: string, shift: number, amount: string): Bar => {
      const pico = picoOf(amount)
      const words = `${name}, ${startWords(start, 'day')}: ${moneyText(pico, { currency })}`
      return { key: name, look, words, size: roughly(pico), shift, width: 0.36 }
    }
    const both = [bar(2, 'Asked for', 0.13, row?.theirs ?? '0'), bar(1, 'Reported', 0.51, row?.ours ?? '0')]
    return both.filter(({ size }) => size > 0)
  }
  return (
    <BarChart
      title={title}
      description={description}
      currency={currency}
      starts={starts}
      step="day"
      barsOf={barsOf}
      order="Bars, from the left"
      legend={[
        { look: 2, name: 'asked for' },
        { look: 1, name: 'reported' },
      ]}
    />
  )
}
