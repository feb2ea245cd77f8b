'use client'

import { useId } from 'react'
import { axisText } from '../axis.ts'
import type { BurnData } from './burn-data.ts'

const HEIGHT = 208
/** What a line of words takes. */
const LABEL = 14

type Props = {
  data: BurnData
  currency: string
  title: string
  description: string
  /** Percentages at which owners are told. */
  steps: readonly number[]
  /** Words below the axis: the window's first and last day. */
  first: string
  last: string
}

/**
 * What is left of a budget, day by day, and where the window is likely to end. The table beneath holds the same figures. A client component,
 * though it does nothing there: what a server component writes may come in pieces, and a piece of an SVG comes with a style attribute,
 * which the CSP forbids.
 */
export function BurnChart({ data, currency, title, description, steps, first, last }: Props) {
  const id = useId()
  const { marks, points, end, now, amount } = data
  const [low, high] = [marks[0]!, marks.at(-1)!]
  const share = (left: number) => (high - left) / (high - low)
  const y = (left: number) => 4 + share(left) * (HEIGHT - 8)
  // In hundredths of the box, which is stretched to its place; lines keep their width.
  const px = (x: number, left: number) => `${(x * 100).toFixed(3)} ${((y(left) / HEIGHT) * 100).toFixed(3)}`
  const line = points.map(({ x, left }, i) => `${i === 0 ? 'M' : 'L'}${px(x, left)}`).join('')
  const from = points.at(-1)!
  const step = marks[1]! - marks[0]!
  const lines = steps
    .filter(one => one > 0 && one < 100)
    .map(one => ({ step: one, at: y(amount * (1 - one / 100)) }))
    .sort((a, b) => a.at - b.at)
  // Of lines that lie close together the lowest is named, which is the next one to matter.
  const isNamed = (i: number) => i === lines.length - 1 || lines[i + 1]!.at - lines[i]!.at >= LABEL
  return (
    <figure className="px-4 pt-4 pb-3">
      <div className="flex gap-2">
        <svg aria-hidden width="56" height={HEIGHT + 24} className="shrink-0 overflow-visible">
          {marks.map(mark => (
            <text key={mark} x="54" y={y(mark) + 4} textAnchor="end" className="fill-ink-3 text-xs tabular-nums">
              {axisText(mark, step, currency)}
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
          <defs>
            <pattern id={`${id}-band`} width="8" height="8" patternUnits="userSpaceOnUse">
              <rect width="8" height="8" className="fill-accent-soft" />
              <path d="M-2 2 2 -2M0 8 8 0M6 10 10 6" className="stroke-accent" opacity="0.35" />
            </pattern>
          </defs>
          {marks.map(mark => (
            <line
              key={mark}
              x1="0"
              x2="100%"
              y1={y(mark)}
              y2={y(mark)}
              className={mark === 0 ? 'stroke-ink-2' : 'stroke-line'}
            />
          ))}
          {lines.map(({ step: one, at }, i) => (
            <g key={one}>
              <line x1="0" x2="100%" y1={at} y2={at} strokeDasharray="2 4" className="stroke-control" />
              {isNamed(i) && (
                <text x="4" y={at - 4} className="fill-ink-3 text-xs">
                  {one} % used
                </text>
              )}
            </g>
          ))}
          <svg aria-hidden width="100%" height={HEIGHT} viewBox="0 0 100 100" preserveAspectRatio="none">
            <path d={`${line}L${px(from.x, 0)}L${px(0, 0)}Z`} className="fill-accent" opacity="0.1" />
            {end && (
              <>
                <path
                  d={`M${px(from.x, from.left)}L${px(1, end.best)}L${px(1, end.worst)}Z`}
                  fill={`url(#${id}-band)`}
                />
                <path
                  d={`M${px(from.x, from.left)}L${px(1, end.expected)}`}
                  fill="none"
                  strokeWidth="2"
                  strokeDasharray="5 4"
                  vectorEffect="non-scaling-stroke"
                  className="stroke-accent"
                />
              </>
            )}
            <path d={line} fill="none" strokeWidth="2" vectorEffect="non-scaling-stroke" className="stroke-accent" />
          </svg>
          {now > 0 && now < 1 && (
            <line x1={`${now * 100}%`} x2={`${now * 100}%`} y1="4" y2={HEIGHT} className="stroke-line-strong" />
          )}
          <text x="0" y={HEIGHT + 18} className="fill-ink-3 text-xs">
            {first}
          </text>
          <text x="100%" y={HEIGHT + 18} textAnchor="end" className="fill-ink-3 text-xs">
            {last}
          </text>
        </svg>
      </div>
      <figcaption className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-ink-2 text-sm">
        <Key words="left so far">
          <path d="M0 6h16" strokeWidth="2" className="stroke-accent" />
        </Key>
        {end && (
          <>
            <Key words="expected">
              <path d="M0 6h16" strokeWidth="2" strokeDasharray="5 4" className="stroke-accent" />
            </Key>
            <Key words="between the quietest and the busiest of the days it is made from">
              <rect width="16" height="12" fill={`url(#${id}-band)`} />
            </Key>
          </>
        )}
      </figcaption>
    </figure>
  )
}

function Key({ words, children }: { words: string; children: React.ReactNode }) {
  return (
    <span className="flex items-center gap-1.5">
      <svg aria-hidden width="16" height="12" className="shrink-0">
        {children}
      </svg>
      {words}
    </span>
  )
}
