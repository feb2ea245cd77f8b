'use client'

import { Check } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { cn } from './class-names.ts'

type Props = Omit<ComponentProps<'input'>, 'type' | 'children'> & { label: ReactNode; hint?: ReactNode }

/** A box to tick, with its words. */
export function Checkbox({ label, hint, className, ...rest }: Props) {
  const hintId = useId()
  return (
    <div className={cn('grid grid-cols-[1rem_1fr] items-start gap-x-2.5', className)}>
      <label className="contents">
        <span className="relative mt-0.5 grid size-4 place-items-center">
          <input
            type="checkbox"
            aria-describedby={hint ? hintId : undefined}
            {...rest}
            className="peer absolute inset-0 appearance-none rounded-sm forced-colors:appearance-auto border border-control bg-panel checked:border-accent checked:bg-accent disabled:opacity-50"
          />
          <Check
            aria-hidden
            strokeWidth={3}
            className="pointer-events-none relative hidden size-3 text-accent-ink peer-checked:block forced-colors:hidden!"
          />
        </span>
        <span>{label}</span>
      </label>
      {hint && (
        <p id={hintId} className="col-start-2 text-sm text-ink-3">
          {hint}
        </p>
      )}
    </div>
  )
}
