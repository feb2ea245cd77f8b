import type { ReactNode } from 'react'

/** A band's colour and texture: either alone tells it from its neighbours. */
export type SeriesLook = 1 | 2 | 3 | 4 | 'others' | 'none' | 'atMost' | 'unknown'

const LOOKS: Record<SeriesLook, { fill: string; marks?: ReactNode }> = {
  1: { fill: 'fill-series-1' },
  2: { fill: 'fill-series-2', marks: <path d="M-2 2 2 -2M0 8 8 0M6 10 10 6" /> },
  3: { fill: 'fill-series-3', marks: <path d="M2 2h.01M6 6h.01" strokeWidth="2" strokeLinecap="round" /> },
  4: { fill: 'fill-series-4', marks: <path d="M0 2h8M0 6h8" /> },
  others: { fill: 'fill-ink-3', marks: <path d="M-2 6 2 10M0 0 8 8M6 -2 10 2" /> },
  none: { fill: 'fill-series-5' },
  atMost: { fill: 'fill-panel' },
  unknown: { fill: 'fill-panel' },
}
/** Outlined and open: what stands beside a total and is no part of it. */
const OPEN: Partial<Record<SeriesLook, ReactNode>> = {
  atMost: <path d="M-2 2 2 -2M0 8 8 0M6 10 10 6" />,
  unknown: <path d="M4 4h.01" strokeWidth="2" strokeLinecap="round" />,
}

export const paintOf = (id: string, look: SeriesLook): string => `url(#${id}-${look})`

/** The patterns that bands are painted with; once in a page for each chart. */
export function SeriesPatterns({ id, looks }: { id: string; looks: readonly SeriesLook[] }) {
  return (
    <defs>
      {looks.map(look => (
        <pattern key={look} id={`${id}-${look}`} width="8" height="8" patternUnits="userSpaceOnUse">
          <rect width="8" height="8" className={LOOKS[look].fill} />
          {LOOKS[look].marks && (
            <g className="stroke-panel" opacity="0.45">
              {LOOKS[look].marks}
            </g>
          )}
          {OPEN[look] && <g className="stroke-waiting">{OPEN[look]}</g>}
        </pattern>
      ))}
    </defs>
  )
}

/** A band's square in the legend. */
export function Swatch({ id, look }: { id: string; look: SeriesLook }) {
  const open = look === 'atMost' || look === 'unknown'
  return (
    <svg aria-hidden width="12" height="12" className="shrink-0">
      <rect
        x="0.5"
        y="0.5"
        width="11"
        height="11"
        rx="2"
        fill={paintOf(id, look)}
        className={open ? 'stroke-waiting' : undefined}
      />
    </svg>
  )
}
