'use client'

import { Check, Copy, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { cn } from './class-names.ts'
import { copyText } from './copy-text.ts'

type Props = {
  text: string
  /** What is copied, for screen readers and, without `iconOnly`, on the button: "Copy command". */
  label?: string
  iconOnly?: boolean
  className?: string
}

/** Copies, and says that it did. */
export function CopyButton({ text, label = 'Copy', iconOnly, className }: Props) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>()
  useEffect(() => {
    if (!outcome) return
    const timer = setTimeout(() => setOutcome(undefined), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  const icon =
    outcome === 'copied' ? (
      <Check aria-hidden className="text-passed" />
    ) : outcome === 'failed' ? (
      <X aria-hidden className="text-held" />
    ) : (
      <Copy aria-hidden />
    )
  const said = outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Not copied' : ''
  return (
    <>
      <Button
        size="sm"
        variant={iconOnly ? 'ghost' : 'secondary'}
        icon={icon}
        title={iconOnly ? label : undefined}
        className={cn(iconOnly && 'w-7 px-0 pointer-coarse:w-9', className)}
        onClick={async () => setOutcome((await copyText(text)) ? 'copied' : 'failed')}
      >
        {iconOnly ? (
          <span className="sr-only">{label}</span>
        ) : (
          <span className="grid text-left">
            <span className={cn('col-start-1 row-start-1', said && 'invisible')}>{label}</span>
            <span aria-hidden className="col-start-1 row-start-1">
              {said}
            </span>
          </span>
        )}
      </Button>
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  )
}
