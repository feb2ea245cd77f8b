'use client'

import { CircleAlert } from 'lucide-react'
import { createContext, type ReactNode, useContext, useId } from 'react'
import { cn } from './class-names.ts'

type Wiring = { id: string; describedBy: string | undefined; invalid: boolean; required: boolean }
const FieldWiring = createContext<Wiring | null>(null)

type Props = {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  required?: boolean
  optional?: boolean
  /** Stands right of the label: a count, a ceiling. */
  aside?: ReactNode
  hideLabel?: boolean
  className?: string
  children: ReactNode
}

/** Label, hint and error around one control of this kit, tied together for screen readers. */
export function Field({
  label,
  hint,
  error,
  required = false,
  optional,
  aside,
  hideLabel,
  className,
  children,
}: Props) {
  const id = useId()
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined
  return (
    <div className={cn('grid min-w-0 content-start gap-1.5', className)}>
      <div className={cn('flex items-baseline gap-2', hideLabel && !aside && 'sr-only')}>
        <label htmlFor={id} className={cn('text-sm font-medium', hideLabel && 'sr-only')}>
          {label}
          {optional && <span className="font-normal text-ink-3"> (optional)</span>}
        </label>
        {aside && <span className="ml-auto text-xs text-ink-3">{aside}</span>}
      </div>
      <FieldWiring value={{ id, describedBy, invalid: Boolean(error), required }}>{children}</FieldWiring>
      {error && (
        <p id={`${id}-error`} role="alert" className="flex items-start gap-1.5 text-sm text-held">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 [overflow-wrap:anywhere]">{error}</span>
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-ink-3 [overflow-wrap:anywhere]">
          {hint}
        </p>
      )}
    </div>
  )
}

/** What a control takes from the Field around it; nothing when it stands alone. */
export function useFieldWiring() {
  const wiring = useContext(FieldWiring)
  if (!wiring) return {}
  return {
    id: wiring.id,
    'aria-describedby': wiring.describedBy,
    'aria-invalid': wiring.invalid || undefined,
    required: wiring.required || undefined,
  }
}
