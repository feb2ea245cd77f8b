'use client'

import type { ComponentProps } from 'react'
import { cn } from './class-names.ts'
import { useFieldWiring } from './field.tsx'

/** Several lines of text; grows with its content where the browser can, from `rows` upward. */
export function TextArea({ mono, className, rows = 3, ...rest }: ComponentProps<'textarea'> & { mono?: boolean }) {
  const wiring = useFieldWiring()
  return (
    <textarea
      rows={rows}
      {...wiring}
      {...rest}
      className={cn(
        'entry block field-sizing-content max-h-80 resize-y',
        rows > 2 ? 'min-h-16' : 'min-h-12',
        mono && 'font-mono text-code',
        className,
      )}
    />
  )
}
