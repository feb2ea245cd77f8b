'use client'

import { type ComponentProps, type ReactNode, useId } from 'react'
import { cn } from './class-names.ts'

type Props = Omit<ComponentProps<'input'>, 'type' | 'children'> & { label: ReactNode; hint?: ReactNode }

// The box's own checked state is what is read out; aria-checked would only repeat it.
const AS_SWITCH = { role: 'switch' } as const

/** On or off, with effect at once. Built on a checkbox, so that it works in forms and without script. */
export function Switch({ label, hint, className, ...rest }: Props) {
  const hintId = useId()
  return (
    <div className={cn('grid grid-cols-[1fr_auto] items-start gap-x-4', className)}>
      <label className="contents">
        <span className="font-medium">{label}</span>
        <span className="relative inline-block h-5 w-9">
          <input
            type="checkbox"
            {...AS_SWITCH}
            aria-describedby={hint ? hintId : undefined}
            {...rest}
            className="peer absolute inset-0 appearance-none rounded-full forced-colors:appearance-auto border border-control bg-raised transition-colors checked:border-accent checked:bg-accent disabled:opacity-50"
          />
          <span
            aria-hidden
            className="pointer-events-none absolute top-1 left-1 size-3 forced-colors:hidden rounded-full bg-control transition-transform peer-checked:translate-x-4 peer-checked:bg-accent-ink"
          />
        </span>
      </label>
      {hint && (
        <p id={hintId} className="col-start-1 text-sm text-ink-3">
          {hint}
        </p>
      )}
    </div>
  )
}
