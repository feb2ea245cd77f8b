'use client'

import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import { cn } from './class-names.ts'
import { useFieldWiring } from './field.tsx'

export type SelectOption = { value: string; label: string; disabled?: boolean }
type Props = Omit<ComponentProps<'select'>, 'children'> & { options: readonly SelectOption[]; placeholder?: string }

/** The browser's own select: works without script and well on phones. */
export function Select({ options, placeholder, className, ...rest }: Props) {
  const wiring = useFieldWiring()
  return (
    <span className={cn('relative block min-w-0', className)}>
      <select {...wiring} {...rest} className="entry appearance-none truncate pr-8">
        {placeholder !== undefined && <option value="">{placeholder}</option>}
        {options.map(option => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-ink-3"
      />
    </span>
  )
}
