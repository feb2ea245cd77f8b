'use client'

import { type ReactNode, useId } from 'react'
import { cn } from './class-names.ts'

export type Segment<V extends string> = { value: V; label: ReactNode; disabled?: boolean }
type Props<V extends string> = {
  label: string
  showLabel?: boolean
  name?: string
  value?: V
  defaultValue?: V
  onChange?: (value: V) => void
  segments: readonly Segment<V>[]
  /** Stretch over the width, as the ladder of a boundary does. */
  full?: boolean
  disabled?: boolean
}

/** One of a few short words side by side: the ladder allow, ask, approver, deny; or Form and YAML. Arrow keys move. */
export function SegmentedControl<V extends string>(props: Props<V>) {
  const { label, showLabel, name, value, defaultValue, onChange, segments, full, disabled } = props
  const own = useId()
  return (
    <fieldset disabled={disabled} className={cn('min-w-0', !full && 'w-fit')}>
      <legend className={cn(showLabel ? 'mb-1.5 text-sm font-medium' : 'sr-only')}>{label}</legend>
      <div
        className={cn(
          'grid auto-cols-fr grid-flow-col rounded-md border border-line-strong bg-panel',
          full && 'w-full',
        )}
      >
        {segments.map(segment => (
          <label
            key={segment.value}
            className={cn(
              'relative flex min-h-7.5 items-center justify-center border-line-strong border-r px-3 text-center text-xs text-ink-2 pointer-coarse:min-h-10',
              'first:rounded-l-[5px] last:rounded-r-[5px] last:border-r-0 has-enabled:hover:text-ink has-disabled:cursor-not-allowed has-disabled:opacity-60',
              'has-checked:bg-accent-soft has-checked:font-semibold forced-colors:has-checked:underline has-checked:text-accent has-checked:has-enabled:hover:text-accent',
              'has-focus-visible:z-1 has-focus-visible:outline-2 has-focus-visible:outline-accent',
            )}
          >
            <input
              type="radio"
              name={name ?? own}
              value={segment.value}
              disabled={segment.disabled}
              {...(value === undefined
                ? { defaultChecked: segment.value === defaultValue }
                : { checked: segment.value === value })}
              onChange={() => onChange?.(segment.value)}
              className="absolute inset-0 appearance-none opacity-0"
            />
            {/* The bold twin holds the width, so that choosing moves nothing. */}
            <span className="grid">
              <span className="col-start-1 row-start-1">{segment.label}</span>
              <span aria-hidden className="invisible col-start-1 row-start-1 font-semibold">
                {segment.label}
              </span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
