'use client'

import type { ComponentProps, ReactNode } from 'react'
import { cn } from './class-names.ts'
import { useFieldWiring } from './field.tsx'

type Props = ComponentProps<'input'> & { mono?: boolean; prefix?: ReactNode; suffix?: ReactNode }

/** One line of text. `prefix` and `suffix` are fixed words inside the box ("$", "per hour"). */
export function TextInput({ mono, prefix, suffix, className, ...rest }: Props) {
  const wiring = useFieldWiring()
  const input = (
    <input
      type="text"
      {...wiring}
      {...rest}
      className={cn('entry', mono && 'font-mono text-code', !prefix && !suffix && className)}
    />
  )
  if (!prefix && !suffix) return input
  return (
    <span
      className={cn(
        'entry flex items-center gap-2 has-disabled:bg-raised has-disabled:text-ink-2 has-aria-invalid:border-held has-focus-visible:border-accent has-focus-visible:outline-2 has-focus-visible:outline-accent',
        '[&_input]:min-h-0 [&_input]:border-0 [&_input]:bg-transparent [&_input]:p-0 [&_input]:outline-0',
        className,
      )}
    >
      {prefix && <span className="shrink-0 text-ink-3">{prefix}</span>}
      {input}
      {suffix && <span className="shrink-0 text-ink-3">{suffix}</span>}
    </span>
  )
}
