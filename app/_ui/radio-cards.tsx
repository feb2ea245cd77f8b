'use client'

import { type ReactNode, useId } from 'react'
import { cn } from './class-names.ts'

export type RadioCardOption<V extends string> = {
  value: V
  label: ReactNode
  hint?: ReactNode
  icon?: ReactNode
  disabled?: boolean
}
type Props<V extends string> = {
  legend: string
  hideLegend?: boolean
  name?: string
  value?: V
  defaultValue?: V
  onChange?: (value: V) => void
  options: readonly RadioCardOption<V>[]
  columns?: 1 | 2 | 3
}

/** One of a few choices that each need a sentence. */
export function RadioCards<V extends string>({
  legend,
  hideLegend,
  name,
  value,
  defaultValue,
  onChange,
  options,
  columns = 1,
}: Props<V>) {
  const own = useId()
  return (
    <fieldset className="min-w-0">
      <legend className={cn('mb-1.5 text-sm font-medium', hideLegend && 'sr-only')}>{legend}</legend>
      <div className={cn('grid gap-2', columns === 2 && 'sm:grid-cols-2', columns === 3 && 'sm:grid-cols-3')}>
        {options.map(option => (
          <div
            key={option.value}
            className={cn(
              'relative grid grid-cols-[1rem_1fr_auto] items-start gap-x-2.5 rounded-lg border border-line-strong bg-panel px-3 py-2.5',
              'has-checked:border-accent has-checked:bg-accent-soft has-disabled:bg-raised has-disabled:text-ink-3 has-enabled:hover:border-control has-enabled:has-checked:hover:border-accent',
              'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
            )}
          >
            <input
              type="radio"
              id={`${own}-${option.value}`}
              name={name ?? own}
              value={option.value}
              disabled={option.disabled}
              // As browsers do it for Tab; said aloud, so that a dialog's first focus lands on the chosen one too.
              tabIndex={value !== undefined && value !== option.value ? -1 : undefined}
              aria-describedby={option.hint ? `${own}-${option.value}-hint` : undefined}
              {...(value === undefined
                ? { defaultChecked: option.value === defaultValue }
                : { checked: option.value === value })}
              onChange={() => onChange?.(option.value)}
              className="mt-0.5 size-4 appearance-none rounded-full forced-colors:appearance-auto border border-control bg-panel outline-0 checked:border-5 checked:border-accent"
            />
            <label
              htmlFor={`${own}-${option.value}`}
              className="font-medium after:absolute after:inset-0 after:cursor-pointer"
            >
              {option.label}
            </label>
            {option.icon && <span className="text-ink-3 [&_svg]:size-4">{option.icon}</span>}
            {option.hint && (
              <p
                id={`${own}-${option.value}-hint`}
                className={cn('col-start-2 text-sm', option.disabled ? 'text-ink-3' : 'text-ink-2')}
              >
                {option.hint}
              </p>
            )}
          </div>
        ))}
      </div>
    </fieldset>
  )
}
