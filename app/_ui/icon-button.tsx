'use client'

import type { ComponentProps, ReactNode } from 'react'
import { buttonLook } from './button-look.ts'
import { cn } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

type Props = Omit<ComponentProps<'button'>, 'children'> & {
  label: string
  icon: ReactNode
  variant?: 'secondary' | 'danger' | 'ghost'
  size?: 'sm' | 'md'
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** Off where the picture says enough and a tooltip would catch the first Escape: the cross of a dialog. */
  tooltip?: boolean
}

/** A square button with a picture only. `label` is its name and its tooltip. */
export function IconButton({
  label,
  icon,
  variant = 'ghost',
  size = 'md',
  side,
  tooltip = true,
  className,
  ...rest
}: Props) {
  const square = size === 'sm' ? 'w-7 px-0 pointer-coarse:w-9' : 'w-8 px-0 pointer-coarse:w-10'
  const button = (
    <button type="button" aria-label={label} {...rest} className={cn(buttonLook({ variant, size }), square, className)}>
      {icon}
    </button>
  )
  if (!tooltip) return button
  return (
    <Tooltip text={label} side={side}>
      {button}
    </Tooltip>
  )
}
