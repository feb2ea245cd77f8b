'use client'

import { moneyText } from '#core/spend/round.ts'
import { type Bar, BarChart } from './bar-chart.tsx'
import type { ChartData } from './chart-data.ts'
import { roughly } from './figures.ts'
import { type ChartStep, startWords } from './period.ts'
import type { SeriesLook } from './series-look.tsx'

type Props = { data: ChartData; step: ChartStep; title: string; description: string }

/** Spend over time as stacked bars; a client component as {@link BarChart} is. */
export function StackedChart({ data, step, title, description }: Props) {
  const hasAtMost = data.atMost.some(part => part > 0n)
  const hasUnknown = data.unknown.some(part => part > 0n)
  const legend: { look: SeriesLook; name: string }[] = [
    ...data.series.map(({ look, name }) => ({ look, name })),
    ...(hasAtMost ? [{ look: 'atMost' as const, name: 'unpriced, at most' }] : []),
    ...(hasUnknown ? [{ look: 'unknown' as const, name: 'cover unknown' }] : []),
  ]
  return (
    <BarChart
      title={title}
      description={description}
      currency={data.currency}
      starts={data.starts}
      step={step}
      slotsMin={12}
      barsOf={i => stackOf(data, i, startWords(data.starts[i]!, step))}
      order="Bands, from the bottom up"
      legend={legend}
    />
  )
}

function stackOf(data: ChartData, i: number, when: string): Bar[] {
  const parts: [key: string, look: SeriesLook, name: string, part: bigint][] = [
    ...data.series.map(({ key, look, name, exact }) => [key, look, name, exact[i]!] as (typeof parts)[number]),
    ['atMost', 'atMost', 'Unpriced, at most', data.atMost[i]!],
    ['unknown', 'unknown', 'Cover unknown', data.unknown[i]!],
  ]
  let base = 0
  return parts.flatMap(([key, look, name, part]) => {
    const size = roughly(part)
    if (size <= 0) return []
    const words = `${name}, ${when}: ${moneyText(part, { currency: data.currency })}`
    const bar = { key, look, words, size, base, shift: 0.14, width: 0.72 }
    base += size
    return [bar]
  })
}
