'use client'

import { useId } from 'react'
import { Name } from '#app/_ui/name.tsx'
import { moneyText } from '#core/spend/round.ts'
import { axisMarks, axisText, writtenMarks } from './axis.ts'
import type { ChartData } from './chart-data.ts'
import { roughly } from './figures.ts'
import { type ChartStep, startMark, startWords } from './period.ts'
import { paintOf, type SeriesLook, SeriesPatterns, Swatch } from './series-look.tsx'

const HEIGHT = 208
/** Few bars do not grow wide. */
const SLOTS_MIN = 12

type Bar = { key: string; look: SeriesLook; words: string; size: number }
type Props = { data: ChartData; step: ChartStep; title: string; description: string }

/**
 * Spend over time as stacked bars. Drawn on the server in a box whose widths are shares of it, so that letters keep their size at
 * every width. Everything in it is in the table beneath too. A client component,
 * though it does nothing there: what a server component writes may come in pieces, and a piece of an SVG comes with a style attribute,
 * which the CSP forbids.
 */
export function StackedChart({ data, step, title, description }: Props) {
  const id = useId()
  const bars = data.starts.map((start, i) => barsOf(data, i, startWords(start, step)))
  const most = Math.max(...bars.map(stack => stack.reduce((sum, { size }) => sum + size, 0)))
  const marks = axisMarks(most)
  const top = marks.at(-1)!
  const slot = 100 / Math.max(SLOTS_MIN, data.starts.length)
  const written = writtenMarks(data.starts.length)
  const hasAtMost = data.atMost.some(part => part > 0n)
  const hasUnknown = data.unknown.some(part => part > 0n)
  const legend: { look: SeriesLook; name: string }[] = [
    ...data.series.map(({ look, name }) => ({ look, name })),
    ...(hasAtMost ? [{ look: 'atMost' as const, name: 'unpriced, at most' }] : []),
    ...(hasUnknown ? [{ look: 'unknown' as const, name: 'cover unknown' }] : []),
  ]
  return (
    <figure className="px-4 pt-4 pb-3">
      <div className="flex gap-2">
        <svg aria-hidden width="52" height={HEIGHT + 24} className="shrink-0 overflow-visible">
          {marks.map(mark => (
            <text
              key={mark}
              x="50"
              y={HEIGHT - (mark / top) * (HEIGHT - 8) + 4}
              textAnchor="end"
              className="fill-ink-3 text-xs tabular-nums"
            >
              {axisText(mark, marks[1]!, data.currency)}
            </text>
          ))}
        </svg>
        <svg
          role="img"
          aria-labelledby={`${id}-title ${id}-desc`}
          height={HEIGHT + 24}
          className="min-w-0 flex-1 overflow-visible"
        >
          <title id={`${id}-title`}>{title}</title>
          <desc id={`${id}-desc`}>{description}</desc>
          <SeriesPatterns id={id} looks={legend.map(({ look }) => look)} />
          {marks.map(mark => {
            const y = Math.round(HEIGHT - (mark / top) * (HEIGHT - 8)) - 0.5
            return <line key={mark} x1="0" x2="100%" y1={y} y2={y} className="stroke-line" />
          })}
          {bars.map((stack, i) => {
            let y = HEIGHT
            return (
              <g key={data.starts[i]}>
                {stack.map(({ key, look, words, size }) => {
                  const height = (size / top) * (HEIGHT - 8)
                  y -= height
                  return (
                    <rect
                      key={key}
                      x={`${i * slot + slot * 0.14}%`}
                      width={`${slot * 0.72}%`}
                      y={y}
                      height={height}
                      fill={paintOf(id, look)}
                      className={look === 'atMost' || look === 'unknown' ? 'stroke-waiting' : 'stroke-panel'}
                    >
                      <title>{words}</title>
                    </rect>
                  )
                })}
                {written.isWritten(i) && (
                  <text
                    x={`${i * slot + slot * 0.5}%`}
                    y={HEIGHT + 18}
                    textAnchor="middle"
                    className={`fill-ink-3 text-xs tabular-nums ${written.isNarrow(i) ? '' : 'max-sm:hidden'}`}
                  >
                    {startMark(data.starts[i]!, step)}
                  </text>
                )}
              </g>
            )
          })}
        </svg>
      </div>
      <figcaption className="mt-2">
        <ul aria-label="Bands, from the bottom up" className="flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-sm">
          {legend.map(({ look, name }) => (
            <li key={look === 'others' ? `others ${name}` : look} className="flex min-w-0 items-center gap-1.5">
              <Swatch id={id} look={look} />
              <Name>{name}</Name>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

function barsOf(data: ChartData, i: number, when: string): Bar[] {
  const bar = (key: string, look: SeriesLook, name: string, part: bigint): Bar => ({
    key,
    look,
    words: `${name}, ${when}: ${moneyText(part, { currency: data.currency })}`,
    size: roughly(part),
  })
  return [
    ...data.series.map(({ key, look, name, exact }) => bar(key, look, name, exact[i]!)),
    bar('atMost', 'atMost', 'Unpriced, at most', data.atMost[i]!),
    bar('unknown', 'unknown', 'Cover unknown', data.unknown[i]!),
  ].filter(({ size }) => size > 0)
}
