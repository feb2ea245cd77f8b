'use client'

import { cn } from './class-names.ts'

type Props = {
  /** What is measured: "Billing, July budget". */
  label: string
  /** 0 to 1; more than 1 counts as full. */
  fraction: number
  tone?: 'accent' | 'waiting' | 'held'
  /** Said instead of the percentage. */
  valueText?: string
  className?: string
}

const FILL = { accent: 'fill-accent', waiting: 'fill-waiting', held: 'fill-held' }

/**
 * A share as a bar. Put the number in words beside it. Widths are SVG attributes: style attributes would break the CSP. A client
 * component for the same reason: a server component's SVG may come in pieces, each with a style attribute.
 */
export function ProgressBar({ label, fraction, tone = 'accent', valueText, className }: Props) {
  const percent = Math.round(Math.min(1, Math.max(0, fraction)) * 1000) / 10
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      aria-valuetext={valueText}
      className={cn('h-1.5 w-full overflow-hidden rounded-full bg-line', className)}
    >
      <svg aria-hidden className="block h-full w-full">
        <rect width={`${percent}%`} height="100%" rx="3" className={FILL[tone]} />
      </svg>
    </div>
  )
}
