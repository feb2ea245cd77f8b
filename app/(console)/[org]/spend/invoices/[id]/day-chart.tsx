'use client'

import { useId } from 'react'
import { daysOfMonth } from '#core/day.ts'
import { moneyText } from '#core/spend/round.ts'
import { axisMarks, writtenMarks } from '../../axis.ts'
import { roughly } from '../../figures.ts'
import { startMark, startsOf, startWords } from '../../period.ts'
import { paintOf, SeriesPatterns, Swatch } from '../../series-look.tsx'
import { type ComparedRow, picoOf } from '../words.ts'

const HEIGHT = 208

type Props = { month: string; days: readonly ComparedRow[]; currency: string; title: string; description: string }

/**
 * Two bars a day: what was asked for, and what was reported. The table beneath holds the same figures. A client component, though it
 * does nothing there: what a server component writes may come in pieces, and a piece of an SVG comes with a style attribute, which
 * the CSP forbids.
 */
export function DayChart({ month, days, currency, title, description }: Props) {
  const id = useId()
  const known = new Map(days.map(day => [day.day, day]))
  const slots = startsOf(daysOfMonth(month), 'day').map(start => {
    const row = known.get(start)
    return { start, theirs: picoOf(row?.theirs ?? '0'), ours: picoOf(row?.ours ?? '0') }
  })
  const most = Math.max(...slots.flatMap(({ theirs, ours }) => [roughly(theirs), roughly(ours)]))
  const marks = axisMarks(most)
  const top = marks.at(-1)!
  const step = marks[1]!
  const places = Number.isInteger(step) ? 0 : Math.min(12, Math.max(2, Math.ceil(-Math.log10(step)) + 1))
  const mark = (value: number) =>
    moneyText(BigInt(Math.round(value * 1e6)) * 1_000_000n, { currency, places }).replace(/^<.*/, '')
  const slot = 100 / slots.length
  const written = writtenMarks(slots.length)
  const height = (pico: bigint) => Math.max(0, (roughly(pico) / top) * (HEIGHT - 8))
  const bar = (at: number, shift: number, look: 1 | 2, words: string, pico: bigint) => (
    <rect
      x={`${at * slot + slot * shift}%`}
      width={`${slot * 0.36}%`}
      y={HEIGHT - height(pico)}
      height={height(pico)}
      fill={paintOf(id, look)}
    >
      <title>{`${words}, ${startWords(slots[at]!.start, 'day')}: ${moneyText(pico, { currency })}`}</title>
    </rect>
  )
  return (
    <figure className="px-4 pt-4 pb-3">
      <div className="flex gap-2">
        <svg aria-hidden width="60" height={HEIGHT + 24} className="shrink-0 overflow-visible">
          {marks.map(value => (
            <text
              key={value}
              x="58"
              y={HEIGHT - (value / top) * (HEIGHT - 8) + 4}
              textAnchor="end"
              className="fill-ink-3 text-xs tabular-nums"
            >
              {mark(value)}
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
          <SeriesPatterns id={id} looks={[1, 2]} />
          {marks.map(value => {
            const y = Math.round(HEIGHT - (value / top) * (HEIGHT - 8)) - 0.5
            return <line key={value} x1="0" x2="100%" y1={y} y2={y} className="stroke-line" />
          })}
          {slots.map(({ start, theirs, ours }, at) => (
            <g key={start}>
              {bar(at, 0.13, 2, 'Asked for', theirs)}
              {bar(at, 0.51, 1, 'Reported', ours)}
              {written.isWritten(at) && (
                <text
                  x={`${at * slot + slot * 0.5}%`}
                  y={HEIGHT + 18}
                  textAnchor="middle"
                  className={`fill-ink-3 text-xs tabular-nums ${written.isNarrow(at) ? '' : 'max-sm:hidden'}`}
                >
                  {startMark(start, 'day')}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
      <figcaption className="mt-2">
        <ul aria-label="Bars, from the left" className="flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-sm">
          <li className="flex items-center gap-1.5">
            <Swatch id={id} look={2} />
            asked for
          </li>
          <li className="flex items-center gap-1.5">
            <Swatch id={id} look={1} />
            reported
          </li>
        </ul>
      </figcaption>
    </figure>
  )
}
