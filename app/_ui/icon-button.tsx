'use client'

import type { ComponentProps, ReactNode } from 'react'
import { buttonLook } from './button.tsx'
import { cn } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

type Props = Omit<ComponentProps<'button'>, 'children'> & {
  label: string
  icon: ReactNode
  variant?: 'secondary' | 'danger' | 'ghost'
  size?: 'sm' | 'md'
  side?: 'top' | 'right' | 'bottom' | 'left'
}

/** A square button with a picture only. `label` is its name and its tooltip. */
export function IconButton({ label, icon, variant = 'ghost', size = 'md', side, className, ...rest }: Props) {
  const square = size === 'sm' ? 'w-7 px-0 pointer-coarse:w-9' : 'w-8 px-0 pointer-coarse:w-10'
  return (
    <Tooltip text={label} side={side}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={cn(buttonLook({ variant, size }), square, className)}
      >
        {icon}
      </button>
    </Tooltip>
  )
}
