'use client'

import { useId } from 'react'
import { Name } from '#app/_ui/name.tsx'
import { axisMarks, axisText, writtenMarks } from './axis.ts'
import { type ChartStep, startMark } from './period.ts'
import { paintOf, type SeriesLook, SeriesPatterns, Swatch } from './series-look.tsx'

const HEIGHT = 208

/** A bar: where in its slot it stands and how wide it is, in parts of the slot, and what it stands on; sizes in units of money. */
export type Bar = {
  key: string
  look: SeriesLook
  words: string
  size: number
  shift: number
  width: number
  base?: number
}
type Props = {
  title: string
  description: string
  currency: string
  /** The starts of all slots, those without bars too. */
  starts: readonly string[]
  step: ChartStep
  /** Few bars do not grow wide: there is room for so many slots at the least. */
  slotsMin?: number
  barsOf: (i: number) => readonly Bar[]
  /** How the legend is called for who cannot see it: in which order the bars stand. */
  order: string
  legend: readonly { look: SeriesLook; name: string }[]
}

/**
 * Money over time as bars. Drawn on the server in a box whose widths are shares of it, so that letters keep their size at every
 * width; whatever it shows is in a table beneath too. A client component, though it does nothing there: what a server component
 * writes may come in pieces, and a piece of an SVG comes with a style attribute, which the CSP forbids.
 */
export function BarChart({ title, description, currency, starts, step, slotsMin = 0, barsOf, order, legend }: Props) {
  const id = useId()
  const slots = starts.map((start, i) => ({ start, bars: barsOf(i) }))
  const marks = axisMarks(Math.max(...slots.flatMap(({ bars }) => bars.map(({ base = 0, size }) => base + size)), 0))
  const heightOf = (size: number) => Math.max(0, (size / marks.at(-1)!) * (HEIGHT - 8))
  const slot = 100 / Math.max(slotsMin, starts.length)
  const written = writtenMarks(starts.length)
  return (
    <figure className="px-4 pt-4 pb-3">
      <div className="flex gap-2">
        <svg aria-hidden width="56" height={HEIGHT + 24} className="shrink-0 overflow-visible">
          {marks.map(mark => (
            <text
              key={mark}
              x="54"
              y={HEIGHT - heightOf(mark) + 4}
              textAnchor="end"
              className="fill-ink-3 text-xs tabular-nums"
            >
              {axisText(mark, marks[1]!, currency)}
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
            const y = Math.round(HEIGHT - heightOf(mark)) - 0.5
            return <line key={mark} x1="0" x2="100%" y1={y} y2={y} className="stroke-line" />
          })}
          {slots.map(({ start, bars }, i) => (
            <g key={start}>
              {bars.map(({ key, look, words, size, shift, width, base = 0 }) => (
                <rect
                  key={key}
                  x={`${(i + shift) * slot}%`}
                  width={`${slot * width}%`}
                  y={HEIGHT - heightOf(base + size)}
                  height={heightOf(size)}
                  fill={paintOf(id, look)}
                  className={look === 'atMost' || look === 'unknown' ? 'stroke-waiting' : 'stroke-panel'}
                >
                  <title>{words}</title>
                </rect>
              ))}
              {written.isWritten(i) && (
                <text
                  x={`${(i + 0.5) * slot}%`}
                  y={HEIGHT + 18}
                  textAnchor="middle"
                  className={`fill-ink-3 text-xs tabular-nums ${written.isNarrow(i) ? '' : 'max-sm:hidden'}`}
                >
                  {startMark(start, step)}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
      <figcaption className="mt-2">
        <ul aria-label={order} className="flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-sm">
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
